import DNS

/// Where each entry of a shard stands, by its hash: open addressing with linear probing, removal by
/// shifting back. A slot holds the hash's upper half and the place, in eighths, plus one; 0: free.
struct CacheTable: ~Copyable {
    private var slots: OctetStore
    private let mask: Int
    /// How many entries there are.
    private(set) var count = 0

    /// A table for about `entries` entries.
    init(entries: Int) {
        var slotCount = 64
        while slotCount < entries { slotCount *= 2 }
        mask = slotCount - 1
        slots = OctetStore(zeroed: slotCount * 8)
    }

    var slotCount: Int { mask + 1 }

    /// Whether another entry would make searches long.
    var isCrowded: Bool { count * 4 >= slotCount * 3 }

    private static func word(_ hash: UInt64, _ start: Int) -> UInt64 {
        hash & ~0xFFFF_FFFF | UInt64(start / 8 + 1)
    }

    private static func start(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: word & 0xFFFF_FFFF &- 1) * 8
    }

    /// Where the entry in a slot stands.
    func start(ofSlot slot: Int) -> Int { CacheTable.start(slots.span.word(at: slot * 8)) }

    /// Where the entry in a slot stands; nil for a free one.
    func start(ofOccupiedSlot slot: Int) -> Int? {
        let word = slots.span.word(at: slot * 8)
        return word == 0 ? nil : CacheTable.start(word)
    }

    /// The slot of the entry for a question, or nil.
    func slot(
        of key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        in octets: Span<UInt8>
    ) -> Int? {
        let slots = self.slots.span
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let word = slots.word(at: slot * 8)
            if word == 0 { return nil }
            if word >> 32 == hash >> 32,
                CacheEntry.matches(octets, at: CacheTable.start(word), key: key, name: name)
            {
                return slot
            }
            slot = (slot + 1) & mask
        }
    }

    /// The slot of the entry at a place, or nil where that entry is dead.
    func slot(ofEntryAt start: Int, hash: UInt64) -> Int? {
        let wanted = CacheTable.word(hash, start)
        let slots = self.slots.span
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let word = slots.word(at: slot * 8)
            if word == wanted { return slot }
            if word == 0 { return nil }
            slot = (slot + 1) & mask
        }
    }

    /// The entry in a slot has moved.
    mutating func move(slot: Int, hash: UInt64, to start: Int) {
        var octets = slots.mutableSpan
        octets.store(word: CacheTable.word(hash, start), at: slot * 8)
    }

    /// Enters an entry. The table must not be crowded.
    mutating func insert(hash: UInt64, start: Int) {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots.span.word(at: slot * 8) != 0 { slot = (slot + 1) & mask }
        move(slot: slot, hash: hash, to: start)
        count += 1
    }

    /// Takes an entry out; `entries` has the hashes of those behind it.
    mutating func remove(slot: Int, in entries: borrowing OctetStore) {
        var hole = slot
        var next = (slot + 1) & mask
        while true {
            let word = slots.span.word(at: next * 8)
            if word == 0 { break }
            let hash = entries.span.word(at: CacheTable.start(word) + 8)
            let home = Int(truncatingIfNeeded: hash) & mask
            // The entry may move back where the hole lies between its home and where it stands.
            if (next - home) & mask >= (next - hole) & mask {
                var octets = slots.mutableSpan
                octets.store(word: word, at: hole * 8)
                hole = next
            }
            next = (next + 1) & mask
        }
        var octets = slots.mutableSpan
        octets.store(word: 0, at: hole * 8)
        count -= 1
    }
}
