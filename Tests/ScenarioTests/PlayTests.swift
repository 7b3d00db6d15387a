import Foundation
import Testing

/// What each answer must be, as scenarios with scripted upstreams and time: no sockets.
@Suite("A scenario") struct PlayTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/scenarios")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".rpl") }.sorted()
    }()

    @Test("goes as it is written", arguments: names) func play(name: String) throws {
        let path = Self.folder.appending(path: name)
        let scenario = try Scenario(parsing: String(contentsOf: path, encoding: .utf8))
        #expect(!scenario.title.isEmpty)
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "detour-scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        try ScenarioPlayer(scenario, in: scratch.path)?.play()
    }

    @Test("each is in the table of what holds what, which names no other") func table() throws {
        let path = Self.folder.appending(path: "README.md")
        let rows = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| ") }
        let named = rows.flatMap { $0.matches(of: /\b[0-9]+-[a-z-]+/).map { "\($0.output).rpl" } }
        #expect(!named.isEmpty && Set(named) == Set(Self.names))
    }

    @Test("that is wrong fails, whatever is wrong in it")
    func failure() throws {
        let right = """
            TEMPFILE_CONTENTS a.zone
            a.example. A 192.0.2.1
            TEMPFILE_END
            { zones: ["a.zone"], upstreams: [] }
            CONFIG_END
            SCENARIO_BEGIN An address
            STEP 1 QUERY
            ENTRY_BEGIN
            REPLY RD
            SECTION QUESTION
            a.example. IN A
            ENTRY_END
            STEP 2 CHECK_ANSWER
            ENTRY_BEGIN
            MATCH ttl
            REPLY QR AA RD RA NOERROR
            SECTION QUESTION
            a.example. IN A
            SECTION ANSWER
            a.example. 5 IN A 192.0.2.1
            ENTRY_END
            SCENARIO_END
            """
        func play(_ text: String) throws {
            let scratch = FileManager.default.temporaryDirectory
                .appending(path: "detour-scenario-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            try ScenarioPlayer(Scenario(parsing: text), in: scratch.path)?.play()
        }
        try play(right)
        for (a, b) in [
            ("QR AA RD RA NOERROR", "QR RD RA NOERROR"), ("RA NOERROR", "RA NXDOMAIN"),
            ("5 IN A", "6 IN A"), ("A 192.0.2.1\nENTRY_END", "A 192.0.2.2\nENTRY_END"),
            ("STEP 2 CHECK_ANSWER", "STEP 2 CHECK_NO_ANSWER"), ("SECTION ANSWER\n", ""),
            ("STEP 2 CHECK_ANSWER", "STEP 2 CHECK_OUT_QUERY"), ("MATCH ttl", "MATCH ede=4"),
            ("{ zones", "FINDING a word\n{ zones"),
        ] {
            #expect(throws: (any Error).self, "\(b)") {
                try play(right.replacing(a, with: b, maxReplacements: 1))
            }
        }
    }
}
