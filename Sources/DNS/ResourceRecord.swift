/// Where one resource record's fields stand in a message (RFC 1035, 4.1.3). A view, not a copy.
@frozen
public struct ResourceRecord: BitwiseCopyable, Sendable {
    /// Where the owner name starts.
    public let owner: Int
    /// The TYPE.
    public let type: RecordType
    /// The CLASS; an OPT record has the asker's UDP size here.
    public let `class`: RecordClass
    /// The TTL in seconds, as it stands on the wire.
    public let ttl: UInt32
    /// Where the RDATA starts.
    public let rdata: Int
    /// Where the RDATA and the record end.
    public let end: Int

    /// Where TYPE starts, right behind the owner name.
    @inlinable
    public var fixedFields: Int { rdata &- 10 }

    /// The record at `offset` of a message; names are looked over, pointers are not followed.
    @inlinable
    public init(parsing message: Span<UInt8>, at offset: Int) throws(WireError) {
        let fixed = try ResourceRecord.skipName(in: message, at: offset)
        guard fixed &+ 10 <= message.count else { throw WireError(.truncated, at: fixed) }
        owner = offset
        type = RecordType(rawValue: message.uint16(at: fixed))
        `class` = RecordClass(rawValue: message.uint16(at: fixed &+ 2))
        ttl = message.uint32(at: fixed &+ 4)
        rdata = fixed &+ 10
        end = fixed &+ 10 &+ Int(message.uint16(at: fixed &+ 8))
        guard end <= message.count else { throw WireError(.truncated, at: fixed &+ 8) }
    }

    /// Where the name at `offset` ends in the message, be that a root label or a pointer.
    @inlinable
    public static func skipName(
        in message: Span<UInt8>,
        at offset: Int
    ) throws(WireError) -> Int {
        var position = offset
        while true {
            guard position < message.count else { throw WireError(.truncated, at: position) }
            let length = Int(message[position])
            if length == 0 { return position &+ 1 }
            if length >= 0xC0 {
                guard position &+ 2 <= message.count else {
                    throw WireError(.truncated, at: position)
                }
                return position &+ 2
            }
            guard length <= 63 else { throw WireError(.reservedLabelType, at: position) }
            position &+= length &+ 1
            guard position &- offset < 255 else { throw WireError(.nameTooLong, at: position) }
        }
    }
}
