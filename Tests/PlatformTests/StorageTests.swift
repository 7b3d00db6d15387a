import Foundation
import Testing

@testable import Platform

@Suite("Storage")
struct StorageTests {
    private struct Counted: ~Copyable {
        let value: Int
        let log: Log
        deinit { log.ended += 1 }
    }

    private final class Log {
        var ended = 0
    }

    @Test("a fixed array makes each element once and ends each once")
    func fixedArray() {
        let log = Log()
        do {
            var table = FixedArray(count: 5) { Counted(value: $0 * 10, log: log) }
            #expect(table.count == 5 && table[3].value == 30)
            table[3] = Counted(value: 1, log: log)
            #expect(log.ended == 1 && table[3].value == 1)
        }
        #expect(log.ended == 6)
    }

    @Test("an octet buffer starts as zeros and lends its parts")
    func octetBuffer() {
        var buffer = OctetBuffer(capacity: 16)
        var room = buffer.room(from: 14)
        #expect(room.count == 2 && room[0] == 0)
        room[1] = 7
        let octets = buffer.octets(15..<16)
        #expect(octets.count == 1 && octets[0] == 7)
    }

    @Test("an octet queue gives back what went in, whatever the sizes")
    func octetQueue() {
        var random = SystemRandomNumberGenerator()
        var queue = OctetQueue()
        var model: [UInt8] = []
        for step in 0..<2000 {
            if step % 3 != 2 {
                let chunk = (0..<Int.random(in: 0...300, using: &random)).map {
                    UInt8(truncatingIfNeeded: $0 &* 31 &+ step)
                }
                queue.append(chunk.span)
                model += chunk
            } else {
                let taken = Int.random(in: 0...min(model.count, 900), using: &random)
                queue.removeFirst(taken)
                model.removeFirst(taken)
            }
            #expect(queue.count == model.count)
            guard queue.count == model.count else { return }
            let octets = queue.octets()
            if let first = model.first, let last = model.last {
                #expect(octets[0] == first && octets[octets.count - 1] == last)
            }
        }
        let octets = queue.octets()
        #expect(model.indices.allSatisfy { octets[$0] == model[$0] })
    }

    @Test("an octet queue moves into a buffer and is empty then")
    func taking() {
        var queue = OctetQueue()
        queue.append(UInt16(0x0102))
        queue.append([3, 4].span)
        queue.removeFirst(1)
        var buffer = OctetBuffer(capacity: 8)
        let count = queue.take(into: &buffer)
        let octets = buffer.octets(0..<3)
        #expect(count == 3 && queue.isEmpty)
        #expect(octets[0] == 2 && octets[1] == 3 && octets[2] == 4)
    }

    /// A folder of its own with a pipe in it, which goes when the test is done.
    private func withPipe(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "detour-pipe-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let pipe = "\(folder)/pipe"
        // Safe: NUL-terminated for the call.
        let result = unsafe mkfifo(pipe, 0o600)
        try #require(result == 0)
        try body(pipe)
    }

    @Test("a pipe that nobody writes to is not waited for without end")
    func silentPipe() throws {
        try withPipe { pipe in
            let start = Clock.monotonic
            #expect(throws: FileError(path: pipe, error: .timedOut)) {
                try File.octets(at: pipe, patience: 100)
            }
            #expect(Clock.monotonic - start >= 100_000_000)
        }
    }

    @Test("a pipe is read to its end, however late and in however many pieces it is written")
    func pipe() throws {
        try withPipe { pipe in
            let writer = try Thread(named: "writer") {
                usleep(50_000)
                let file = FileHandle(forWritingAtPath: pipe)
                for octet in UInt8(0)..<3 {
                    try? file?.write(contentsOf: Data(repeating: octet, count: 100_000))
                    usleep(20_000)
                }
                try? file?.close()
            }
            let octets = try File.octets(at: pipe, patience: 5000)
            writer.join()
            #expect(octets == (0..<3).flatMap { [UInt8](repeating: $0, count: 100_000) })
        }
    }

    @Test("what grows at its end is an ordinary file")
    func appending() throws {
        try withPipe { pipe in
            for path in [pipe, "/dev/null"] {
                #expect(throws: Errno.invalidArgument) { _ = try AppendFile(at: path) }
            }
        }
    }
}
