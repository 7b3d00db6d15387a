import DNS

/// Where each entry of a shard stands, by its hash: open addressing with linear probing, removal by
/// shifting back. A slot holds the hash's upper half and the place, in eighths, plus one; 0: free.
///
/// The table begins small, so that a few thousand answers stay in the processor's cache, and doubles
/// up to its capacity. Memory for all sizes is reserved, and taken as it is used: `n` slots stand at
/// slot `n` of it. The hash's uppermost bits are an entry's home, so that doubling keeps the order.
struct CacheTable: ~Copyable {
    private var slots: OctetStore
    /// How many slots are in use: a power of two.
    private(set) var slotCount = 64
    /// How many slots there may be.
    let capacity: Int
    /// How many entries there are.
    private(set) var count = 0

    /// A table for about `entries` entries.
    init(entries: Int) {
        var capacity = 64
        while capacity < entries { capacity *= 2 }
        self.capacity = capacity
        slots = OctetStore(count: capacity * 2 * 8)
        clear()
    }

    /// Whether no other entry may be put in, since searches would become long.
    var isFull: Bool { slotCount == capacity && isCrowded }

    private var isCrowded: Bool { count * 4 >= slotCount * 3 }

    private var mask: Int { slotCount &- 1 }

    /// Where the search for a hash, or for the word of a slot, begins.
    private func home(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash &>> UInt64(64 &- slotCount.trailingZeroBitCount))
    }

    private func word(ofSlot slot: Int) -> UInt64 {
        slots.span.word(at: (slotCount &+ slot) &* 8)
    }

    private mutating func set(slot: Int, to word: UInt64) {
        let offset = (slotCount &+ slot) &* 8
        var octets = slots.mutableSpan
        octets.store(word: word, at: offset)
    }

    private mutating func clear() {
        for slot in 0..<slotCount { set(slot: slot, to: 0) }
    }

    private static func word(_ hash: UInt64, _ start: Int) -> UInt64 {
        hash & ~0xFFFF_FFFF | UInt64(start / 8 + 1)
    }

    private static func start(_ word: UInt64) -> Int {
        Int(truncatingIfNeeded: word & 0xFFFF_FFFF &- 1) * 8
    }

    /// Where the entry in a slot stands.
    func start(ofSlot slot: Int) -> Int { CacheTable.start(word(ofSlot: slot)) }

    /// Where the entry in a slot stands; nil for a free one.
    func start(ofOccupiedSlot slot: Int) -> Int? {
        let word = word(ofSlot: slot)
        return word == 0 ? nil : CacheTable.start(word)
    }

    /// The slot of the entry for a question, or nil.
    func slot(
        of key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        in octets: Span<UInt8>
    ) -> Int? {
        var slot = home(hash)
        while true {
            let word = word(ofSlot: slot)
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
        var slot = home(hash)
        while true {
            let word = word(ofSlot: slot)
            if word == wanted { return slot }
            if word == 0 { return nil }
            slot = (slot + 1) & mask
        }
    }

    /// The entry in a slot has moved.
    mutating func move(slot: Int, hash: UInt64, to start: Int) {
        set(slot: slot, to: CacheTable.word(hash, start))
    }

    /// Enters an entry. The table must not be full.
    mutating func insert(hash: UInt64, start: Int) {
        if isCrowded { double() }
        place(CacheTable.word(hash, start))
        count += 1
    }

    private mutating func place(_ word: UInt64) {
        var slot = home(word)
        while self.word(ofSlot: slot) != 0 { slot = (slot + 1) & mask }
        set(slot: slot, to: word)
    }

    private mutating func double() {
        precondition(slotCount < capacity, "a full table takes no entry")
        let former = slotCount..<(slotCount * 2)
        slotCount *= 2
        clear()
        for slot in former {
            let word = slots.span.word(at: slot * 8)
            if word != 0 { place(word) }
        }
    }

    /// Takes an entry out.
    mutating func remove(slot: Int) {
        var hole = slot
        var next = (slot + 1) & mask
        while true {
            let word = word(ofSlot: next)
            if word == 0 { break }
            // The entry may move back where the hole lies between its home and where it stands.
            if (next - home(word)) & mask >= (next - hole) & mask {
                set(slot: hole, to: word)
                hole = next
            }
            next = (next + 1) & mask
        }
        set(slot: hole, to: 0)
        count -= 1
    }
}
