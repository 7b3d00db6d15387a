// One shard of the cache: a ring of entries in the order in which they were written, and a hash
// table of where they stand. Eviction goes round the ring (CLOCK): what was asked for since the
// last round is moved to the front, what was not makes room.

import DNS

struct CacheShard: ~Copyable {
    private var ring: OctetStore
    private var slots: OctetStore
    private let slotCount: Int
    /// Where the next entry goes, and where the oldest stands. `free` octets lie between them.
    private var head = 0
    private var tail = 0
    private var free: Int
    /// How many entries are alive.
    private(set) var count = 0

    /// How many entries one insertion moves to the front before it evicts whatever comes next: the
    /// time that the shard is locked stays bounded.
    private static let mostMoves = 64

    /// A shard for `bytes` octets of entries.
    init(bytes: Int) {
        ring = OctetStore(count: bytes & ~7)
        free = bytes & ~7
        var slotCount = 64
        while slotCount < bytes / 96 { slotCount *= 2 }
        self.slotCount = slotCount
        slots = OctetStore(zeroed: slotCount * 8)
    }

    /// Copies the entry for a question to the start of `copy`; false where there is none.
    mutating func find(
        _ key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        copy: inout OctetStore
    ) -> Bool {
        guard let slot = slot(of: key, name: name, hash: hash) else { return false }
        let start = offset(in: slot)
        let entry = CacheEntry(ring.span, at: start)
        if !entry.flags.contains(.visited) {
            set(entry.flags.union(.visited), of: start)
        }
        copy.copy(ring, start..<(start + entry.size), at: 0)
        return true
    }

    /// Keeps an entry, in the place of an older one for the same question.
    mutating func insert(
        _ entry: Span<UInt8>,
        key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64
    ) {
        guard entry.count <= ring.count / 2 else { return }
        if let slot = slot(of: key, name: name, hash: hash) {
            let start = offset(in: slot)
            set(CacheEntry(ring.span, at: start).flags.union(.dead), of: start)
            remove(slot: slot)
        }
        while count * 4 >= slotCount * 3 { evictOldest(moves: 0) }
        makeRoom(for: entry.count)
        let start = head
        var octets = ring.mutableSpan
        octets.copy(entry, at: start)
        advanceHead(by: entry.count)
        enter(start, hash: hash)
    }

    // MARK: The ring

    /// Evicts until `size` octets in a row are free at the head.
    private mutating func makeRoom(for size: Int) {
        var moves = 0
        while true {
            let isWrapped = head < tail || free == 0
            let contiguous = isWrapped ? free : min(free, ring.count - head)
            if contiguous >= size { return }
            if !isWrapped && free >= size && ring.count - head < size {
                // Too little is left before the end: leave it to a dead entry, and wrap.
                wrap()
            } else if evictOldest(moves: moves) {
                moves += 1
            }
        }
    }

    private mutating func wrap() {
        let start = head
        let rest = ring.count - start
        if rest > 0 {
            var octets = ring.mutableSpan
            octets.store(UInt32(truncatingIfNeeded: rest), at: start)
            if rest >= CacheEntry.headerSize {
                octets[start + 28] = CacheEntry.Flags.dead.rawValue
            }
            free -= rest
        }
        head = 0
    }

