// Which types have domain names in their RDATA, and where: what a rewriter must know to take a
// record out of one message and put it into another.

/// Where the domain names of a type's RDATA stand: `count` of them in a row, behind a fixed prefix.
@frozen
public struct RDataNames: BitwiseCopyable, Sendable {
    /// Octets before the first name; `afterStrings` counts before its three character-strings.
    public let prefix: UInt8
    /// How many names follow each other.
    public let count: UInt8
    /// Whether they may be compressed in a message that we write (RFC 3597, 4: RFC 1035's types).
    public let mayCompress: Bool
    /// NAPTR alone: three character-strings stand between the prefix and the name.
    public let afterStrings: Bool

    @inlinable
    init(_ prefix: UInt8, _ count: UInt8, mayCompress: Bool = false, afterStrings: Bool = false) {
        self.prefix = prefix
        self.count = count
        self.mayCompress = mayCompress
        self.afterStrings = afterStrings
    }

    /// The names in the RDATA of `type`; none for types without, and for types that we do not know.
    @inlinable
    public init(of type: RecordType) {
        switch type.rawValue {
        case 2, 3, 4, 5, 7, 8, 9, 12: self.init(0, 1, mayCompress: true)  // NS MD MF CNAME MB MG MR PTR
        case 6, 14: self.init(0, 2, mayCompress: true)  // SOA MINFO
        case 15: self.init(2, 1, mayCompress: true)  // MX
        case 17, 58: self.init(0, 2)  // RP TALINK
        case 18, 21, 36, 64, 65, 107: self.init(2, 1)  // AFSDB RT KX SVCB HTTPS LP
        case 24, 46: self.init(18, 1)  // SIG RRSIG
        case 26: self.init(2, 2)  // PX
        case 30, 39, 47, 249, 250: self.init(0, 1)  // NXT DNAME NSEC TKEY TSIG
        case 33: self.init(6, 1)  // SRV
        case 35: self.init(4, 1, afterStrings: true)  // NAPTR
        default: self.init(0, 0)
        }
    }
}
