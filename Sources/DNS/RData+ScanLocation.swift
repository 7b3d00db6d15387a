// LOC (RFC 1876): degrees, minutes and seconds to thousandths of a second from the equator.

extension RData {
    /// `d [m [s]] N|S  d [m [s]] E|W  altitude[m] [size[m] [horizontal[m] [vertical[m]]]]`.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanLocation(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let latitude = try scanAngle(
            from: &text,
            maximum: 90,
            positive: UInt8(ascii: "n"),
            negative: UInt8(ascii: "s")
        )
        let longitude = try scanAngle(
            from: &text,
            maximum: 180,
            positive: UInt8(ascii: "e"),
            negative: UInt8(ascii: "w")
        )
        let altitude = try text.require(.location)
        guard let height = centimetres(text.octets(of: altitude)),
            height >= -10_000_000 && height <= 4_284_967_295
        else { throw PresentationError(.malformed(.location), altitude) }
        // Defaults of section 3: 1 m, 10 km, 10 m.
        let size = try scanPrecision(from: &text, default: 0x12)
        let horizontal = try scanPrecision(from: &text, default: 0x16)
        let vertical = try scanPrecision(from: &text, default: 0x13)
        out.append(UInt8(0))
        out.append(size)
        out.append(horizontal)
        out.append(vertical)
        out.append(latitude)
        out.append(longitude)
        out.append(UInt32(height + 10_000_000))
    }

    /// An angle as thousandths of a second, 2^31 being zero.
    @_lifetime(text: copy text)
    private static func scanAngle(
        from text: inout TextScanner,
        maximum: UInt64,
        positive: UInt8,
        negative: UInt8
    ) throws(PresentationError) -> UInt32 {
        let first = try text.require(.location)
        guard let degrees = text.octets(of: first).decimal(upTo: maximum) else {
            throw PresentationError(.malformed(.location), first)
        }
        var total = degrees * 3_600_000
        var scale: UInt64 = 60_000
        while true {
            let token = try text.require(.location)
            let octets = text.octets(of: token)
            if octets.count == 1 {
                let letter = asciiLowercased(octets[0])
                if letter == positive || letter == negative {
                    guard total <= maximum * 3_600_000 else {
                        throw PresentationError(.malformed(.location), first)
                    }
                    let offset = UInt32(total)
                    return letter == positive ? 0x8000_0000 + offset : 0x8000_0000 - offset
                }
            }
            switch scale {
            case 60_000:
                guard let minutes = octets.decimal(upTo: 59) else {
                    throw PresentationError(.malformed(.location), token)
                }
                total += minutes * scale
                scale = 1_000
            case 1_000:
                guard let seconds = fixedPoint(octets, digits: 3), seconds < 60_000 else {
                    throw PresentationError(.malformed(.location), token)
                }
                total += seconds
                scale = 0
            default:
                throw PresentationError(.malformed(.location), token)
            }
        }
    }

    /// A size as one digit and a power of ten, in centimetres.
    @_lifetime(text: copy text)
    private static func scanPrecision(
        from text: inout TextScanner,
        default missing: UInt8
    ) throws(PresentationError) -> UInt8 {
        guard let token = try text.next() else { return missing }
        guard var size = centimetres(text.octets(of: token)), size >= 0 && size <= 9_000_000_000
        else { throw PresentationError(.malformed(.location), token) }
        var exponent: UInt8 = 0
        while size >= 10 {
            size /= 10
            exponent += 1
        }
        return UInt8(size) << 4 | exponent
    }

    /// Metres with up to two decimals, and `m` behind them where it is written.
    private static func centimetres(_ text: Span<UInt8>) -> Int64? {
        var digits = text
        if digits.count > 1 && digits[digits.count - 1] | 0x20 == UInt8(ascii: "m") {
            digits = digits.extracting(first: digits.count - 1)
        }
        let isNegative = digits.count > 1 && digits[0] == UInt8(ascii: "-")
        if isNegative { digits = digits.extracting(droppingFirst: 1) }
        guard let value = fixedPoint(digits, digits: 2) else { return nil }
        return isNegative ? -Int64(value) : Int64(value)
    }

    /// A decimal fraction times ten to the power of `digits`; at most that many behind the point.
    private static func fixedPoint(_ text: Span<UInt8>, digits: Int) -> UInt64? {
        var point = text.count
        for index in 0..<text.count where text[index] == UInt8(ascii: ".") {
            point = index
            break
        }
        guard var value = text.extracting(first: point).decimal(upTo: 0xFFFF_FFFF) else {
            return nil
        }
        let decimals = text.extracting(droppingFirst: min(point + 1, text.count))
        guard decimals.count <= digits else { return nil }
        for index in 0..<digits {
            var digit: UInt8 = 0
            if index < decimals.count { digit = decimals[index] &- 0x30 }
            guard digit < 10 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        return value
    }
}
