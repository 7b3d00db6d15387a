import DNS

/// A scenario in Unbound's format (testcode/replay.h of its sources), or as much of it as tests of a
/// forwarder need: who asks what and when, what upstreams are asked and say, and what comes of it.
///
/// Each step that is not a check begins with nothing left unchecked: an answer or an upstream query that
/// the scenario does not speak of is an error. Upstreams are 192.0.2.1, .2, …; CONFIG has keys of ours.
struct Scenario {
    private(set) var configuration: [String: String] = [:]
    private(set) var ranges: [Range] = []
    private(set) var steps: [Step] = []

    /// What an upstream answers by itself from one step to another.
    struct Range {
        var steps: ClosedRange<Int>
        var address: String?
        var entries: [Entry] = []
    }

    struct Step {
        let number: Int
        let action: Action
        /// The upstream that is meant; nil: any.
        var address: String?
        var entry: Entry?
    }

    enum Action: Equatable {
        /// A client asks.
        case query
        /// A client has this answer, the next that is unchecked.
        case checkAnswer
        /// An upstream was asked this, the next that is unchecked.
        case checkOutQuery
        /// An upstream answers what it was asked.
        case reply
        /// An upstream is unreachable (ICMP).
        case error
        /// So many milliseconds go by.
        case timePasses(UInt64)
    }

    /// A message, or what is to be compared of one.
    struct Entry {
        var match: Set<String> = []
        var flags: Set<Message.Flag> = []
        var code: UInt16 = 0
        var question: (name: String, type: RecordType)?
        var answer: [String] = []
        var authority: [String] = []
        var additional: [String] = []
        /// Nothing is answered.
        var isSilent = false
    }

    /// A line that cannot be read.
    struct Mistake: Error, CustomStringConvertible {
        let line: Int
        let description: String
    }

    init(_ text: String) throws {
        var range: Range?
        var entry: Entry?
        var section = ""
        var isConfiguration = true
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.prefix { $0 != ";" }.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard let first = words.first else { continue }
            func fail(_ sentence: String) -> Mistake {
                Mistake(line: index + 1, description: "line \(index + 1): \(sentence)")
            }
            if isConfiguration {
                if first == "CONFIG_END" {
                    isConfiguration = false
                } else if words.count == 2, first.hasSuffix(":") {
                    configuration[String(first.dropLast())] = words[1]
                } else {
                    throw fail("a setting is 'key: value'")
                }
                continue
            }
            switch first {
            case "SCENARIO_BEGIN", "SCENARIO_END": break
            case "RANGE_BEGIN":
                guard words.count == 3, let begin = Int(words[1]), let end = Int(words[2]) else {
                    throw fail("RANGE_BEGIN has two numbers")
                }
                range = Range(steps: begin...end)
            case "ADDRESS": range?.address = words.last
            case "RANGE_END":
                if let range { ranges.append(range) }
                range = nil
            case "STEP": steps.append(try Scenario.step(words, fail))
            case "ENTRY_BEGIN": entry = Entry()
            case "ENTRY_END":
                guard let ended = entry else { throw fail("no entry has begun") }
                if range != nil {
                    range?.entries.append(ended)
                } else if !steps.isEmpty {
                    steps[steps.count - 1].entry = ended
                }
                (entry, section) = (nil, "")
            case "MATCH": entry?.match.formUnion(words.dropFirst())
            case "ADJUST": if words.contains("do_not_answer") { entry?.isSilent = true }
            case "REPLY":
                for word in words.dropFirst() {
                    guard entry?.set(word) == true else { throw fail("there is no \(word)") }
                }
            case "SECTION": section = words.last ?? ""
            default:
                guard entry?.add(words, to: section) == true else { throw fail("what is this?") }
            }
        }
    }

    private static func step(_ words: [String], _ fail: (String) -> Mistake) throws -> Step {
        guard words.count >= 3, let number = Int(words[1]) else { throw fail("STEP n ACTION") }
        let action: Action
        switch words[2] {
        case "QUERY": action = .query
        case "CHECK_ANSWER": action = .checkAnswer
        case "CHECK_OUT_QUERY": action = .checkOutQuery
        case "REPLY": action = .reply
        case "ERROR": action = .error
        case "TIME_PASSES":
            guard words.count == 5, words[3] == "ELAPSE", let seconds = Double(words[4]) else {
                throw fail("TIME_PASSES ELAPSE seconds")
            }
            action = .timePasses(UInt64((seconds * 1000).rounded()))
        default: throw fail("there is no step \(words[2])")
        }
        let address = words.firstIndex(of: "ADDRESS").map { words[$0 + 1] }
        return Step(number: number, action: action, address: address)
    }
}

extension Scenario.Entry {
    private static let words: [String: Message.Flag] = [
        "QR": .qr, "AA": .aa, "TC": .tc, "RD": .rd, "RA": .ra, "AD": .ad, "CD": .cd, "DO": .dnssec,
    ]
    private static let codes: [String: UInt16] = [
        "NOERROR": 0, "FORMERR": 1, "SERVFAIL": 2, "NXDOMAIN": 3, "NOTIMPL": 4, "REFUSED": 5,
    ]

    fileprivate mutating func set(_ word: String) -> Bool {
        if let flag = Self.words[word] {
            flags.insert(flag)
        } else if let code = Self.codes[word] {
            self.code = code
        } else {
            return false
        }
        return true
    }

    /// A line of a section: `name IN TYPE`, or `name TTL IN TYPE data`.
    fileprivate mutating func add(_ words: [String], to section: String) -> Bool {
        func short(_ name: String) -> String {
            name.hasSuffix(".") ? String(name.dropLast()) : name
        }
        if section == "QUESTION" {
            guard words.count == 3, let type = RecordType(scanning: words[2]) else { return false }
            question = (short(words[0]), type)
            return true
        }
        guard words.count >= 5, words[2] == "IN" else { return false }
        // Of an SOA record only the last number differs.
        let data = short(words[3] == "SOA" ? words[words.count - 1] : words[4])
        let record = "\(short(words[0])) \(words[1]) \(words[3]) \(data)"
        switch section {
        case "ANSWER": answer.append(record)
        case "AUTHORITY": authority.append(record)
        case "ADDITIONAL": additional.append(record)
        default: return false
        }
        return true
    }
}
