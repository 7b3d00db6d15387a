import Foundation
import Testing

/// Sessions with the program as they stand in Tests/Golden/commands: a command behind `$ `, what it
/// says (standard error behind `! `), and its exit status behind `=> `, unless that is 0.
@Suite("The command line, as recorded") struct SessionTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/commands")

    static var sessions: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".session") }.sorted()
    }

    @Test("says what it said", arguments: sessions) func session(file: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
        var played = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false)
        where line.hasPrefix("$ detour ") {
            played += try Self.play(String(line.dropFirst(9)))
        }
        // `RECORD=1 swift test --filter CommandTests` writes the files anew, to be read in a diff.
        if ProcessInfo.processInfo.environment["RECORD"] != nil {
            try played.write(
                to: Self.folder.appending(path: file),
                atomically: true,
                encoding: .utf8
            )
        }
        #expect(played == text)
    }

    @Test("sessions are there") func presence() { #expect(Self.sessions.count >= 3) }

    private static func play(_ words: String) throws -> String {
        let arguments = words.split(separator: " ").map(String.init)
        let outcome = try Outcome.of("detour", arguments, in: folder)
        var text = "$ detour \(words)\n" + outcome.output
        for line in outcome.errors.split(separator: "\n") { text += "! \(line)\n" }
        let status = outcome.status
        return status == 0 ? text : text + "=> \(status)\n"
    }
}
