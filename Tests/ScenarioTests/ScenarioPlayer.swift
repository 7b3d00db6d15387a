import Configuration
import DNS
import Foundation
import PolicyLoading
import Resolver
import Zones

/// Plays a scenario: a resolver with the configuration's policy, scripted upstreams and time.
final class ScenarioPlayer {
    private let scenario: Scenario
    private var resolver: Resolver
    private let files: Policy
    private var generation: UInt32 = 1
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var step = 0
    /// Queries that went upstream and have no answer yet.
    private var pending: [Query] = []
    /// Replies that no step has looked at yet.
    private var replies: [[UInt8]] = []
    private var queries: UInt64 = 0

    /// A query that went upstream.
    private struct Query {
        let path: UpstreamPath
        let address: String
        let message: [UInt8]
        /// A step has looked at it.
        var isChecked = false

        var isStream: Bool { if case .stream = path { true } else { false } }
    }

    init?(_ scenario: Scenario, in folder: String) throws {
        self.scenario = scenario
        for file in scenario.files where file.name != "runtime" {
            try file.text.write(toFile: "\(folder)/\(file.name)", atomically: true, encoding: .utf8)
        }
        let path = "\(folder)/detour.json5"
        try scenario.configuration.write(toFile: path, atomically: true, encoding: .utf8)
        let configuration = try Configuration(file: path, isOptional: false) ?? Configuration()
        let loaded = PolicyLoader(configuration).load(
            generation: 1,
            upstreams: (configuration.upstreams ?? []).compactMap { Policy.Upstream($0) }
        )
        for finding in scenario.findings {
            guard loaded.findings.contains(where: { $0.description.contains(finding) }) else {
                throw wrong("nothing says \(finding), but \(loaded.findings)")
            }
        }
        guard let policy = loaded.policy else {
            guard !scenario.findings.isEmpty, scenario.steps.isEmpty else {
                throw wrong("\(loaded.findings) \(loaded.errors)")
            }
            return nil
        }
        if scenario.findings.isEmpty, let finding = loaded.findings.first {
            throw wrong("\(finding)")
        }
        files = policy
        resolver = Resolver(
            policy: policy,
            cache: Cache(bytes: 4 << 20, seed: 1),
            clients: ClientTable(seed: (1, 2)),
            random: .system
        )
        if let runtime = scenario.files.first(where: { $0.name == "runtime" }) { set(runtime.text) }
    }

    func play() throws {
        for step in scenario.steps {
            self.step = step.number
            do {
                try play(step)
            } catch let mistake as Scenario.Mistake {
                throw Scenario.Mistake(line: step.line, sentence: mistake.sentence)
            }
        }
        guard replies.isEmpty else { throw wrong("a reply is left that no step looks at") }
    }

    private func play(_ step: Scenario.Step) throws {
        switch step.action {
        case "QUERY": try ask(step)
        case "ERROR":
            resolver.pathFailed(pending.remove(at: try query(step)).path, at: now)
            try drain()
        case "CHECK_ANSWER":
            guard !replies.isEmpty else { throw wrong("there is no reply") }
            try check(replies.removeFirst(), step.entry)
        case "CHECK_NO_ANSWER":
            guard replies.isEmpty else { throw wrong("there is a reply") }
        case "CHECK_OUT_QUERY":
            let index = try query(step, isChecked: false)
            try checkQuestion(pending[index], step.entry)
            // Looked at once: the next step of this sort looks at the next query.
            pending[index].isChecked = true
        case "CHECK_NO_OUT_QUERY":
            guard pending.isEmpty else { throw wrong("a query went upstream") }
        case "REPLY":
            let query = pending.remove(at: try query(step))
            try answer(query, step.entry)
        case "FORGET": pending = []
        case "SET":
            set(step.entry.sections[0].joined(separator: "\n") + "\n")
        case "TIME_PASSES":
            guard step.arguments.first == "ELAPSE", let seconds = step.arguments.last,
                let time = Double(seconds)
            else { throw wrong("write TIME_PASSES ELAPSE and seconds") }
            guard replies.isEmpty else { throw wrong("no step has looked at the reply before") }
            try pass(milliseconds: UInt64(time * 1000 + 0.5))
        default: throw wrong("there is no step \(step.action)")
        }
    }

    /// Sets other overrides at run time, in the place of those that were set.
    private func set(_ text: String) {
        generation += 1
        let source = ZoneSource(kind: .override, label: "runtime", origin: .root)
        let layer = ZoneCompiler.compile([ZoneFile(path: "runtime", source: source)], seed: 1) {
            (_) throws(IncludeError) in Array(text.utf8)
        }
        let runtime = Policy.Runtime(base: Policy.Layer(layer.take()))
        resolver.adopt(files.placing(runtime, generation: generation), at: now)
    }

