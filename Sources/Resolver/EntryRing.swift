import DNS

/// A region of a shard's memory that entries are written to one behind the other, and reclaimed
/// from the oldest on. Holds positions only; the octets stay with the shard.
///
/// Invariant: the entries from `tail` on, each `size` octets behind the last, reach `head`; `free`
/// octets lie between `head` and `tail`. An entry never goes over the region's end.
struct EntryRing {
    let region: Range<Int>
    /// Where the next entry goes.
    private(set) var head: Int
    /// Where the oldest stands.
    private(set) var tail: Int
    private(set) var free: Int

    /// An empty ring over a region; both ends are multiples of eight.
    init(_ region: Range<Int>) {
        self.region = region
        head = region.lowerBound
        tail = region.lowerBound
        free = region.count
    }

    var isEmpty: Bool { free == region.count }

    /// Whether an entry can be written at `head` as things are.
    func hasRoom(for size: Int) -> Bool { contiguous >= size }

    private var isWrapped: Bool { head < tail || free == 0 }

    private var contiguous: Int { isWrapped ? free : min(free, region.upperBound - head) }

    /// Leaves what is too little before the region's end to a dead entry, where that helps.
    mutating func wrap(for size: Int, in store: inout OctetStore) -> Bool {
        let rest = region.upperBound - head
        guard !isWrapped, free >= size, rest < size, free - rest > 0 else { return false }
        if rest > 0 {
            var octets = store.mutableSpan
            octets.store(UInt32(truncatingIfNeeded: rest), at: head)
            if rest >= CacheEntry.headerSize {
                octets[head + 28] = CacheEntry.Flags.dead.rawValue
            }
            free -= rest
        }
        head = region.lowerBound
        return true
    }

    /// Takes `size` octets at the head, and gives where they start.
    mutating func take(_ size: Int) -> Int {
        precondition(hasRoom(for: size), "room was made")
        let start = head
        head += size
        if head == region.upperBound { head = region.lowerBound }
        free -= size
        return start
    }

    /// Gives the oldest entry's octets back.
    mutating func reclaim(_ size: Int) {
        tail += size
        if tail == region.upperBound { tail = region.lowerBound }
        free += size
    }
}
