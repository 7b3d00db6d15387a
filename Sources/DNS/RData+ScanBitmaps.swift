// Bitmaps of types and services, and the records whose fields depend on each other.

extension RData {
    /// Type mnemonics to the end of the entry, as windows of up to 32 octets (RFC 4034, 4.1.2).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanTypes(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        guard try text.hasMore() else { return }
        var bitmap = [UInt8](repeating: 0, count: 8192)
        while let token = try text.next() {
            guard let type = RecordType(scanning: text.octets(of: token)) else {
                throw PresentationError(.unknownType, token)
            }
            bitmap[Int(type.rawValue) / 8] |= 0x80 >> UInt8(type.rawValue % 8)
        }
        for window in 0..<256 {
            let octets = bitmap[(window * 32)..<(window * 32 + 32)]
            guard let last = octets.lastIndex(where: { $0 != 0 }) else { continue }
            out.append(UInt8(window))
            out.append(UInt8(last - window * 32 + 1))
            for index in (window * 32)...last { out.append(bitmap[index]) }
        }
    }

    /// Mnemonics of types under 128 to the end of the entry, as one bitmap (RFC 2535, 5.2).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanOldTypes(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        var bitmap = [UInt8](repeating: 0, count: 16)
        while let token = try text.next() {
            guard let type = RecordType(scanning: text.octets(of: token)), type.rawValue < 128
            else { throw PresentationError(.unknownType, token) }
            bitmap[Int(type.rawValue) / 8] |= 0x80 >> UInt8(type.rawValue % 8)
        }
        appendTrimmed(bitmap, to: &out)
    }

    /// A protocol, and services to the end of the entry (RFC 1035, 3.4.2).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanServices(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        out.append(UInt8(try text.number(.services, among: .protocols, upTo: 0xFF)))
        var bitmap = [UInt8](repeating: 0, count: 8192)
        while try text.hasMore() {
            let port = try text.number(.services, among: .services, upTo: 0xFFFF)
            bitmap[Int(port) / 8] |= 0x80 >> UInt8(port % 8)
        }
        appendTrimmed(bitmap, to: &out)
    }

    @_lifetime(out: copy out)
    private static func appendTrimmed(_ bitmap: [UInt8], to out: inout OctetWriter) {
        let size = (bitmap.lastIndex { $0 != 0 } ?? -1) + 1
        out.append(bitmap.span.extracting(first: size))
    }

    /// Address prefixes to the end of the entry: `1:192.0.2.0/24 !2:2001:db8::/32` (RFC 3123, 5).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanPrefixes(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        while let token = try text.next() {
            var octets = text.octets(of: token)
            let isNegated = octets.count > 0 && octets[0] == UInt8(ascii: "!")
            if isNegated { octets = octets.extracting(droppingFirst: 1) }
            guard octets.count >= 2, octets[1] == UInt8(ascii: ":"),
                octets[0] == UInt8(ascii: "1") || octets[0] == UInt8(ascii: "2"),
                appendPrefix(
                    octets.extracting(droppingFirst: 2),
                    isIPv4: octets[0] == UInt8(ascii: "1"),
                    isNegated: isNegated,
                    to: &out
                )
            else { throw PresentationError(.malformed(.prefixes), token) }
        }
    }

    @_lifetime(out: copy out)
    private static func appendPrefix(
        _ text: Span<UInt8>,
        isIPv4: Bool,
        isNegated: Bool,
        to out: inout OctetWriter
    ) -> Bool {
        var slash = text.count
        for index in 0..<text.count where text[index] == UInt8(ascii: "/") { slash = index }
        guard slash < text.count,
            let length = text.extracting(droppingFirst: slash + 1).decimal(upTo: isIPv4 ? 32 : 128)
        else { return false }
        let spelling = text.extracting(first: slash)
        var bits: UInt128
        if isIPv4 {
            guard let quad = IPAddress.ipv4(scanning: spelling) else { return false }
            bits = UInt128(quad) << 96
        } else {
            guard let address = IPAddress.ipv6(scanning: spelling) else { return false }
            bits = UInt128(address.high) << 64 | UInt128(address.low)
        }
        // Bits behind the prefix would make two spellings of one block.
        guard bits << UInt128(length) == 0 else { return false }
        out.append(UInt16(isIPv4 ? 1 : 2))
        out.append(UInt8(length))
        let size = (128 - bits.trailingZeroBitCount + 7) / 8
        out.append(UInt8(size) | (isNegated ? 0x80 : 0))
        for _ in 0..<size {
            out.append(UInt8(truncatingIfNeeded: bits >> 120))
            bits <<= 8
        }
        return true
    }

    /// Gateway type, algorithm, gateway (RFC 4025, 3.1).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanGateway(
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let kind = try text.number(.gateway, upTo: 3)
        out.append(UInt8(kind))
        out.append(UInt8(try text.number(.uint8, upTo: 255)))
        try scanRemote(UInt8(kind), .gateway, from: &text, origin: origin, into: &out)
    }

    /// Discovery bit, relay type, relay (RFC 8777, 4.3).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanRelay(
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let discovery = try text.number(.relay, upTo: 1)
        let kind = try text.number(.relay, upTo: 3)
        out.append(UInt8(discovery << 7 | kind))
        try scanRemote(UInt8(kind), .relay, from: &text, origin: origin, into: &out)
    }

    /// Nothing (written as a dot), an IPv4 address, an IPv6 address or a name.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    private static func scanRemote(
        _ kind: UInt8,
        _ field: RDataField,
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let token = try text.require(field)
        let octets = text.octets(of: token)
        switch kind {
        case 0:
            guard octets.count == 1 && octets[0] == UInt8(ascii: ".") else {
                throw PresentationError(.malformed(field), token)
            }
        case 1:
            guard let address = IPAddress.ipv4(scanning: octets) else {
                throw PresentationError(.malformed(.ipv4), token)
            }
            out.append(address)
        case 2:
            guard let address = IPAddress.ipv6(scanning: octets) else {
                throw PresentationError(.malformed(.ipv6), token)
            }
            out.append(address.high)
            out.append(address.low)
        default:
            try Name.scan(token, of: text, origin: origin, into: &out)
        }
    }

    /// Algorithm, tag, key, rendezvous servers; on the wire the lengths come first (RFC 8005, 5).
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanHostIdentity(
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let algorithm = try text.number(.uint8, upTo: 255)
        let tag = try text.require(.hex)
        let key = try text.require(.base64)
        let tagSize = (tag.end - tag.start) / 2
        guard tagSize > 0 && tagSize <= 255 else { throw PresentationError(.malformed(.hex), tag) }
        out.append(UInt8(tagSize))
        out.append(UInt8(algorithm))
        let keyLength = out.count
        out.append(UInt16(0))
        try scanDigitPairs(.hex, tag, of: text, into: &out)
        let keyStart = out.count
        var decoder = Base64Decoder()
        guard decoder.decode(text.octets(of: key), into: &out), decoder.isComplete,
            out.count > keyStart, out.count - keyStart <= 0xFFFF
        else { throw PresentationError(.malformed(.base64), key) }
        out.setOctet(at: keyLength, to: UInt8((out.count - keyStart) >> 8))
        out.setOctet(at: keyLength + 1, to: UInt8((out.count - keyStart) & 0xFF))
        while let token = try text.next() {
            try Name.scan(token, of: text, origin: origin, into: &out)
        }
    }

    /// Prefix length, the address's bits behind it, and the prefix's name where there is one.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanA6(
        from text: inout TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let length = Int(try text.number(.uint8, upTo: 128))
        out.append(UInt8(length))
        if length < 128 {
            let token = try text.require(.ipv6)
            guard let address = IPAddress.ipv6(scanning: text.octets(of: token)) else {
                throw PresentationError(.malformed(.ipv6), token)
            }
            let bits = UInt128(address.high) << 64 | UInt128(address.low)
            let suffix = bits & (UInt128.max >> UInt128(length))
            for index in (length / 8)..<16 {
                out.append(UInt8(truncatingIfNeeded: suffix >> UInt128(120 - 8 * index)))
            }
        }
        if length > 0 {
            try Name.scan(text.require(.plainName), of: text, origin: origin, into: &out)
        }
    }
}
