/// Octets written front to back into memory that someone else owns, a record's data for instance.
///
/// What does not fit is dropped and remembered in `hasOverflowed`, so that a scanner checks once at
/// the end of a record and not after each octet.
public struct OctetWriter: ~Copyable, ~Escapable {
    var octets: MutableSpan<UInt8>

    /// How many octets were written.
    public private(set) var count = 0

    /// Whether something did not fit; what was written is then incomplete.
    public private(set) var hasOverflowed = false

    /// A writer that starts at the first of `octets`.
    @_lifetime(copy octets)
    public init(_ octets: consuming MutableSpan<UInt8>) { self.octets = octets }

    /// What was written.
    public var written: Span<UInt8> {
        @_lifetime(borrow self)
        get { octets.span.extracting(first: count) }
    }

    /// Forgets all that was written after the first `count` octets.
    @_lifetime(self: copy self)
    public mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count, "no more than was written")
        self.count = count
    }

    @_lifetime(self: copy self)
    mutating func hasRoom(for size: Int) -> Bool {
        if octets.count - count >= size { return true }
        hasOverflowed = true
        return false
    }

    /// Appends one octet.
    @_lifetime(self: copy self)
    public mutating func append(_ octet: UInt8) {
        guard hasRoom(for: 1) else { return }
        octets[count] = octet
        count += 1
    }

    /// Appends a 16-bit integer, big-endian.
    @_lifetime(self: copy self)
    public mutating func append(_ value: UInt16) {
        guard hasRoom(for: 2) else { return }
        octets.store(value, at: count)
        count += 2
    }

    /// Appends a 32-bit integer, big-endian.
    @_lifetime(self: copy self)
    public mutating func append(_ value: UInt32) {
        guard hasRoom(for: 4) else { return }
        octets.store(value, at: count)
        count += 4
    }

    /// Appends a 64-bit integer, big-endian.
    @_lifetime(self: copy self)
    public mutating func append(_ value: UInt64) {
        guard hasRoom(for: 8) else { return }
        octets.store(word: value.bigEndian, at: count)
        count += 8
    }

    /// Appends all of `source`.
    @_lifetime(self: copy self)
    public mutating func append(_ source: Span<UInt8>) {
        guard hasRoom(for: source.count) else { return }
        octets.copy(source, at: count)
        count += source.count
    }

    /// Appends an octet that `setOctet(at:to:)` fills in later, and returns where it is.
    @_lifetime(self: copy self)
    mutating func reserveOctet() -> Int {
        append(UInt8(0))
        return count - 1
    }

    /// Replaces an octet that was written; does nothing where it was dropped.
    @_lifetime(self: copy self)
    mutating func setOctet(at offset: Int, to octet: UInt8) {
        guard offset >= 0 && offset < count else { return }
        octets[offset] = octet
    }

    /// Moves room for octets that were stored past the end into what was written.
    @_lifetime(self: copy self)
    mutating func advance(by size: Int) {
        guard hasRoom(for: size) else { return }
        count += size
    }
}
