/// Octets that wait: appended at the end, taken from the front.
///
/// Holds no memory until it is used, and gives back what is more than 4 KiB when it runs empty;
/// so that ten thousand quiet connections cost nothing, and a busy one allocates once.
public struct OctetQueue: ~Copyable {
    private var storage: OctetBuffer
    private var start = 0
    private var end = 0

    /// An empty queue.
    public init() { storage = OctetBuffer(capacity: 0) }

    /// How many octets wait.
    public var count: Int { end - start }

    /// Whether none wait.
    public var isEmpty: Bool { start == end }

    /// The octets that wait, the oldest first.
    @_lifetime(borrow self)
    public func octets() -> Span<UInt8> { storage.octets(start..<end) }

    /// Adds octets at the end.
    public mutating func append(_ octets: Span<UInt8>) {
        if octets.count > storage.capacity - end { makeRoom(for: octets.count) }
        storage.store(octets, at: end)
        end += octets.count
    }

    /// Adds a range of a buffer at the end.
    public mutating func append(_ range: Range<Int>, of buffer: borrowing OctetBuffer) {
        append(buffer.octets(range))
    }

    /// Adds the draft of a datagram at the end, behind its length in 16 bits.
    public mutating func appendFramed(
        _ length: Int,
        draftedIn datagrams: borrowing OutboundDatagrams
    ) {
        append(UInt16(length))
        append(datagrams.draft(length))
    }

    /// Moves all octets to the start of a buffer, and gives their number.
    public mutating func take(into buffer: inout OctetBuffer) -> Int {
        let taken = count
        if taken > 0 {
            buffer.store(octets(), at: 0)
            removeAll()
        }
        return taken
    }

    /// Adds a 16-bit big-endian integer at the end.
    public mutating func append(_ value: UInt16) {
        if 2 > storage.capacity - end { makeRoom(for: 2) }
        var room = storage.room(from: end)
        room[0] = UInt8(value >> 8)
        room[1] = UInt8(truncatingIfNeeded: value)
        end += 2
    }

    /// Takes octets from the front; traps when there are not as many.
    public mutating func removeFirst(_ taken: Int) {
        precondition(taken >= 0 && taken <= count, "no more than there are")
        start += taken
        if start == end { removeAll() }
    }

    /// Takes all octets.
    public mutating func removeAll() {
        start = 0
        end = 0
        if storage.capacity > OctetQueue.kept { storage = OctetBuffer(capacity: 0) }
    }

    /// Empties the queue and gives its memory back.
    public mutating func release() {
        start = 0
        end = 0
        if storage.capacity > 0 { storage = OctetBuffer(capacity: 0) }
    }

    private static var kept: Int { 4096 }

    private mutating func makeRoom(for added: Int) {
        let needed = count + added
        if needed <= storage.capacity {
            storage.moveToFront(from: start, count: count)
        } else {
            var larger = OctetBuffer(capacity: max(needed, 2 * storage.capacity, 512))
            larger.store(octets(), at: 0)
            storage = larger
        }
        end -= start
        start = 0
    }
}
