/// Base64 (RFC 4648, 4) in pieces, padding required, no bits set behind the last octet.
struct Base64Decoder {
    private var bits: UInt32 = 0
    private var digits = 0
    private var padding = 0
    private var isFinished = false

    /// Whether what was decoded ends with a whole group.
    var isComplete: Bool { digits == 0 }

    /// Appends what more digits stand for; false where they are not Base64.
    @_lifetime(out: copy out)
    mutating func decode(_ text: Span<UInt8>, into out: inout OctetWriter) -> Bool {
        for index in 0..<text.count {
            let octet = text[index]
            if octet == UInt8(ascii: "=") {
                guard digits >= 2 else { return false }
                padding += 1
                bits <<= 6
            } else {
                guard padding == 0, !isFinished, let value = Base64Decoder.value(of: octet) else {
                    return false
                }
                bits = bits << 6 | UInt32(value)
            }
            digits += 1
            if digits == 4 {
                guard flush(into: &out) else { return false }
            }
        }
        return true
    }

    @_lifetime(out: copy out)
    private mutating func flush(into out: inout OctetWriter) -> Bool {
        guard padding == 0 || bits & (padding == 1 ? 0xFF : 0xFFFF) == 0 else { return false }
        out.append(UInt8(truncatingIfNeeded: bits >> 16))
        if padding < 2 { out.append(UInt8(truncatingIfNeeded: bits >> 8)) }
        if padding < 1 { out.append(UInt8(truncatingIfNeeded: bits)) }
        isFinished = padding > 0
        (bits, digits, padding) = (0, 0, 0)
        return true
    }

    private static func value(of octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): octet - 0x41
        case UInt8(ascii: "a")...UInt8(ascii: "z"): octet - 0x61 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
