// Loads and stores of big-endian integers and whole runs of octets.
//
// Span's subscript checks each octet; these check once a run. They are the only place of this
// module that leaves strict memory safety, and each does so right behind its own bounds check.

extension Span where Element == UInt8 {
    /// The 16-bit big-endian integer at `offset`; traps unless two octets are there.
    @inlinable
    public func uint16(at offset: Int) -> UInt16 {
        precondition(offset >= 0 && offset <= count - 2, "two octets at offset")
        // Safe: the precondition keeps the load inside the span.
        return unsafe withUnsafeBytes {
            unsafe UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        }
    }

    /// The 32-bit big-endian integer at `offset`; traps unless four octets are there.
    @inlinable
    public func uint32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= count - 4, "four octets at offset")
        // Safe: the precondition keeps the load inside the span.
        return unsafe withUnsafeBytes {
            unsafe UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
    }

    /// Eight octets at `offset` in the machine's order; traps unless they are there.
    @inlinable
    public func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= count - 8, "eight octets at offset")
        // Safe: the precondition keeps the load inside the span.
        return unsafe withUnsafeBytes {
            unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
    }

    /// Eight octets at `offset` in the machine's order; zeros for those behind the end.
    @inlinable
    @inline(__always)
    public func paddedWord(at offset: Int) -> UInt64 {
        if offset &+ 8 <= count { return word(at: offset) }
        var word: UInt64 = 0
        var position = count
        while position > offset {
            position &-= 1
            word = word &<< 8 | UInt64(self[position])
        }
        return UInt64(littleEndian: word)
    }

    /// Whether both hold the same octets. Complexity: O(count).
    @inlinable
    public func hasSameOctets(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        while offset &+ 8 <= count {
            if word(at: offset) != other.word(at: offset) { return false }
            offset &+= 8
        }
        while offset < count {
            if self[offset] != other[offset] { return false }
            offset &+= 1
        }
        return true
    }
}

extension UInt64 {
    /// Of eight octets in a word those that are in a range of ASCII: 0x80 for each, 0 for others.
    @inlinable
    @inline(__always)
    public func octets(from first: UInt8, through last: UInt8) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let heptets = self & (0x7F &* ones)
        let isAbove = heptets &+ (UInt64(0x7F &- last) &* ones)
        let isFrom = heptets &+ (UInt64(0x80 &- first) &* ones)
        return (isFrom ^ isAbove) & ~self & (0x80 &* ones)
    }
}

extension MutableSpan where Element == UInt8 {
    /// Stores a 16-bit integer at `offset`, big-endian; traps where it does not fit.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func store(_ value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 2, "room for two octets at offset")
        // Safe: the precondition keeps the store inside the span.
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
        }
    }

    /// Stores a 32-bit integer at `offset`, big-endian; traps where it does not fit.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func store(_ value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 4, "room for four octets at offset")
        // Safe: the precondition keeps the store inside the span.
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
        }
    }

    /// Stores eight octets at `offset` in the machine's order; traps where they do not fit.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func store(word: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 8, "room for eight octets at offset")
        // Safe: the precondition keeps the store inside the span.
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
        }
    }

    /// Copies all of `source` to `offset`; traps where it does not fit. The two must not overlap.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func copy(_ source: Span<UInt8>, at offset: Int) {
        precondition(offset >= 0 && source.count <= count - offset, "room for the octets at offset")
        // Safe: the precondition keeps the copy inside both spans, and a MutableSpan is exclusive.
        unsafe withUnsafeMutableBytes { destination in
            unsafe source.withUnsafeBytes { octets in
                guard let from = octets.baseAddress, let to = destination.baseAddress else {
                    return
                }
                unsafe (to + offset).copyMemory(from: from, byteCount: octets.count)
            }
        }
    }
}

extension Array where Element == UInt8 {
    /// Appends all octets of a span at once.
    @inlinable
    public mutating func append(_ octets: Span<UInt8>) {
        // Safe: the buffer is lent for the call, and is not this array's own memory.
        unsafe octets.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
