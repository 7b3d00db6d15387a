// Octets as they come: whether they have their type's format, and without compression.

extension RData {
    /// Copies a record's data out of a message, names in it uncompressed, and returns where it ends.
    ///
    /// `range` is the RDATA in `message`; the copy starts at `offset` of `out`. Names of each type
    /// that is known are expanded, whether or not it may be compressed; data of unknown types are
    /// copied as they are (RFC 3597, 4). What the walk needs must fit: addresses have their size,
    /// character-strings and names end inside the data, and nothing is left. Throws `badRData`,
    /// what `Name.decompress` throws, or `noSpace`. Allocates nothing. Complexity: O(octets).
    @_lifetime(out: copy out)
    public static func decompress(
        _ type: RecordType,
        in message: Span<UInt8>,
        range: Range<Int>,
        into out: inout MutableSpan<UInt8>,
        at offset: Int
    ) throws(WireError) -> Int {
        guard range.lowerBound >= 0 && range.upperBound <= message.count else {
            throw WireError(.truncated, at: message.count)
        }
        var position = range.lowerBound
        var end = offset
        // `pending` is where octets start that were walked over and not yet copied.
        var pending = position
        var format = RDataFormat(type)
        var field = format.next()
        while field != .end {
            if field == .name || field == .plainName {
                end = try copy(message, pending..<position, into: &out, at: end)
                position = try Name.decompress(
                    in: message,
                    at: position,
                    limit: range.upperBound,
                    into: &out,
                    end: &end
                )
                pending = position
            } else {
                let size = try size(of: field, in: message, at: position, limit: range.upperBound)
                position = position &+ size
            }
            field = format.next()
        }
        guard position == range.upperBound else { throw WireError(.badRData, at: position) }
        return try copy(message, pending..<position, into: &out, at: end)
    }

    @_lifetime(out: copy out)
    private static func copy(
        _ message: Span<UInt8>,
        _ range: Range<Int>,
        into out: inout MutableSpan<UInt8>,
        at offset: Int
    ) throws(WireError) -> Int {
        guard offset >= 0 && range.count <= out.count &- offset else {
            throw WireError(.noSpace, at: range.lowerBound)
        }
        out.copy(message.extracting(range), at: offset)
        return offset &+ range.count
    }

    /// How many octets a field takes that holds no name, or that holds one never compressed.
    static func size(
        of field: RDataField,
        in message: Span<UInt8>,
        at position: Int,
        limit: Int
    ) throws(WireError) -> Int {
        let room = limit &- position
        var size: Int
        switch field {
        case .end: size = 0
        case .name, .plainName:
            size = try Name.length(in: message.extracting(first: limit), at: position)
        case .uint8, .algorithm, .digestType, .scheme: size = 1
        case .uint16, .type, .certificateType: size = 2
        case .uint32, .ttl, .time, .ipv4: size = 4
        case .eui48: size = 6
        case .uint64, .locator, .eui64: size = 8
        case .ipv6, .location: size = 16
        case .string, .salt, .hash, .tag:
            guard room > 0 else { throw WireError(.badRData, at: position) }
            size = 1 &+ Int(message[position])
        case .optionalString:
            size = room > 0 ? 1 &+ Int(message[position]) : 0
        case .strings:
            guard room > 0 else { throw WireError(.badRData, at: position) }
            size = 0
            while size < room { size = size &+ 1 &+ Int(message[position &+ size]) }
        case .serviceParameters:
            size = 0
            while size < room {
                guard room &- size >= 4 else { throw WireError(.badRData, at: position) }
                size = size &+ 4 &+ Int(message.uint16(at: position &+ size &+ 2))
            }
        case .prefixes:
            size = 0
            while size < room {
                guard room &- size >= 4 else { throw WireError(.badRData, at: position) }
                size = size &+ 4 &+ Int(message[position &+ size &+ 3] & 0x7F)
            }
        case .types:
            size = 0
            while size < room {
                guard room &- size >= 2 else { throw WireError(.badRData, at: position) }
                size = size &+ 2 &+ Int(message[position &+ size &+ 1])
            }
        case .gateway, .relay, .hostIdentity, .a6:
            size = try compoundSize(of: field, in: message, at: position, limit: limit)
        case .hex, .typedDigest, .base64:
            guard room > 0 else { throw WireError(.badRData, at: position) }
            size = room
        case .text, .digest, .optionalBase64, .key, .oldTypes, .services, .nsap, .atm, .opaque:
            size = room
        }
        guard size <= room else { throw WireError(.badRData, at: position) }
        return size
    }

