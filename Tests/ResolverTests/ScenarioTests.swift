import DNS
import Foundation
import Resolver
import Testing

@Suite("Scenarios of Tests/Golden/scenarios")
struct ScenarioTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden/scenarios")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".rpl") }.sorted()
    }()

    @Test("come out as they are written", arguments: names)
    func play(name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        var play = try ScenarioPlay(try Scenario(text))
        let fault = try play.firstFault()
        #expect(fault == nil)
    }

    @Test("are there") func found() { #expect(Self.names.count >= 10) }

    @Test(
        "that come out otherwise are told, with the step",
        arguments: [
            ("203.0.113.2", "STEP 3: the answer has"),
            ("203.0.113.1", "the end: unchecked answers"),
        ]
    )
    func faults(address: String, fault: String) throws {
        let record = "SECTION ANSWER\na. 9 IN A 203.0.113.1\n"
        let entry = "ENTRY_BEGIN\nSECTION QUESTION\na. IN A\n\(record)"
        let text = """
            CONFIG_END
            RANGE_BEGIN 0 9
            \(entry)ENTRY_END
            RANGE_END
            STEP 1 QUERY
            ENTRY_BEGIN
            REPLY RD
            SECTION QUESTION
            a. IN A
            ENTRY_END
            STEP 3 CHECK_ANSWER
            ENTRY_BEGIN
            MATCH answer
            SECTION ANSWER
            a. 9 IN A \(address)
            ENTRY_END
            STEP 4 QUERY
            ENTRY_BEGIN
            REPLY RD
            SECTION QUESTION
            a. IN A
            ENTRY_END
            """
        var play = try ScenarioPlay(try Scenario(text))
        #expect(try play.firstFault()?.hasPrefix(fault) == true)
    }
}

/// A scenario played against a resolver.
struct ScenarioPlay {
    private let scenario: Scenario
    private let player: Player
    private var answers: [Player.Reply] = []
    private var queries: [Player.Sent] = []
    /// Upstream queries that were checked, and wait for their reply.
    private var open: [Player.Sent] = []

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        var settings = Policy.Settings()
        func number(_ key: String) -> UInt32? { scenario.configuration[key].flatMap { UInt32($0) } }
        settings.servedTTL = number("servedTTL") ?? settings.servedTTL
        settings.minimumTTL = number("minimumTTL") ?? settings.minimumTTL
        settings.maximumTTL = number("maximumTTL") ?? settings.maximumTTL
        settings.staleSeconds = number("staleFor") ?? settings.staleSeconds
        let upstreams = Int(number("upstreams") ?? 1)
        let order =
            try scenario.configuration["policy"].map {
                try #require(Policy.UpstreamGroup.Order(rawValue: $0))
            } ?? .fastest
        player = Player(
            upstreams: upstreams,
            groups: [Policy.UpstreamGroup(members: Array(0..<upstreams), order: order)],
            settings: settings
        )
    }

    /// The first thing that does not come out as it is written; nil: everything does.
    mutating func firstFault() throws -> String? {
        for step in scenario.steps {
            if let fault = try fault(of: step) { return "STEP \(step.number): \(fault)" }
            gather(step.number)
        }
        return unchecked.map { "the end: \($0)" }
    }

    private var unchecked: String? {
        if let answer = answers.first { return "unchecked answers, as \(answer.message)" }
        return queries.first.map {
            "unchecked upstream queries, as \($0.message.question?.name ?? "")"
        }
    }

    private mutating func fault(of step: Scenario.Step) throws -> String? {
        switch step.action {
        case .query:
            if let unchecked { return unchecked }
            let entry = try #require(step.entry)
            let question = try #require(entry.question)
            if let reply = player.ask(question.name, question.type, flags: entry.flags) {
                answers.append(reply)
            }
        case .timePasses(let milliseconds):
            if let unchecked { return unchecked }
            player.pass(milliseconds: milliseconds)
        case .checkAnswer:
            guard !answers.isEmpty else { return "there is no answer" }
            return difference(answers.removeFirst().message, try #require(step.entry), "answer")
        case .checkOutQuery:
            guard !queries.isEmpty else { return "no upstream was asked" }
            let query = queries.removeFirst()
            open.append(query)
            if let address = step.address, address != ScenarioPlay.address(query) {
                return "\(ScenarioPlay.address(query)) was asked"
            }
            guard let question = step.entry?.question else { return nil }
            let asked = query.message.question
            return asked?.name.lowercased() == question.name && asked?.type == question.type
                ? nil : "an upstream was asked for \(asked?.name ?? "")"
        case .reply, .error:
            let found = open.firstIndex { query in
                let question = step.entry?.question
                return step.address.map { $0 == ScenarioPlay.address(query) } ?? true
                    && question.map { $0.name == query.message.question?.name.lowercased() } ?? true
            }
            guard let found else { return "that upstream was not asked that" }
            let query = open.remove(at: found)
            if step.action == .error {
                player.fail(query.path)
            } else {
                answer(query, try #require(step.entry))
            }
        }
        return nil
    }

    /// Takes what a step has led to, and answers what a range has an answer for.
    private mutating func gather(_ step: Int) {
        while true {
            answers += player.replies()
            let sent = player.sent()
            if sent.isEmpty { return }
            for query in sent {
                let question = query.message.question
                let address = ScenarioPlay.address(query)
                let ranges = scenario.ranges.filter {
                    $0.steps.contains(step) && $0.address ?? address == address
                }
                let entry = ranges.flatMap(\.entries).first {
                    $0.question?.name == question?.name.lowercased()
                        && $0.question?.type == question?.type
                }
                guard let entry else {
                    queries.append(query)
                    continue
                }
                if !entry.isSilent { answer(query, entry) }
            }
        }
    }

    private func answer(_ query: Player.Sent, _ entry: Scenario.Entry) {
        player.answer(query) {
            $0.code = entry.code
            $0.flags.formUnion(entry.flags)
            $0.answer = entry.answer
            $0.authority = entry.authority
            $0.additional = entry.additional
        }
    }

    private static func address(_ query: Player.Sent) -> String { "192.0.2.\(query.upstream + 1)" }

    private func difference(_ found: Message, _ wanted: Scenario.Entry, _ what: String) -> String? {
        let all = wanted.match.contains("all")
        func isCompared(_ part: String) -> Bool { all || wanted.match.contains(part) }
        func records(_ records: [String]) -> [String] {
            guard !wanted.match.contains("ttl") else { return records }
            return records.map { record in
                let words = record.split(separator: " ")
                return (words[..<1] + words[2...]).joined(separator: " ")
            }
        }
        if isCompared("rcode"), found.code != wanted.code {
            return "the \(what) has code \(found.code)"
        }
        if isCompared("flags"), found.flags != wanted.flags {
            return "the \(what) has flags \(found.flags.map { "\($0)" }.sorted())"
        }
        for (part, here, there) in [
            ("answer", found.answer, wanted.answer),
            ("authority", found.authority, wanted.authority),
            ("additional", found.additional, wanted.additional),
        ] where isCompared(part) && records(here) != records(there) {
            return "the \(what) has \(here) for \(part), and not \(there)"
        }
        for word in wanted.match where word.hasPrefix("ede=") {
            let error = found.error.map { "\($0)" } ?? "none"
            if word.dropFirst(4) != error { return "the \(what) has EDE \(error)" }
        }
        return nil
    }
}
