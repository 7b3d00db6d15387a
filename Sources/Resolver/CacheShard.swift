// One shard of the cache, and what it keeps when it is full (S3-FIFO, SOSP 2023).
//
// A new entry goes to a small queue, a tenth of the memory. What is asked for again before it has
// passed through it moves to the main queue; what is not is dropped, so that a flood of names that
// nobody asks for twice passes through that tenth alone. Names that were dropped are remembered for
// a while: whoever comes back goes to the main queue at once. The main queue is a FIFO in which an
// entry that was asked for goes round again, once for each time, three times at most.

import DNS

struct CacheShard: ~Copyable {
    private var octets: OctetStore
    private var table: CacheTable
    private var small: EntryRing
    private var main: EntryRing
    /// Hashes of what was dropped from the small queue, each in the one place where it may stand.
    private var ghosts: [UInt32]

    private static let mostFrequent: UInt8 = 3
    /// How many entries one insertion moves before it drops whatever comes next: the time that the
    /// shard is locked stays bounded.
    private static let mostMoves = 16

    /// A shard for `bytes` octets of entries.
    init(bytes: Int) {
        let size = bytes & ~7
        let border = (size / 10) & ~7
        octets = OctetStore(count: size)
        small = EntryRing(0..<border)
        main = EntryRing(border..<size)
        table = CacheTable(entries: bytes / 96)
        ghosts = Array(repeating: 0, count: table.capacity / 2)
    }

    /// How many entries are alive.
    var count: Int { table.count }

    /// What a search came to.
    enum Found {
        case nothing
        /// The entry was copied.
        case entry
        /// The entry was copied, and a newer one should be fetched; nobody else is told so.
        case entryWorthRefreshing
    }

    /// Copies the entry for a question to the start of `copy`. `isHit`: it is a client that asks,
    /// and not one that has waited for this very entry.
    mutating func find(
        _ key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        isHit: Bool,
        at now: Instant,
        copy: inout OctetStore
    ) -> Found {
        guard let slot = table.slot(of: key, name: name, hash: hash, in: octets.span) else {
            return .nothing
        }
        let start = table.start(ofSlot: slot)
        let entry = CacheEntry(octets.span, at: start)
        copy.copy(octets, start..<(start + entry.size), at: 0)
        guard isHit else { return .entry }
        if entry.frequency < CacheShard.mostFrequent {
            set(entry.frequency + 1, at: start + 42)
        }
        guard entry.isWorthRefreshing(at: now) else { return .entry }
        set(entry.flags.union(.isRefreshing).rawValue, at: start + 28)
        return .entryWorthRefreshing
    }

    /// Keeps an entry, in the place of an older one for the same question.
    ///
    /// A failure does not replace an answer that can still be served, up to `staleSeconds` past its
    /// lifetime: it lets that be served without asking for some seconds (RFC 8767, 5).
    mutating func insert(
        _ entry: Span<UInt8>,
        key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        staleSeconds: UInt32,
        at now: Instant
    ) {
        guard entry.count <= main.region.count / 2 else { return }
        var frequency: UInt8 = 0
        var isKnown = false
        if let slot = table.slot(of: key, name: name, hash: hash, in: octets.span) {
            let start = table.start(ofSlot: slot)
            let former = CacheEntry(octets.span, at: start)
            if CacheEntry.isFailure(entry),
                former.isFresh(at: now) && !former.flags.contains(.isFailure)
                    || former.isStale(at: now, within: staleSeconds)
            {
                var octets = octets.mutableSpan
                octets.store(
                    UInt32(truncatingIfNeeded: now.seconds) &+ CacheEntry.retryInterval,
                    at: start + 44
                )
                return
            }
            frequency = former.frequency
            isKnown = main.region.contains(start) || frequency > 0
            set(former.flags.union(.dead).rawValue, at: start + 28)
            table.remove(slot: slot)
        }
        let ghost = Int(truncatingIfNeeded: hash) & (ghosts.count - 1)
        if ghosts[ghost] == UInt32(truncatingIfNeeded: hash >> 32) {
            isKnown = true
            ghosts[ghost] = 0
        }
        while table.isFull { dropOldest() }
        let start = place(entry.count, inMain: isKnown || entry.count > small.region.count / 2)
        octets.copy(entry, at: start)
        set(frequency, at: start + 42)
        table.insert(hash: hash, start: start)
    }

