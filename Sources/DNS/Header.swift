/// The twelve octets that open every message (RFC 1035, 4.1.1).
@frozen
public struct Header: BitwiseCopyable, Equatable, Sendable {
    /// How many octets a header takes.
    @inlinable
    public static var size: Int { 12 }

    /// The identifier that a response copies from its query.
    public var id: UInt16
    /// QR, opcode, AA, TC, RD, RA, Z, AD, CD and RCODE.
    public var flags: Flags
    /// QDCOUNT: entries in the question section.
    public var questionCount: UInt16
    /// ANCOUNT: records in the answer section.
    public var answerCount: UInt16
    /// NSCOUNT: records in the authority section.
    public var authorityCount: UInt16
    /// ARCOUNT: records in the additional section.
    public var additionalCount: UInt16

    /// A header with the given fields, and no records unless told.
    @inlinable
    public init(
        id: UInt16,
        flags: Flags,
        questionCount: UInt16 = 0,
        answerCount: UInt16 = 0,
        authorityCount: UInt16 = 0,
        additionalCount: UInt16 = 0
    ) {
        self.id = id
        self.flags = flags
        self.questionCount = questionCount
        self.answerCount = answerCount
        self.authorityCount = authorityCount
        self.additionalCount = additionalCount
    }

    /// The header that opens `message`, or nil under twelve octets.
    @inlinable
    public init?(parsing message: Span<UInt8>) {
        guard message.count >= Header.size else { return nil }
        id = message.uint16(at: 0)
        flags = Flags(rawValue: message.uint16(at: 2))
        questionCount = message.uint16(at: 4)
        answerCount = message.uint16(at: 6)
        authorityCount = message.uint16(at: 8)
        additionalCount = message.uint16(at: 10)
    }

    /// Writes the twelve octets to the start of `message`, which must have room for them.
    @inlinable
    public func write(to message: inout MutableSpan<UInt8>) {
        message.store(id, at: 0)
        message.store(flags.rawValue, at: 2)
        message.store(questionCount, at: 4)
        message.store(answerCount, at: 6)
        message.store(authorityCount, at: 8)
        message.store(additionalCount, at: 10)
    }
}

/// The second 16-bit word of a header.
@frozen
public struct Flags: RawRepresentable, BitwiseCopyable, Equatable, Sendable {
    /// The word as on the wire.
    public var rawValue: UInt16

    /// The word as on the wire.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable
    func has(_ bit: UInt16) -> Bool { rawValue & bit != 0 }

    @inlinable
    mutating func set(_ bit: UInt16, _ on: Bool) {
        if on { rawValue |= bit } else { rawValue &= ~bit }
    }

    /// QR: this is a response.
    @inlinable
    public var isResponse: Bool {
        get { has(0x8000) }
        set { set(0x8000, newValue) }
    }
    /// AA: the responder is an authority for the name.
    @inlinable
    public var isAuthoritative: Bool {
        get { has(0x0400) }
        set { set(0x0400, newValue) }
    }
    /// TC: the message was cut to the transport's size.
    @inlinable
    public var isTruncated: Bool {
        get { has(0x0200) }
        set { set(0x0200, newValue) }
    }
    /// RD: the asker wants recursion.
    @inlinable
    public var wantsRecursion: Bool {
        get { has(0x0100) }
        set { set(0x0100, newValue) }
    }
    /// RA: the responder offers recursion.
    @inlinable
    public var offersRecursion: Bool {
        get { has(0x0080) }
        set { set(0x0080, newValue) }
    }
    /// AD: the data were validated (RFC 4035), or the asker understands the bit (RFC 6840, 5.7).
    @inlinable
    public var isAuthenticData: Bool {
        get { has(0x0020) }
        set { set(0x0020, newValue) }
    }
    /// CD: the asker validates itself (RFC 4035).
    @inlinable
    public var isCheckingDisabled: Bool {
        get { has(0x0010) }
        set { set(0x0010, newValue) }
    }
    /// The kind of query.
    @inlinable
    public var opcode: Opcode {
        get { Opcode(rawValue: UInt8(truncatingIfNeeded: rawValue >> 11) & 0x0F) }
        set { rawValue = rawValue & 0x87FF | UInt16(newValue.rawValue & 0x0F) << 11 }
    }
    /// The lower four bits of the response code.
    @inlinable
    public var responseCode: ResponseCode {
        get { ResponseCode(rawValue: rawValue & 0x000F) }
        set { rawValue = rawValue & 0xFFF0 | newValue.rawValue & 0x000F }
    }
}

/// A message's OPCODE (RFC 1035, 4.1.1). An open set.
@frozen
public struct Opcode: RawRepresentable, BitwiseCopyable, Equatable, Sendable {
    /// The registry's number, four bits.
    public let rawValue: UInt8

    /// The opcode with a registry number.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A standard query.
    public static let query = Opcode(rawValue: 0)
    /// A zone change notification (RFC 1996).
    public static let notify = Opcode(rawValue: 4)
    /// A dynamic update (RFC 2136).
    public static let update = Opcode(rawValue: 5)
}

/// A message's RCODE, with the eight bits that EDNS adds (RFC 6891, 6.1.3). An open set.
@frozen
public struct ResponseCode: RawRepresentable, BitwiseCopyable, Hashable, Sendable {
    /// The registry's number, twelve bits.
    public let rawValue: UInt16

    /// The code with a registry number.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No error.
    public static let noError = ResponseCode(rawValue: 0)
    /// The query could not be read.
    public static let formatError = ResponseCode(rawValue: 1)
    /// The server could not do its work.
    public static let serverFailure = ResponseCode(rawValue: 2)
    /// The name does not exist.
    public static let nxDomain = ResponseCode(rawValue: 3)
    /// This kind of query is not served.
    public static let notImplemented = ResponseCode(rawValue: 4)
    /// Not served to this asker, or not for this name.
    public static let refused = ResponseCode(rawValue: 5)
    /// A name that should not exist does: a DNAME's substitution grew too long (RFC 6672, 2.2).
    public static let yxDomain = ResponseCode(rawValue: 6)
    /// The EDNS version is not supported (RFC 6891).
    public static let badVersion = ResponseCode(rawValue: 16)
    /// The query's cookie is not one that the server gave (RFC 7873).
    public static let badCookie = ResponseCode(rawValue: 23)
}
