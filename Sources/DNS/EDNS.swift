/// What an OPT record says (RFC 6891): the asker's limits, its DO bit, and where its options stand.
@frozen
public struct EDNS: BitwiseCopyable, Sendable {
    /// How many octets of response the asker can take over UDP.
    public var udpSize: UInt16
    /// The upper eight bits of the response code.
    public var extendedResponseCode: UInt8
    /// The version; we speak 0.
    public var version: UInt8
    /// DO: the asker wants DNSSEC records (RFC 3225).
    public var wantsDNSSEC: Bool
    /// Where the options start in the message.
    public var optionsStart: Int
    /// Where the options end in the message.
    public var optionsEnd: Int

    /// How many octets an OPT record without options takes.
    @inlinable
    public static var emptySize: Int { 11 }

    /// The OPT record whose fixed part (behind its root owner name and TYPE) is at `offset`.
    ///
    /// Its RDATA must end where `end` says, and its options must fill it.
    public init(parsing message: Span<UInt8>, at offset: Int, end: Int) throws(WireError) {
        guard offset &+ 8 <= end, end <= message.count else {
            throw WireError(.truncated, at: offset)
        }
        udpSize = message.uint16(at: offset)
        extendedResponseCode = message[offset &+ 2]
        version = message[offset &+ 3]
        wantsDNSSEC = message[offset &+ 4] & 0x80 != 0
        optionsStart = offset &+ 8
        optionsEnd = end
        var position = optionsStart
        while position < end {
            guard position &+ 4 <= end else { throw WireError(.badOPT, at: position) }
            position &+= 4 &+ Int(message.uint16(at: position &+ 2))
        }
        guard position == end else { throw WireError(.badOPT, at: position) }
    }

    /// Where the payload of the first option with a code stands in the message, or nil.
    public func payload(of code: OptionCode, in message: Span<UInt8>) -> Range<Int>? {
        var position = optionsStart
        while position < optionsEnd {
            let length = Int(message.uint16(at: position &+ 2))
            if message.uint16(at: position) == code.rawValue {
                return (position &+ 4)..<(position &+ 4 &+ length)
            }
            position &+= 4 &+ length
        }
        return nil
    }
}

/// An EDNS option's code (IANA "DNS EDNS0 Option Codes"). An open set.
@frozen
public struct OptionCode: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The registry's number.
    public let rawValue: UInt16

    /// The option with a registry number.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Name server identifier (RFC 5001).
    public static let nsid = OptionCode(rawValue: 3)
    /// Client subnet (RFC 7871).
    public static let clientSubnet = OptionCode(rawValue: 8)
    /// Cookie (RFC 7873).
    public static let cookie = OptionCode(rawValue: 10)
    /// Padding (RFC 7830).
    public static let padding = OptionCode(rawValue: 12)
    /// Extended DNS Error (RFC 8914).
    public static let extendedError = OptionCode(rawValue: 15)
}

/// An Extended DNS Error's INFO-CODE (RFC 8914, 4). An open set.
@frozen
public struct ExtendedError: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The registry's number.
    public let rawValue: UInt16

    /// The error with a registry number.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// None of the others.
    public static let other = ExtendedError(rawValue: 0)
    /// The answer is past its TTL (RFC 8767).
    public static let staleAnswer = ExtendedError(rawValue: 3)
    /// The operator decided this answer.
    public static let forgedAnswer = ExtendedError(rawValue: 4)
    /// A failure that was remembered.
    public static let cachedError = ExtendedError(rawValue: 13)
    /// The asker is not served here.
    public static let prohibited = ExtendedError(rawValue: 18)
    /// The server has no authority for the name, and does not recurse.
    public static let notAuthoritative = ExtendedError(rawValue: 20)
    /// The name or type is not served here.
    public static let notSupported = ExtendedError(rawValue: 21)
    /// No server that was asked gave an answer.
    public static let noReachableAuthority = ExtendedError(rawValue: 22)
    /// A server could not be reached over the network.
    public static let networkError = ExtendedError(rawValue: 23)
}