    private mutating func set(_ octet: UInt8, at offset: Int) {
        var octets = octets.mutableSpan
        octets[offset] = octet
    }

    /// Drops the entries whose folded names match, and gives how many they were.
    mutating func remove(where matches: (Span<UInt8>) -> Bool) -> Int {
        var found: [(start: Int, hash: UInt64)] = []
        for slot in 0..<table.slotCount {
            guard let start = table.start(ofOccupiedSlot: slot) else { continue }
            let name = start + CacheEntry.headerSize
            let octets = octets.span
            if matches(octets.extracting(name..<(name + Int(octets[start + 31])))) {
                found.append((start, octets.word(at: start + 8)))
            }
        }
        for (start, hash) in found {
            // Each removal may move others to other slots.
            guard let slot = table.slot(ofEntryAt: start, hash: hash) else { continue }
            set(octets.span[start + 28] | CacheEntry.Flags.dead.rawValue, at: start + 28)
            table.remove(slot: slot)
        }
        return found.count
    }

    // MARK: Making room

    private mutating func place(_ size: Int, inMain: Bool) -> Int {
        if inMain {
            makeRoomInMain(for: size)
            return main.take(size)
        }
        while !small.hasRoom(for: size) {
            if !small.wrap(for: size, in: &octets) { advanceSmall() }
        }
        return small.take(size)
    }

    private mutating func dropOldest() {
        if small.isEmpty { _ = advanceMain(moves: CacheShard.mostMoves) } else { advanceSmall() }
    }

    /// The oldest entry of a queue, where it is not dead: its size, its slot and its hash.
    private func oldest(of ring: EntryRing) -> (size: Int, live: (slot: Int, hash: UInt64)?) {
        let size = Int(octets.span.uint32(at: ring.tail))
        // A remainder too small for an entry's header is a dead one that `wrap` left.
        guard size >= CacheEntry.headerSize,
            octets.span[ring.tail + 28] & CacheEntry.Flags.dead.rawValue == 0
        else { return (size, nil) }
        let hash = octets.span.word(at: ring.tail + 8)
        return (size, table.slot(ofEntryAt: ring.tail, hash: hash).map { ($0, hash) })
    }

    /// Moves the oldest entry of the small queue to the main one, or drops it.
    private mutating func advanceSmall() {
        let start = small.tail
        let (size, live) = oldest(of: small)
        if let live {
            if octets.span[start + 42] > 0 || main.hasRoom(for: size) {
                makeRoomInMain(for: size)
                // The slot may have moved while others were taken out.
                if let slot = table.slot(ofEntryAt: start, hash: live.hash) {
                    move(start, size, slot: slot, hash: live.hash, frequency: 0)
                }
            } else {
                table.remove(slot: live.slot)
                ghosts[Int(truncatingIfNeeded: live.hash) & (ghosts.count - 1)] =
                    UInt32(truncatingIfNeeded: live.hash >> 32)
            }
        }
        small.reclaim(size)
    }

    private mutating func makeRoomInMain(for size: Int) {
        var moves = 0
        while !main.hasRoom(for: size) {
            if main.wrap(for: size, in: &octets) { continue }
            if advanceMain(moves: moves) { moves += 1 }
        }
    }

    /// Drops the oldest entry of the main queue, or lets it go round again where it was asked for
    /// and fewer than the most have been moved; gives whether it was moved.
    private mutating func advanceMain(moves: Int) -> Bool {
        let start = main.tail
        let (size, live) = oldest(of: main)
        main.reclaim(size)
        guard let live else { return false }
        let frequency = octets.span[start + 42]
        guard frequency > 0, moves < CacheShard.mostMoves, main.hasRoom(for: size) else {
            table.remove(slot: live.slot)
            return false
        }
        move(start, size, slot: live.slot, hash: live.hash, frequency: frequency - 1)
        return true
    }

    /// Moves an entry to the head of the main queue.
    private mutating func move(
        _ start: Int,
        _ size: Int,
        slot: Int,
        hash: UInt64,
        frequency: UInt8
    ) {
        let destination = main.take(size)
        var span = octets.mutableSpan
        // Downwards or to elsewhere: ascending words never overwrite what is still to be read.
        for offset in stride(from: 0, to: size, by: 8) {
            span.store(word: span.span.word(at: start + offset), at: destination + offset)
        }
        span[destination + 42] = frequency
        table.move(slot: slot, hash: hash, to: destination)
    }
}
