/// A fixed run of octets on the heap, owned: what indexes, caches and buffers keep their octets in.
///
/// All access goes through spans, which check bounds. Together with Octets.swift this is all that
/// is unsafe in this module.
@safe
// Unchecked, for the pointer is not Sendable: this value is the memory's only owner, and who mutates
// it has it exclusively; others share it only while nobody does.
public struct OctetStore: ~Copyable, @unchecked Sendable {
    // Safe: allocated by init for `count` octets, freed by deinit alone, and octets have no invalid
    // value.
    @usableFromInline
    let memory: UnsafeMutableRawPointer
    /// How many octets there are.
    public let count: Int

    /// `count` octets of no particular value; pages that are never written take no memory.
    public init(count: Int) {
        precondition(count >= 0, "a count is not negative")
        self.count = count
        unsafe memory = .allocate(byteCount: max(count, 8), alignment: 64)
    }

    /// `count` zeros.
    public init(zeroed count: Int) {
        self.init(count: count)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(count, 8))
    }

    deinit { unsafe memory.deallocate() }

    /// The octets, to read.
    @inlinable
    public var span: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span<UInt8>(
                _unsafeStart: memory.assumingMemoryBound(to: UInt8.self),
                count: count
            )
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The octets, to write.
    @inlinable
    public var mutableSpan: MutableSpan<UInt8> {
        @_lifetime(&self)
        mutating get {
            let span = unsafe MutableSpan<UInt8>(
                _unsafeStart: memory.assumingMemoryBound(to: UInt8.self),
                count: count
            )
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }

    /// Copies a range of another store to `offset`; traps where it does not fit.
    public mutating func copy(_ other: borrowing OctetStore, _ range: Range<Int>, at offset: Int) {
        var octets = mutableSpan
        octets.copy(other.span.extracting(range), at: offset)
    }

    /// Copies octets to `offset`; traps where they do not fit.
    public mutating func copy(_ source: Span<UInt8>, at offset: Int) {
        var octets = mutableSpan
        octets.copy(source, at: offset)
    }
}
