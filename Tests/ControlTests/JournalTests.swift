import Foundation
import Testing

@testable import Control

@Suite("The journal of runtime overrides")
struct JournalTests {
    private func override(_ number: Int, expiresAt: Timestamp? = nil) -> Override {
        Override(
            name: "n\(number).example.com.",
            type: "A",
            records: ["192.0.2.\(number % 250)"],
            ttl: 5,
            note: number.isMultiple(of: 2) ? "a \"note\"\nwith lines" : nil,
            user: "ana",
            uid: 1000,
            setAt: Timestamp(milliseconds: 1_796_000_000_123),
            expiresAt: expiresAt
        )
    }

    /// A new folder, which goes when the test is done.
    private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "detour-journal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.path)
    }

    /// A journal that was open a moment ago. A program that another test is just starting has this
    /// process's lock too, until it runs: that is waited for.
    private func reopened(
        _ folder: String,
        _ contents: inout Journal.Contents
    ) throws -> Journal {
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do throws(ControlError) {
                return try Journal(in: folder, contents: &contents)
            } catch {
                guard error.kind == .unavailable, ContinuousClock.now < end else { throw error }
                usleep(10_000)
            }
        }
    }

    @Test("reads back what was written, in its order")
    func roundTrip() throws {
        try withFolder { folder in
            var contents = Journal.Contents()
            do {
                var journal = try Journal(in: folder, contents: &contents)
                #expect(contents.overrides.isEmpty && contents.warnings.isEmpty)
                for number in 0..<10 {
                    try journal.append([JournalLine(set: override(number))], leaving: [])
                }
                try journal.append([JournalLine(unset: override(3).key)], leaving: [])
            }
            _ = try reopened(folder, &contents)
            #expect(contents.overrides == (0..<10).filter { $0 != 3 }.map { override($0) })
            #expect(contents.warnings == [])
        }
    }

    @Test(
        "says so where what stands in its place keeps nothing, or is a link to somebody else's",
        arguments: ["/dev/null", "other"]
    )
    func noFile(target: String) throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true
            )
            let path = "\(folder)/overrides.journal"
            try FileManager.default.createSymbolicLink(
                atPath: path,
                withDestinationPath: target
            )
            try Data("text of others".utf8).write(to: URL(filePath: "\(folder)/other"))
            var contents = Journal.Contents()
            let error = ControlError(
                .storage,
                "\(path) is no ordinary file: nothing can be kept in it"
            )
            #expect(throws: error) { _ = try Journal(in: folder, contents: &contents) }
            let other = try Data(contentsOf: URL(filePath: "\(folder)/other"))
            #expect(other == Data("text of others".utf8))
        }
    }

    @Test("of every prefix of a file gives the whole lines, and reports a torn one")
    func everyPrefix() throws {
        let lines = (0..<6).map { JournalLine(set: override($0)).octets }
        let file = lines.flatMap(\.self)
        var ends = [0]
        for line in lines { ends.append(ends[ends.count - 1] + line.count) }
        for length in 0...file.count {
            let replay = Journal.replay(Array(file[..<length]), path: "journal")
            let whole = ends.lastIndex { $0 <= length } ?? 0
            #expect(replay.contents.overrides == (0..<whole).map { override($0) })
            #expect(replay.contents.warnings.count == (ends.contains(length) ? 0 : 1))
            #expect(replay.goodEnd == ends[whole])
        }
    }

    @Test("leaves out a line with any octet changed, and keeps the others")
    func damage() throws {
        let lines = (0..<3).map { JournalLine(set: override($0)).octets }
        let start = lines[0].count
        for offset in 0..<(lines[1].count - 1) {
            var file = lines.flatMap(\.self)
            file[start + offset] ^= 0x01
            // A newline that comes of it makes two damaged lines of one.
            let replay = Journal.replay(file, path: "journal")
            #expect(replay.contents.overrides == [override(0), override(2)], "\(offset)")
            #expect(!replay.contents.warnings.isEmpty)
        }
    }

    @Test("drops the torn end before anything is written behind it")
    func tornEnd() throws {
        try withFolder { folder in
            var contents = Journal.Contents()
            do {
                var journal = try Journal(in: folder, contents: &contents)
                try journal.append([JournalLine(set: override(1))], leaving: [])
            }
            let path = "\(folder)/overrides.journal"
            let torn = JournalLine(set: override(2)).octets.dropLast(20)
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(torn))
            try handle.close()
            do {
                var journal = try reopened(folder, &contents)
                #expect(contents.overrides == [override(1)])
                #expect(contents.warnings.count == 1)
                #expect(contents.warnings.first?.contains(":2: the last line is damaged") == true)
                try journal.append([JournalLine(set: override(3))], leaving: [])
            }
            _ = try reopened(folder, &contents)
            #expect(contents.overrides == [override(1), override(3)])
            #expect(contents.warnings == [])
        }
    }

    @Test("of a folder is one process's")
    func lock() throws {
        try withFolder { folder in
            var contents = Journal.Contents()
            let journal = try Journal(in: folder, contents: &contents)
            do throws(ControlError) {
                _ = try Journal(in: folder, contents: &contents)
                Issue.record("a second one was let in")
            } catch {
                #expect(error.kind == .unavailable)
            }
            _ = consume journal
        }
    }

    @Test("is reduced to what is set when it has grown long")
    func compaction() throws {
        try withFolder { folder in
            var contents = Journal.Contents()
            var sizes: [Int] = []
            do {
                var journal = try Journal(in: folder, contents: &contents)
                for number in 0..<1_100 {
                    let last = override(number % 3)
                    try journal.append([JournalLine(set: last)], leaving: [last])
                    let path = "\(folder)/overrides.journal"
                    let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
                    sizes.append((size as? Int) ?? 0)
                }
            }
            #expect(sizes.max() ?? 0 < 400_000)
            #expect(zip(sizes, sizes.dropFirst()).filter { $0 > $1 }.count == 1)
            _ = try reopened(folder, &contents)
            #expect(contents.overrides.contains(override(1_099 % 3)))
            let rest = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(rest.sorted() == ["lock", "overrides.journal"])
        }
    }

    @Test("has the CRC-32 that others have")
    func checksum() {
        #expect(JournalLine.checksum(Array("123456789".utf8)[...]) == 0xCBF4_3926)
    }
}
