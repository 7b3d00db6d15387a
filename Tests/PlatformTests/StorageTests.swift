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
}
