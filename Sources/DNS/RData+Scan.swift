// Text to octets: one record's data, from a master file's entry.

extension RData {
    /// Writes the data of a record of `type`, uncompressed, from the rest of an entry of `text`.
    ///
    /// `out` must be empty: some fields look back at the ones in front of them.
    /// Reads to the end of the entry, and throws where something is left. Names without a dot at
    /// the end get `origin`, a name in wire format. The generic form `\# length hex` (RFC 3597, 5)
    /// is taken for each type, and must have the format of a type that is known. On a throw what was
    /// written is undefined. Allocates only for service parameters, HIP, WKS and bitmaps.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    public static func scan(
        _ type: RecordType,
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        precondition(out.count == 0, "a record's data start the writer")
        let start = text.position
        guard !type.isMeta else { throw PresentationError(.notZoneData, at: start) }
        if try text.hasMore(), text.startsGenericForm {
            try scanGeneric(type, from: &text, into: &out)
        } else {
            var format = RDataFormat(type)
            var field = format.next()
            while field != .end {
                try scan(field, from: &text, origin: origin, into: &out)
                field = format.next()
            }
        }
        if let extra = try text.next() { throw PresentationError(.surplus, extra) }
        guard !out.hasOverflowed && out.count <= 65535 else {
            throw PresentationError(.dataTooLong, at: start)
        }
    }

    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scan(
        _ field: RDataField,
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        switch field {
        case .end: break
        case .ipv4:
            let token = try text.require(field)
            guard let address = IPAddress.ipv4(scanning: text.octets(of: token)) else {
                throw PresentationError(.malformed(field), token)
            }
            out.append(address)
        case .ipv6:
            let token = try text.require(field)
            guard let address = IPAddress.ipv6(scanning: text.octets(of: token)) else {
                throw PresentationError(.malformed(field), token)
            }
            out.append(address.high)
            out.append(address.low)
        case .name, .plainName:
            try Name.scan(text.require(field), of: text, origin: origin, into: &out)
        case .uint8:
            out.append(UInt8(truncatingIfNeeded: try text.number(field, upTo: 0xFF)))
        case .uint16:
            out.append(UInt16(truncatingIfNeeded: try text.number(field, upTo: 0xFFFF)))
        case .uint32:
            out.append(UInt32(truncatingIfNeeded: try text.number(field, upTo: 0xFFFF_FFFF)))
        case .uint64:
            out.append(try text.number(field, upTo: .max))
        case .ttl:
            let token = try text.require(field)
            guard let seconds = scanTTL(text.octets(of: token)) else {
                throw PresentationError(.malformed(field), token)
            }
            out.append(seconds)
        case .time:
            let token = try text.require(field)
            guard let time = scanTime(text.octets(of: token)) else {
                throw PresentationError(.malformed(field), token)
            }
            out.append(time)
        case .type:
            let token = try text.require(field)
            guard let type = RecordType(scanning: text.octets(of: token)) else {
                throw PresentationError(.unknownType, token)
            }
            out.append(type.rawValue)
        case .algorithm:
            out.append(UInt8(try text.number(field, among: .algorithms, upTo: 0xFF)))
        case .digestType:
            out.append(UInt8(try text.number(field, among: .digestTypes, upTo: 0xFF)))
        case .scheme:
            out.append(UInt8(try text.number(field, among: .schemes, upTo: 0xFF)))
        case .certificateType:
            out.append(try text.number(field, among: .certificateTypes, upTo: 0xFFFF))
        case .string:
            try scanString(text.require(field), of: text, into: &out)
        case .optionalString:
            if let token = try text.next() { try scanString(token, of: text, into: &out) }
        case .strings:
            try scanString(text.require(field), of: text, into: &out)
            while let token = try text.next() { try scanString(token, of: text, into: &out) }
        case .text:
            try scanText(text.require(field), of: text, into: &out)
        case .tag:
            try scanTag(text.require(field), of: text, into: &out)
        case .opaque:
            throw PresentationError(.noTextFormat, at: text.position)
        case .serviceParameters:
            try scanServiceParameters(from: &text, into: &out)
        default:
            try scanEncoded(field, from: &text, origin: origin, into: &out)
        }
    }

    /// `\# length hex…` (RFC 3597, 5).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanGeneric(
        _ type: RecordType,
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let marker = try text.require(.opaque)
        let token = try text.require(.uint16)
        guard let length = text.octets(of: token).decimal(upTo: 65535) else {
            throw PresentationError(.malformed(.uint16), token)
        }
        let start = out.count
        try scanHex(.hex, from: &text, minimum: 0, into: &out)
        guard out.count - start == Int(length) else {
            throw PresentationError(.genericLength, token)
        }
        guard isValid(out.written.extracting(droppingFirst: start), as: type) else {
            throw PresentationError(.genericFormat, marker)
        }
    }
}

// Fields that are one token.
extension RData {
    /// The octets of a token behind a length octet.
    @_lifetime(out: copy out)
    static func scanString(
        _ token: Token,
        of text: borrowing TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let length = out.reserveOctet()
        try scanText(token, of: text, into: &out)
        let size = out.count - length - 1
        guard size <= 255 else { throw PresentationError(.stringTooLong, token) }
        out.setOctet(at: length, to: UInt8(truncatingIfNeeded: size))
    }

