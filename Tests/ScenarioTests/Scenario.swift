import DNS
import Foundation
import Zones

/// A scenario in the format of Unbound's test data (.rpl): files and a configuration, what upstreams
/// answer, and steps. Tests/Golden/scenarios/FORMAT.md says what of it there is.
struct Scenario {
    var title = ""
    var configuration = ""
    /// Zone files by their names; the one named `runtime` is what was set while the server runs.
    var files: [(name: String, text: String)] = []
    /// What must be said of the zone files, in part.
    var findings: [String] = []
    var ranges: [Range] = []
    var steps: [Step] = []

    /// What an upstream answers during some steps.
    struct Range {
        var first: Int
        var last: Int
        var address = ""
        var entries: [Entry] = []
    }

    struct Step {
        var number: Int
        var action: String
        var arguments: [String]
        var entry = Entry()
        var line: Int
    }

    /// A message, or what a message must be like.
    struct Entry {
        var match: [String] = []
        var reply: [String] = []
        var question: String?
        var sections: [[String]] = [[], [], []]
        var octets: [UInt8]?
        /// Nothing is answered.
        var isSilent = false
    }

    struct Mistake: Error, CustomStringConvertible {
        let line: Int
        let sentence: String
        var description: String { "line \(line): \(sentence)" }
    }

    private enum Place {
        case configuration
        case file
        case scenario
        case octets
    }

    init(parsing text: String) throws(Mistake) {
        var place = Place.configuration
        var section = -1
        var entry: Entry?
        var range: Range?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
            let first = words.first ?? ""
            func mistake(_ sentence: String) -> Mistake {
                Mistake(line: index + 1, sentence: sentence)
            }
            switch place {
            case .file:
                if first == "TEMPFILE_END" {
                    place = .configuration
                } else {
                    files[files.count - 1].text += line + "\n"
                }
                continue
            case .octets:
                if first == "HEX_ANSWER_END" {
                    place = .scenario
                } else {
                    entry?.octets? += Scenario.octets(line)
                }
                continue
            case .configuration:
                switch first {
                case "TEMPFILE_CONTENTS" where words.count == 2:
                    files.append((words[1], ""))
                    place = .file
                case "FINDING": findings.append(words.dropFirst().joined(separator: " "))
                case "CONFIG_END": place = .scenario
                case _ where first.hasPrefix(";"): break
                default: configuration += line + "\n"
                }
                continue
            case .scenario: break
            }
            guard !first.isEmpty, !first.hasPrefix(";") else { continue }
            switch first {
            case "SCENARIO_BEGIN": title = words.dropFirst().joined(separator: " ")
            case "SCENARIO_END": break
            case "RANGE_BEGIN":
                guard words.count == 3, let first = Int(words[1]), let last = Int(words[2]) else {
                    throw mistake("RANGE_BEGIN has two numbers")
                }
                range = Range(first: first, last: last)
            case "ADDRESS": range?.address = words[1]
            case "RANGE_END":
                guard let whole = range else { throw mistake("no RANGE_BEGIN") }
                ranges.append(whole)
                range = nil
            case "STEP":
                guard words.count >= 3, let number = Int(words[1]) else {
                    throw mistake("STEP has a number and an action")
                }
                steps.append(
                    Step(
                        number: number,
                        action: words[2],
                        arguments: Array(words.dropFirst(3)),
                        line: index + 1
                    )
                )
            case "ENTRY_BEGIN":
                entry = Entry()
                section = -1
            case "ENTRY_END":
                guard let whole = entry else { throw mistake("no ENTRY_BEGIN") }
                if range != nil {
                    range?.entries.append(whole)
                } else if !steps.isEmpty {
                    steps[steps.count - 1].entry = whole
                }
                entry = nil
            case "MATCH": entry?.match += words.dropFirst()
            case "REPLY": entry?.reply += words.dropFirst()
            case "ADJUST": if words.contains("do_not_answer") { entry?.isSilent = true }
            case "HEX_ANSWER_BEGIN":
                entry?.octets = []
                place = .octets
            case "SECTION":
                guard
                    let number = ["QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL"]
                        .firstIndex(of: words.last ?? "")
                else { throw mistake("there is no such section") }
                section = number
            default:
                guard entry != nil, section >= 0 else { throw mistake("what is \(first)?") }
                if section == 0 {
                    entry?.question = words.joined(separator: " ")
                } else {
                    entry?.sections[section - 1].append(
                        String(line.drop { $0 == " " || $0 == "\t" })
                    )
                }
            }
        }
        guard place == .scenario, entry == nil, range == nil else {
            throw Mistake(line: 0, sentence: "something is not ended")
        }
    }

    private static func octets(_ line: Substring) -> [UInt8] {
        let digits = line.prefix { $0 != ";" }.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}

extension Scenario.Entry {
    /// Name, type and class of the question.
    func asked() throws(Scenario.Mistake) -> (name: Name, type: RecordType, class: UInt16) {
        let words = (question ?? "").split(separator: " ").map(String.init)
        guard words.count == 3, let name = try? Name(scanning: words[0]),
            let type = RecordType(scanning: words[2]),
            let number = ["IN": 1, "CH": 3, "HS": 4, "ANY": 255][words[1]] as UInt16?
        else {
            throw Scenario.Mistake(line: 0, sentence: "a question is a name, a class and a type")
        }
        return (name, type, number)
    }

    func has(_ flag: String) -> Bool { reply.contains(flag) }
}
