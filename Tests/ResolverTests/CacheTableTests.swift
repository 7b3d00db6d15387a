import Testing

@testable import Resolver

@Suite("The cache's table")
struct CacheTableTests {
    /// Puts entries in and takes them out at random, beside a dictionary.
    ///
    /// `hashBits`: how many of a hash's uppermost bits differ: few make long clusters that go over
    /// the table's end.
    @Test(
        "the table holds what a dictionary holds, through all its sizes",
        arguments: [64, 12, 5]
    )
    func model(hashBits: Int) {
        var random = SystemRandomNumberGenerator()
        var table = CacheTable(entries: 4096)
        var model: [Int: UInt64] = [:]
        let initialSlots = table.slotCount
        var wasFull = false
        for step in 0..<20_000 {
            let grows = step < 8_000
            if grows && step % 4 > 0 || model.isEmpty {
                if table.isFull {
                    wasFull = true
                    continue
                }
                let bits = random.next() as UInt64
                let hash =
                    hashBits == 64 ? bits : bits << UInt64(64 - hashBits) | UInt64(step) << 32
                table.insert(hash: hash, start: step * 8)
                model[step * 8] = hash
            } else if let (start, hash) = model.randomElement() {
                let slot = table.slot(ofEntryAt: start, hash: hash)
                #expect(slot != nil)
                if let slot { table.remove(slot: slot) }
                model[start] = nil
                let gone = table.slot(ofEntryAt: start, hash: hash)
                #expect(gone == nil)
            }
            if step % 500 == 0 {
                for (start, hash) in model {
                    let slot = table.slot(ofEntryAt: start, hash: hash)
                    let found = slot.map { table.start(ofSlot: $0) }
                    #expect(found == start)
                }
            }
        }
        let (count, slots, capacity) = (table.count, table.slotCount, table.capacity)
        #expect(count == model.count)
        #expect(wasFull && slots == capacity && initialSlots < capacity)
    }
}