    /// The octets of a token, escapes resolved.
    @_lifetime(out: copy out)
    static func scanText(
        _ token: Token,
        of text: borrowing TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let octets = text.octets(of: token)
        guard token.hasEscape else {
            out.append(octets)
            return
        }
        var position = 0
        while position < octets.count {
            let start = position
            guard let octet = unescape(octets, &position) else {
                throw PresentationError(.badEscape, at: token.start + start, length: 1)
            }
            out.append(octet)
        }
    }

    /// Letters and digits behind a length octet.
    @_lifetime(out: copy out)
    private static func scanTag(
        _ token: Token,
        of text: borrowing TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let octets = text.octets(of: token)
        guard octets.count > 0 && octets.count <= 255 && octets.isAlphanumeric else {
            throw PresentationError(.malformed(.tag), token)
        }
        out.append(UInt8(truncatingIfNeeded: octets.count))
        out.append(octets)
    }

    /// Seconds: a number, or numbers with the units w, d, h, m and s; at most 2^32 - 1.
    public static func scanTTL(_ text: Span<UInt8>) -> UInt32? {
        if let seconds = text.decimal(upTo: 0xFFFF_FFFF) { return UInt32(seconds) }
        var total: UInt64 = 0
        var number: UInt64 = 0
        var digits = 0
        for index in 0..<text.count {
            let digit = text[index] &- 0x30
            if digit < 10 {
                number = number * 10 + UInt64(digit)
                digits += 1
                guard number <= 0xFFFF_FFFF else { return nil }
                continue
            }
            guard digits > 0 else { return nil }
            switch asciiLowercased(text[index]) {
            case UInt8(ascii: "w"): total += number * 604_800
            case UInt8(ascii: "d"): total += number * 86_400
            case UInt8(ascii: "h"): total += number * 3_600
            case UInt8(ascii: "m"): total += number * 60
            case UInt8(ascii: "s"): total += number
            default: return nil
            }
            guard total <= 0xFFFF_FFFF else { return nil }
            number = 0
            digits = 0
        }
        return digits == 0 && text.count > 0 ? UInt32(total) : nil
    }

    /// Seconds since 1970 as a number, or as `YYYYMMDDHHmmSS` in UTC (RFC 4034, 3.2).
    static func scanTime(_ text: Span<UInt8>) -> UInt32? {
        guard text.count == 14 else {
            return text.decimal(upTo: 0xFFFF_FFFF).map { UInt32($0) }
        }
        guard let digits = text.decimal(upTo: 99_999_999_999_999) else { return nil }
        let date = Int64(digits / 1_000_000)
        let clock = Int64(digits % 1_000_000)
        let (year, month, day) = (date / 10000, date / 100 % 100, date % 100)
        let (hour, minute, second) = (clock / 10000, clock / 100 % 100, clock % 100)
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: InlineArray<12, Int64> = [
            31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
        ]
        guard
            year >= 1970 && month >= 1 && month <= 12 && day >= 1
                && day <= lengths[Int(month) - 1] && hour < 24 && minute < 60 && second <= 60
        else { return nil }
        // Days since 1970 with the year moved to start in March, so that the leap day ends it.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        return UInt32(exactly: days * 86_400 + hour * 3_600 + minute * 60 + second)
    }
}

extension TextScanner {
    /// The next token, which must be there for `field`.
    @_lifetime(self: copy self)
    mutating func require(_ field: RDataField) throws(PresentationError) -> Token {
        guard let token = try next() else {
            throw PresentationError(.missing(field), at: position)
        }
        return token
    }

    /// A decimal number.
    @_lifetime(self: copy self)
    mutating func number(
        _ field: RDataField,
        upTo maximum: UInt64
    ) throws(PresentationError) -> UInt64 {
        let token = try require(field)
        guard let number = octets(of: token).decimal(upTo: maximum) else {
            throw PresentationError(.malformed(field), token)
        }
        return number
    }

    /// A decimal number, or the name of one.
    @_lifetime(self: copy self)
    mutating func number(
        _ field: RDataField,
        among names: Mnemonics,
        upTo maximum: UInt16
    ) throws(PresentationError) -> UInt16 {
        let token = try require(field)
        let text = octets(of: token)
        if let number = text.decimal(upTo: UInt64(maximum)) { return UInt16(number) }
        guard let number = names.number(of: text) else {
            throw PresentationError(.malformed(field), token)
        }
        return number
    }

    /// Whether `\#` stands here.
    var startsGenericForm: Bool {
        position + 1 < text.count && text[position] == UInt8(ascii: "\\")
            && text[position + 1] == UInt8(ascii: "#")
            && (position + 2 == text.count || text[position + 2] <= 0x20
                || text[position + 2] == UInt8(ascii: ")")
                || text[position + 2] == UInt8(ascii: "(")
                || text[position + 2] == UInt8(ascii: ";"))
    }
}

extension Span where Element == UInt8 {
    /// Whether there are only ASCII letters and digits.
    var isAlphanumeric: Bool {
        for index in 0..<count {
            let octet = self[index]
            guard octet &- 0x30 < 10 || asciiLowercased(octet) &- 0x61 < 26 else { return false }
        }
        return true
    }
}
