/// Why octets are not a well-formed message, and where. Trivial, so that throwing it is cheap.
@frozen
public struct WireError: Error, Equatable {
    /// What is wrong.
    @frozen
    public enum Kind: UInt8, Sendable {
        /// The message ends inside a field.
        case truncated
        /// A label's length octet has one of the reserved forms 01 or 10 (RFC 1035, 4.1.4; RFC 6891, 5).
        case reservedLabelType
        /// A name is longer than 255 octets (RFC 1035, 2.3.4).
        case nameTooLong
        /// A compression pointer where none may be, or one that does not point strictly backwards.
        case badPointer
        /// RDATA's length does not agree with its type's format.
        case badRData
        /// A count in the header does not agree with the sections.
        case badCount
        /// An OPT record is malformed, misplaced or given twice (RFC 6891, 6.1.1).
        case badOPT
        /// The output has no room left.
        case noSpace
    }

    /// What is wrong.
    public let kind: Kind
    /// The offset of the octet at which it was noticed.
    public let offset: Int

    /// An error of a kind at an offset.
    @inlinable
    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}