    // MARK: Clients

    private func ask(_ step: Scenario.Step) throws {
        guard replies.isEmpty else { throw wrong("no step has looked at the reply before") }
        queries += 1
        func address(behind word: String) -> IPAddress {
            let index = step.arguments.firstIndex(of: word).map { $0 + 1 } ?? .max
            let text = step.arguments.indices.contains(index) ? step.arguments[index] : "127.0.0.1"
            return IPAddress(scanning: text) ?? IPAddress(ipv4: 0)
        }
        let client = Client(
            address: address(behind: "ADDRESS"),
            localAddress: address(behind: "AT"),
            transport: step.entry.match.contains("TCP") ? .tcp : .udp,
            returnPath: .init(queries, 0)
        )
        let query = try step.entry.octets ?? message(step.entry)
        var store = OctetStore(zeroed: 65_535)
        var room = store.mutableSpan
        if case .respond(let count) = resolver.handle(
            query.span,
            from: client,
            at: now,
            into: &room
        ) {
            replies.append(Array(copying: room.span.extracting(0..<count)))
        }
        try drain()
    }

    private func message(_ entry: Scenario.Entry) throws -> [UInt8] {
        let (name, type, recordClass) = try entry.asked()
        var flags: UInt16 = 0
        if entry.has("RD") { flags |= 0x0100 }
        if entry.has("CD") { flags |= 0x0010 }
        if entry.has("AD") { flags |= 0x0020 }
        let hasEDNS = entry.has("EDNS") || entry.has("DO")
        var query: [UInt8] = [0, 7, UInt8(flags >> 8), UInt8(flags & 0xFF), 0, 1, 0, 0, 0, 0, 0]
        query += [hasEDNS ? 1 : 0] + name.octets
        for value in [type.rawValue, recordClass] {
            query += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        if hasEDNS { query += [0, 0, 41, 4, 208, 0, 0, entry.has("DO") ? 0x80 : 0, 0, 0, 0] }
        return query
    }

    private func check(_ octets: [UInt8], _ entry: Scenario.Entry) throws {
        guard let reply = Seen(octets) else { throw wrong("the reply cannot be read") }
        if entry.question != nil {
            let (name, type, recordClass) = try entry.asked()
            var question = name.octets
            for value in [type.rawValue, recordClass] {
                question += [UInt8(value >> 8), UInt8(value & 0xFF)]
            }
            guard reply.question == question else { throw wrong("the question is another") }
        }
        let flags = Set(entry.reply).intersection(Seen.flagNames)
        guard reply.flags == flags else {
            throw wrong("the flags are \(reply.flags.sorted()), not \(flags.sorted())")
        }
        let code = entry.reply.compactMap { Seen.codes[$0] }.first ?? 0
        guard reply.code == code else { throw wrong("the code is \(reply.code), not \(code)") }
        for wanted in entry.match where wanted.hasPrefix("ede=") {
            let error = String(wanted.dropFirst(4)).replacing("_", with: " ")
            let isRight =
                error == "none" ? reply.errors.isEmpty : reply.errors.contains(error)
            guard isRight else { throw wrong("the errors are \(reply.errors)") }
        }
        guard !entry.match.contains("header") else { return }
        let hasTTL = entry.match.contains("ttl")
        for section in 0..<3 {
            let expected = try Records(entry.sections[section]).lines
            let (found, wanted) = (
                Self.comparable(reply.sections[section], ttl: hasTTL),
                Self.comparable(expected, ttl: hasTTL)
            )
            guard found == wanted else {
                throw wrong("section \(section + 1) is \(reply.sections[section]), not \(expected)")
            }
        }
    }

    /// Records without regard to their order and to letters' case, and maybe to their TTLs.
    private static func comparable(_ lines: [String], ttl: Bool) -> [String] {
        lines.map { line in
            var words = line.lowercased().split(separator: " ")
            if !ttl { words.remove(at: 1) }
            return words.joined(separator: " ")
        }.sorted()
    }

    // MARK: Upstreams

    /// The first query that a step is about.
    private func query(_ step: Scenario.Step, isChecked: Bool = true) throws -> Int {
        let address = step.arguments.first == "ADDRESS" ? step.arguments.last : nil
        let asked = step.entry.question == nil ? nil : try step.entry.asked()
        let found = try pending.firstIndex { query in
            let question = try Self.question(of: query.message)
            return (isChecked || !query.isChecked)
                && (address == nil || query.address == address)
                && (!isChecked || asked == nil || asked?.name == question.name)
        }
        guard let found else {
            throw wrong("no query is under way \(address ?? ""), but \(pending.map(\.address))")
        }
        return found
    }

    private func checkQuestion(_ query: Query, _ entry: Scenario.Entry) throws {
        let asked = try entry.asked()
        let found = try Self.question(of: query.message)
        guard found.name == asked.name, found.type == asked.type else {
            throw wrong("\(found.name) \(found.type) was asked")
        }
        if entry.match.contains("TCP"), !query.isStream { throw wrong("it went over UDP") }
        if entry.match.contains("UDP"), query.isStream { throw wrong("it went over TCP") }
        if let seen = Seen(query.message), entry.match.contains("flags") {
            let flags = Set(entry.reply).intersection(Seen.flagNames)
            guard seen.flags == flags else { throw wrong("its flags are \(seen.flags.sorted())") }
        }
    }

    private static func question(
        of message: [UInt8]
    ) throws -> (name: Name, type: RecordType) {
        var folded = FoldedName()
        let end = try folded.read(from: message.span, at: Header.size)
        return (Name(folded: folded), RecordType(rawValue: message.span.uint16(at: end)))
    }

    private func answer(_ query: Query, _ entry: Scenario.Entry) throws {
        var folded = FoldedName()
        let end = try folded.read(from: query.message.span, at: Header.size) + 4
        var response = Array(query.message[..<end])
        var flags: UInt16 = 0x8000
        for (flag, bit) in [
            ("AA", 0x0400), ("TC", 0x0200), ("RD", 0x0100), ("RA", 0x0080), ("AD", 0x0020),
        ] as [(String, UInt16)] where entry.has(flag) {
            flags |= bit
        }
        flags |= entry.reply.compactMap { Seen.codes[$0] }.first ?? 0
        response[2] = UInt8(flags >> 8)
        response[3] = UInt8(flags & 0xFF)
        for section in 0..<3 {
            let records = try Records(entry.sections[section])
            response[6 + section * 2] = UInt8(records.count >> 8)
            response[7 + section * 2] = UInt8(records.count & 0xFF)
            response += records.octets
        }
        resolver.receive(response.span, over: query.path, at: now)
        try drain()
    }

    /// What the upstreams of the scenario answer of themselves.
    private func entry(for query: Query) throws -> Scenario.Entry? {
        let asked = try Self.question(of: query.message)
        for range in scenario.ranges
        where (range.first...range.last).contains(step)
            && (range.address.isEmpty || range.address == query.address)
        {
            for entry in range.entries {
                let question = try entry.asked()
                if question.name == asked.name, question.type == asked.type { return entry }
            }
        }
        return nil
    }

    // MARK: Time

    private func pass(milliseconds: UInt64) throws {
        let end = now.advanced(byMilliseconds: milliseconds)
        while let deadline = resolver.nextDeadline, deadline <= end {
            now = max(now, deadline)
            resolver.expire(at: now)
            try drain()
        }
        now = end
    }

    /// Takes what the resolver sends, and answers where an upstream does of itself.
    private func drain() throws {
        repeat {
            var sent: [Query] = []
            while let query = nextSend() { sent.append(query) }
            while let reply = nextReply() { replies.append(reply) }
            for query in sent {
                if let entry = try entry(for: query) {
                    if !entry.isSilent { try answer(query, entry) }
                } else {
                    pending.append(query)
                }
            }
        } while resolver.hasUnsent
    }

    private func nextSend() -> Query? {
        var store = OctetStore(zeroed: 65_535)
        var room = store.mutableSpan
        guard let send = resolver.nextSend(into: &room) else { return nil }
        let upstream =
            switch send.path {
            case .datagram(let upstream, _), .stream(let upstream): upstream
            }
        return Query(
            path: send.path,
            address: resolver.upstreams[upstream].map { "\($0.address)" } ?? "",
            message: Array(copying: room.span.extracting(0..<send.count))
        )
    }

    private func nextReply() -> [UInt8]? {
        var store = OctetStore(zeroed: 65_535)
        var room = store.mutableSpan
        guard let (_, count) = resolver.nextReply(into: &room, at: now) else { return nil }
        return Array(copying: room.span.extracting(0..<count))
    }
}

extension Array where Element == UInt8 {
    fileprivate init(copying span: Span<UInt8>) {
        self = []
        for index in span.indices { append(span[index]) }
    }
}

private func wrong(_ sentence: String) -> Scenario.Mistake {
    Scenario.Mistake(line: 0, sentence: sentence)
}
