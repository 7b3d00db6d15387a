// Octets written as digits: hexadecimal, Base64, Base32, and the address forms made of them.

extension RData {
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanEncoded(
        _ field: RDataField,
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        switch field {
        case .hex: try scanHex(field, from: &text, minimum: 1, into: &out)
        case .digest: try scanHex(field, from: &text, minimum: 12, into: &out)
        case .typedDigest: try scanTypedDigest(from: &text, into: &out)
        case .base64: try scanBase64(from: &text, minimum: 1, into: &out)
        case .optionalBase64: try scanBase64(from: &text, minimum: 0, into: &out)
        case .key:
            let hasNoKey = out.count == 4 && out.written[0] & 0xC0 == 0xC0
            try scanBase64(from: &text, minimum: hasNoKey ? 0 : 1, into: &out)
        case .salt: try scanSalt(from: &text, into: &out)
        case .hash: try scanHash(from: &text, into: &out)
        case .types: try scanTypes(from: &text, into: &out)
        case .oldTypes: try scanOldTypes(from: &text, into: &out)
        case .eui48: try scanPairs(field, count: 6, from: &text, into: &out)
        case .eui64: try scanPairs(field, count: 8, from: &text, into: &out)
        case .locator: try scanLocator(from: &text, into: &out)
        case .nsap: try scanNSAP(from: &text, into: &out)
        case .atm: try scanATM(from: &text, into: &out)
        case .gateway: try scanGateway(from: &text, origin: origin, into: &out)
        case .relay: try scanRelay(from: &text, origin: origin, into: &out)
        case .hostIdentity: try scanHostIdentity(from: &text, origin: origin, into: &out)
        case .a6: try scanA6(from: &text, origin: origin, into: &out)
        case .prefixes: try scanPrefixes(from: &text, into: &out)
        case .services: try scanServices(from: &text, into: &out)
        case .location: try scanLocation(from: &text, into: &out)
        default: throw PresentationError(.noTextFormat, at: text.position)
        }
    }

