import Platform

/// The order in which slots were last active: a doubly linked list over a table's indices.
///
/// Every step is O(1), and the slot that has been quiet the longest is always at hand.
struct ActivityOrder: ~Copyable {
    struct Link: BitwiseCopyable {
        var time: UInt64 = 0
        var older: Int32 = -1
        var newer: Int32 = -1
    }

    private var links: FixedArray<Link>
    private var first: Int32 = -1
    private var last: Int32 = -1

    init(slots: Int) { links = FixedArray(count: slots) { _ in Link() } }

    /// The slot that has been quiet the longest.
    var oldest: Int? { first >= 0 ? Int(first) : nil }

    /// The slot that was active next after `slot`.
    func newer(than slot: Int) -> Int? {
        let newer = links[slot].newer
        return newer >= 0 ? Int(newer) : nil
    }

    /// When a slot was last active.
    func time(of slot: Int) -> UInt64 { links[slot].time }

    /// Adds a slot that is active now.
    mutating func insert(_ slot: Int, at time: UInt64) {
        links[slot] = Link(time: time, older: last, newer: -1)
        if last >= 0 { links[Int(last)].newer = Int32(slot) } else { first = Int32(slot) }
        last = Int32(slot)
    }

    /// Notes that a slot is active now.
    mutating func touch(_ slot: Int, at time: UInt64) {
        guard last != Int32(slot) else {
            links[slot].time = time
            return
        }
        remove(slot)
        insert(slot, at: time)
    }

    /// Takes a slot out.
    mutating func remove(_ slot: Int) {
        let link = links[slot]
        if link.older >= 0 { links[Int(link.older)].newer = link.newer } else { first = link.newer }
        if link.newer >= 0 { links[Int(link.newer)].older = link.older } else { last = link.older }
    }
}