    /// The size of a field whose parts depend on each other. Names in these are never compressed.
    private static func compoundSize(
        of field: RDataField,
        in message: Span<UInt8>,
        at position: Int,
        limit: Int
    ) throws(WireError) -> Int {
        let room = limit &- position
        guard room > 0 else { throw WireError(.badRData, at: position) }
        var size: Int
        var kind = message[position] & 0x7F
        switch field {
        case .hostIdentity:
            guard room >= 4 else { throw WireError(.badRData, at: position) }
            size = 4 &+ Int(message[position]) &+ Int(message.uint16(at: position &+ 2))
            guard size <= room else { throw WireError(.badRData, at: position) }
            while size < room {
                size =
                    size
                    &+ (try Name.length(in: message.extracting(first: limit), at: position &+ size))
            }
            return size
        case .a6:
            let length = Int(message[position])
            guard length <= 128 else { throw WireError(.badRData, at: position) }
            size = 1 &+ (135 &- length) / 8
            kind = length > 0 ? 3 : 0
        case .gateway:
            size = 2
            kind = message[position]
        default: size = 1
        }
        guard size <= room else { throw WireError(.badRData, at: position) }
        switch kind {
        case 0: return size
        case 1: return size &+ 4
        case 2: return size &+ 16
        case 3:
            return size
                &+ (try Name.length(in: message.extracting(first: limit), at: position &+ size))
        default: throw WireError(.badRData, at: position)
        }
    }

    /// Whether uncompressed data have the format of a type; anything does where it is not known.
    ///
    /// Stricter than what `decompress` asks of upstream: also the values of service parameters,
    /// the order of type bitmaps and the ranges of a location.
    public static func isValid(_ rdata: Span<UInt8>, as type: RecordType) -> Bool {
        guard rdata.count <= 65535 else { return false }
        var position = 0
        var format = RDataFormat(type)
        var field = format.next()
        while field != .end {
            guard
                let size = try? size(of: field, in: rdata, at: position, limit: rdata.count),
                isValid(rdata.extracting(position..<(position + size)), as: field)
            else { return false }
            position += size
            field = format.next()
        }
        return position == rdata.count
    }

    private static func isValid(_ octets: Span<UInt8>, as field: RDataField) -> Bool {
        switch field {
        case .serviceParameters: return areValidParameters(octets)
        case .tag: return octets.count > 1 && octets.extracting(droppingFirst: 1).isAlphanumeric
        case .hash: return octets.count > 1
        case .nsap: return octets.count > 0
        case .atm: return octets.count > 1
        case .services: return octets.count > 0 && octets.count <= 8193
        case .digest: return octets.count >= 12
        case .types:
            var last = -1
            var position = 0
            while position < octets.count {
                let length = Int(octets[position + 1])
                guard Int(octets[position]) > last, length >= 1 && length <= 32,
                    octets[position + 1 + length] != 0
                else { return false }
                last = Int(octets[position])
                position += 2 + length
            }
            return true
        case .location:
            guard octets[0] == 0 else { return false }
            for index in 1...3 where octets[index] >> 4 > 9 || octets[index] & 15 > 9 {
                return false
            }
            let reach = { (angle: UInt32) in angle > 1 << 31 ? angle - 1 << 31 : 1 << 31 - angle }
            return reach(octets.uint32(at: 4)) <= 90 * 3_600_000
                && reach(octets.uint32(at: 8)) <= 180 * 3_600_000
        default: return true
        }
    }
}