    /// Hexadecimal digits to the end of the entry; blanks may stand anywhere between them.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanHex(
        _ field: RDataField,
        from text: inout TextScanner,
        minimum: Int,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let start = out.count
        var pending: UInt8?
        while let token = try text.next() {
            let digits = text.octets(of: token)
            for index in 0..<digits.count {
                guard let digit = hexadecimalDigit(digits[index]) else {
                    throw PresentationError(.malformed(field), token)
                }
                if let high = pending {
                    out.append(high << 4 | digit)
                    pending = nil
                } else {
                    pending = digit
                }
            }
        }
        guard pending == nil else {
            throw PresentationError(.malformed(field), at: text.position)
        }
        guard out.count - start >= minimum else {
            throw PresentationError(.missing(field), at: text.position)
        }
    }

    /// A digest whose type is the octet in front of it.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanTypedDigest(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        guard try text.hasMore() else {
            throw PresentationError(.missing(.hex), at: text.position)
        }
        let position = text.position
        let start = out.count
        try scanHex(.hex, from: &text, minimum: 1, into: &out)
        let sizes: [UInt8: Int] = [1: 20, 2: 32, 3: 32, 4: 48]
        if start > 0, let size = sizes[out.written[start - 1]], out.count - start != size {
            throw PresentationError(.malformed(.typedDigest), at: position)
        }
    }

    /// Base64 (RFC 4648, 4) to the end of the entry; blanks may stand anywhere in it.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanBase64(
        from text: inout TextScanner,
        minimum: Int,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let start = out.count
        var decoder = Base64Decoder()
        while let token = try text.next() {
            guard decoder.decode(text.octets(of: token), into: &out) else {
                throw PresentationError(.malformed(.base64), token)
            }
        }
        guard decoder.isComplete else {
            throw PresentationError(.malformed(.base64), at: text.position)
        }
        guard out.count - start >= minimum else {
            throw PresentationError(.missing(.base64), at: text.position)
        }
    }

    /// `-`, or hexadecimal digits, behind a length octet.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanSalt(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(.salt)
        let digits = text.octets(of: token)
        if digits.count == 1 && digits[0] == UInt8(ascii: "-") {
            out.append(UInt8(0))
            return
        }
        guard digits.count >= 2 && digits.count <= 510 && digits.count.isMultiple(of: 2) else {
            throw PresentationError(.malformed(.salt), token)
        }
        out.append(UInt8(truncatingIfNeeded: digits.count / 2))
        try scanDigitPairs(.salt, token, of: text, into: &out)
    }

    /// All of a token as pairs of hexadecimal digits.
    @_lifetime(out: copy out)
    static func scanDigitPairs(
        _ field: RDataField,
        _ token: Token,
        of text: borrowing TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let digits = text.octets(of: token)
        guard digits.count.isMultiple(of: 2) else {
            throw PresentationError(.malformed(field), token)
        }
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = hexadecimalDigit(digits[index]),
                let low = hexadecimalDigit(digits[index + 1])
            else { throw PresentationError(.malformed(field), token) }
            out.append(high << 4 | low)
        }
    }

    /// Base32 with the extended hex alphabet, behind a length octet. RFC 5155, 3.3, has it without
    /// padding; the right padding of RFC 4648, 7, says nothing else and is taken.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanHash(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(.hash)
        let padded = text.octets(of: token)
        var digits = padded
        while digits.count > 0, digits[digits.count - 1] == UInt8(ascii: "=") {
            digits = digits.extracting(first: digits.count - 1)
        }
        let size = digits.count * 5 / 8
        let isPadded = digits.count < padded.count
        guard size > 0 && size <= 255,
            !isPadded || padded.count.isMultiple(of: 8) && padded.count - digits.count < 7
        else { throw PresentationError(.malformed(.hash), token) }
        out.append(UInt8(truncatingIfNeeded: size))
        var bits: UInt32 = 0
        var bitCount = 0
        for index in 0..<digits.count {
            let letter = asciiLowercased(digits[index])
            let value = letter &- 0x30 < 10 ? letter &- 0x30 : letter &- 0x61 &+ 10
            guard value < 32 && (letter &- 0x30 < 10 || letter >= 0x61) else {
                throw PresentationError(.malformed(.hash), token)
            }
            bits = bits << 5 | UInt32(value)
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                bits &= (1 << UInt32(bitCount)) - 1
            }
        }
        // What is left must be less than a digit, and zero.
        guard bitCount < 5 && bits == 0 else { throw PresentationError(.malformed(.hash), token) }
    }

    /// Pairs of hexadecimal digits with a hyphen between them (RFC 7043).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanPairs(
        _ field: RDataField,
        count: Int,
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(field)
        let octets = text.octets(of: token)
        guard octets.count == 3 * count - 1 else {
            throw PresentationError(.malformed(field), token)
        }
        for index in stride(from: 0, to: octets.count, by: 3) {
            guard let high = hexadecimalDigit(octets[index]),
                let low = hexadecimalDigit(octets[index + 1]),
                index + 2 == octets.count || octets[index + 2] == UInt8(ascii: "-")
            else { throw PresentationError(.malformed(field), token) }
            out.append(high << 4 | low)
        }
    }

    /// Four groups of one to four hexadecimal digits with a colon between them (RFC 6742, 2.1.2).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanLocator(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(.locator)
        let octets = text.octets(of: token)
        var position = 0
        for group in 0..<4 {
            var value: UInt16 = 0
            let start = position
            while position < octets.count, position - start < 4,
                let digit = hexadecimalDigit(octets[position])
            {
                value = value << 4 | UInt16(digit)
                position += 1
            }
            let isLast = group == 3
            guard position > start, isLast == (position == octets.count),
                isLast || octets[position] == UInt8(ascii: ":")
            else { throw PresentationError(.malformed(.locator), token) }
            out.append(value)
            position += 1
        }
    }

    /// `0x` and pairs of hexadecimal digits, dots anywhere between them (RFC 1706, 7).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanNSAP(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(.nsap)
        let octets = text.octets(of: token)
        guard octets.count >= 4, octets[0] == UInt8(ascii: "0"),
            octets[1] | 0x20 == UInt8(ascii: "x"),
            scanDottedDigits(octets.extracting(droppingFirst: 2), into: &out)
        else { throw PresentationError(.malformed(.nsap), token) }
    }

    /// `+` and an E.164 number's digits, or an AESA as hexadecimal digits; the form is the first octet.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanATM(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(.atm)
        let octets = text.octets(of: token)
        guard octets.count > 1, octets[0] == UInt8(ascii: "+") else {
            out.append(UInt8(0))
            guard scanDottedDigits(octets, into: &out) else {
                throw PresentationError(.malformed(.atm), token)
            }
            return
        }
        out.append(UInt8(1))
        for index in 1..<octets.count where octets[index] != UInt8(ascii: ".") {
            guard octets[index] &- 0x30 < 10 else {
                throw PresentationError(.malformed(.atm), token)
            }
            out.append(octets[index])
        }
    }

    @_lifetime(out: copy out)
    private static func scanDottedDigits(
        _ octets: Span<UInt8>,
        into out: inout OctetWriter
    ) -> Bool {
        let start = out.count
        var pending: UInt8?
        for index in 0..<octets.count where octets[index] != UInt8(ascii: ".") {
            guard let digit = hexadecimalDigit(octets[index]) else { return false }
            if let high = pending {
                out.append(high << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        return pending == nil && out.count > start
    }
}