    /// Takes the oldest entry out, or moves it to the front where it was asked for and fewer than
    /// the most have been moved; gives whether it was moved.
    @discardableResult
    private mutating func evictOldest(moves: Int) -> Bool {
        let start = tail
        let size = Int(ring.span.uint32(at: start))
        // A remainder too small for an entry's header is a dead one that `wrap` left.
        let isFiller = size < CacheEntry.headerSize
        let flags = isFiller ? .dead : CacheEntry(ring.span, at: start).flags
        tail += size
        if tail == ring.count { tail = 0 }
        free += size
        guard !flags.contains(.dead) else { return false }
        let hash = ring.span.word(at: start + 8)
        guard let slot = slot(ofEntryAt: start, hash: hash) else { return false }
        guard flags.contains(.visited), moves < CacheShard.mostMoves else {
            remove(slot: slot)
            return false
        }
        // Behind the head there is room up to the end of this entry at least, if not of the ring.
        if head > start, ring.count - head < size { wrap() }
        let destination = head
        var octets = ring.mutableSpan
        // Downwards or to elsewhere: ascending words never overwrite what is still to be read.
        for offset in stride(from: 0, to: size, by: 8) {
            octets.store(word: octets.span.word(at: start + offset), at: destination + offset)
        }
        octets[destination + 28] = flags.subtracting(.visited).rawValue
        advanceHead(by: size)
        setSlot(slot, hash: hash, start: destination)
        return true
    }

    private mutating func advanceHead(by size: Int) {
        head += size
        if head == ring.count { head = 0 }
        free -= size
    }

    private mutating func set(_ flags: CacheEntry.Flags, of start: Int) {
        var octets = ring.mutableSpan
        octets[start + 28] = flags.rawValue
    }

    // MARK: The table: linear probing, removal by shifting back

    private func offset(in slot: Int) -> Int {
        Int(truncatingIfNeeded: slots.span.word(at: slot * 8) & 0xFFFF_FFFF &- 1) * 8
    }

    private func slot(of key: CacheKey, name: borrowing FoldedName, hash: UInt64) -> Int? {
        let slots = self.slots.span
        let ring = self.ring.span
        var slot = Int(truncatingIfNeeded: hash) & (slotCount - 1)
        while true {
            let word = slots.word(at: slot * 8)
            if word == 0 { return nil }
            if word >> 32 == hash >> 32,
                CacheEntry.matches(
                    ring,
                    at: Int(truncatingIfNeeded: word & 0xFFFF_FFFF &- 1) * 8,
                    key: key,
                    name: name
                )
            {
                return slot
            }
            slot = (slot + 1) & (slotCount - 1)
        }
    }

    private func slot(ofEntryAt start: Int, hash: UInt64) -> Int? {
        let wanted = hash & ~0xFFFF_FFFF | UInt64(start / 8 + 1)
        let slots = self.slots.span
        var slot = Int(truncatingIfNeeded: hash) & (slotCount - 1)
        while true {
            let word = slots.word(at: slot * 8)
            if word == wanted { return slot }
            if word == 0 { return nil }
            slot = (slot + 1) & (slotCount - 1)
        }
    }

    private mutating func setSlot(_ slot: Int, hash: UInt64, start: Int) {
        var octets = slots.mutableSpan
        octets.store(word: hash & ~0xFFFF_FFFF | UInt64(start / 8 + 1), at: slot * 8)
    }

    private mutating func enter(_ start: Int, hash: UInt64) {
        var slot = Int(truncatingIfNeeded: hash) & (slotCount - 1)
        while slots.span.word(at: slot * 8) != 0 { slot = (slot + 1) & (slotCount - 1) }
        setSlot(slot, hash: hash, start: start)
        count += 1
    }

    private mutating func remove(slot: Int) {
        var hole = slot
        var next = (slot + 1) & (slotCount - 1)
        while true {
            let word = slots.span.word(at: next * 8)
            if word == 0 { break }
            let entry = Int(truncatingIfNeeded: word & 0xFFFF_FFFF &- 1) * 8
            let home = Int(truncatingIfNeeded: ring.span.word(at: entry + 8)) & (slotCount - 1)
            // The entry may move back where the hole lies between its home and where it stands.
            if (next - home) & (slotCount - 1) >= (next - hole) & (slotCount - 1) {
                var octets = slots.mutableSpan
                octets.store(word: word, at: hole * 8)
                hole = next
            }
            next = (next + 1) & (slotCount - 1)
        }
        var octets = slots.mutableSpan
        octets.store(word: 0, at: hole * 8)
        count -= 1
    }
}
