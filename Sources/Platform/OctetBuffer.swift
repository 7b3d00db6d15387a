internal import CLinux

/// A run of octets that is allocated once and lent out as spans.
@frozen
@safe
public struct OctetBuffer: ~Copyable {
    // Points to `capacity` octets, zeroed at first, for as long as the buffer lives.
    @usableFromInline
    let base: UnsafeMutablePointer<UInt8>

    /// How many octets there are.
    public let capacity: Int

    /// A buffer of zeros; pages that are never written to take no memory, and a buffer of no octets
    /// takes none at all.
    public init(capacity: Int) {
        // Safe: calloc gives `capacity` zeroed octets that belong to this buffer alone. Nothing is
        // ever read from the address 1: all runs inside an empty buffer are empty.
        let memory =
            capacity > 0
            ? unsafe calloc(capacity, 1) : unsafe UnsafeMutableRawPointer(bitPattern: 1)
        guard let memory = unsafe memory else { preconditionFailure("out of memory") }
        unsafe base = memory.bindMemory(to: UInt8.self, capacity: capacity)
        self.capacity = capacity
    }

    /// The octets of a range, to read; traps outside the buffer.
    @inlinable
    @_lifetime(borrow self)
    public func octets(_ range: Range<Int>) -> Span<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "inside the buffer")
        // Safe: the range is inside, the octets are initialised, the span lives as the borrow does.
        let span = unsafe Span(_unsafeStart: base + range.lowerBound, count: range.count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// The octets from `start` to the end, to write; traps outside the buffer.
    @inlinable
    @_lifetime(&self)
    public mutating func room(from start: Int) -> MutableSpan<UInt8> {
        precondition(start >= 0 && start <= capacity, "inside the buffer")
        // Safe: as above, and the exclusive access to `self` makes the span exclusive.
        let span = unsafe MutableSpan(_unsafeStart: base + start, count: capacity - start)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// Copies octets to `start`; traps where they do not fit.
    public mutating func store(_ octets: Span<UInt8>, at start: Int) {
        precondition(start >= 0 && octets.count <= capacity - start, "room in the buffer")
        // Safe: checked above; a span that someone lent us cannot lie in memory of ours that we
        // have exclusive access to.
        unsafe octets.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe (base + start).update(from: from, count: source.count)
        }
    }

    /// Moves `count` octets from `start` to the beginning.
    public mutating func moveToFront(from start: Int, count: Int) {
        precondition(start >= 0 && count >= 0 && count <= capacity - start, "inside the buffer")
        // Safe: both runs are inside the buffer, and memmove allows them to overlap.
        unsafe memmove(base, base + start, count)
    }

    /// The address of the octet at `start`, for the kernel's vectors; stays put while self lives.
    @unsafe
    func address(at start: Int) -> UnsafeMutableRawPointer {
        precondition(start >= 0 && start <= capacity, "inside the buffer")
        // Safe: inside the buffer, or just behind its end.
        return unsafe UnsafeMutableRawPointer(base + start)
    }

    deinit {
        // Safe: from calloc unless empty, and nobody can reach it any more.
        if capacity > 0 { unsafe free(base) }
    }
}
