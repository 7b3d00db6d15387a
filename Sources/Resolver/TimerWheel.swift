/// Deadlines of up to four seconds in slots of a millisecond; setting and cancelling take O(1).
///
/// Holds numbers below a capacity, each at most once, in a list for each slot.
struct TimerWheel: ~Copyable {
    private static let slotCount = 4096
    private static let tick: UInt64 = 1_000_000

    private var first = [Int32](repeating: -1, count: slotCount)
    private var occupied = [UInt64](repeating: 0, count: slotCount / 64)
    private var next: [Int32] = []
    private var previous: [Int32] = []
    private var slot: [Int32] = []
    /// The tick up to which everything has been taken.
    private var current: UInt64 = 0
    private var count = 0

    /// Sets the deadline of `item`, in place of an earlier one. Later than four seconds is then.
    mutating func set(_ item: Int, at deadline: Instant, now: Instant) {
        while slot.count <= item {
            slot.append(-1)
            next.append(-1)
            previous.append(-1)
        }
        cancel(item)
        if count == 0 { current = max(current, now.nanoseconds / TimerWheel.tick) }
        // Rounded up: a deadline is never taken early.
        let wanted = (deadline.nanoseconds &+ TimerWheel.tick &- 1) / TimerWheel.tick
        let latest = current &+ UInt64(TimerWheel.slotCount) &- 1
        let index = Int(min(max(wanted, current &+ 1), latest) % UInt64(TimerWheel.slotCount))
        slot[item] = Int32(truncatingIfNeeded: index)
        previous[item] = -1
        next[item] = first[index]
        if first[index] >= 0 { previous[Int(first[index])] = Int32(truncatingIfNeeded: item) }
        first[index] = Int32(truncatingIfNeeded: item)
        occupied[index &>> 6] |= 1 &<< UInt64(index & 63)
        count &+= 1
    }

    /// Forgets the deadline of `item`, if it has one.
    mutating func cancel(_ item: Int) {
        guard item < slot.count, slot[item] >= 0 else { return }
        let index = Int(slot[item])
        if previous[item] >= 0 {
            next[Int(previous[item])] = next[item]
        } else {
            first[index] = next[item]
            if next[item] < 0 { occupied[index &>> 6] &= ~(1 &<< UInt64(index & 63)) }
        }
        if next[item] >= 0 { previous[Int(next[item])] = previous[item] }
        slot[item] = -1
        count &-= 1
    }

    /// Takes one item whose deadline has come, or gives nil when there is none.
    mutating func takeDue(at now: Instant) -> Int? {
        let target = now.nanoseconds / TimerWheel.tick
        while count > 0 {
            guard let due = earliest(), due <= target else { break }
            current = due
            let item = Int(first[Int(due % UInt64(TimerWheel.slotCount))])
            cancel(item)
            return item
        }
        current = max(current, target)
        return nil
    }

    /// When the earliest deadline comes.
    var nextDeadline: Instant? {
        earliest().map { Instant(nanoseconds: $0 &* TimerWheel.tick) }
    }

    /// The first occupied tick from `current` on.
    private func earliest() -> UInt64? {
        guard count > 0 else { return nil }
        let start = Int(current % UInt64(TimerWheel.slotCount))
        var word = start &>> 6
        var bits = occupied[word] & (UInt64.max &<< UInt64(start & 63))
        for step in 0...64 {
            if bits != 0 {
                let index = word &* 64 &+ bits.trailingZeroBitCount
                return current &+ UInt64((index &- start) & (TimerWheel.slotCount &- 1))
            }
            word = (word &+ 1) & 63
            bits = occupied[word]
            if step == 63 { bits &= ~(UInt64.max &<< UInt64(start & 63)) }
        }
        return nil
    }
}
