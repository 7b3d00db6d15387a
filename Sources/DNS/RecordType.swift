/// A resource record's TYPE, or a query's QTYPE (RFC 1035, 3.2.2; IANA "DNS Parameters"). An open set.
@frozen
public struct RecordType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The registry's number.
    public let rawValue: UInt16

    /// The type with a registry number.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable
    init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// A resource record's CLASS, or a query's QCLASS (RFC 1035, 3.2.4).
@frozen
public struct RecordClass: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The registry's number.
    public let rawValue: UInt16

    /// The class with a registry number.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The Internet.
    public static let `in` = RecordClass(rawValue: 1)
    /// Chaosnet, used for `version.bind` and `id.server`.
    public static let chaos = RecordClass(rawValue: 3)
    /// Hesiod.
    public static let hesiod = RecordClass(rawValue: 4)
    /// NONE (RFC 2136).
    public static let none = RecordClass(rawValue: 254)
    /// ANY.
    public static let any = RecordClass(rawValue: 255)
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RecordType {
    public static let a = RecordType(1)
    public static let ns = RecordType(2)
    public static let cname = RecordType(5)
    public static let soa = RecordType(6)
    public static let ptr = RecordType(12)
    public static let mx = RecordType(15)
    public static let txt = RecordType(16)
    public static let aaaa = RecordType(28)
    public static let srv = RecordType(33)
    public static let naptr = RecordType(35)
    public static let dname = RecordType(39)
    public static let opt = RecordType(41)
    public static let ds = RecordType(43)
    public static let rrsig = RecordType(46)
    public static let nsec = RecordType(47)
    public static let dnskey = RecordType(48)
    public static let nsec3 = RecordType(50)
    public static let nsec3param = RecordType(51)
    public static let svcb = RecordType(64)
    public static let https = RecordType(65)
    public static let tsig = RecordType(250)
    public static let any = RecordType(255)
}
