// Text of the fields that have parts: service parameters, locations, prefixes, gateways.

extension PresentationWriter {
    mutating func appendCompound(_ field: RDataField, _ octets: Span<UInt8>) -> Bool {
        switch field {
        case .gateway:
            word("\(octets[0])")
            word("\(octets[1])")
            return remote(octets[0], octets.extracting(droppingFirst: 2))
        case .relay:
            word("\(octets[0] >> 7)")
            word("\(octets[0] & 0x7F)")
            return remote(octets[0] & 0x7F, octets.extracting(droppingFirst: 1))
        case .hostIdentity:
            let tagEnd = 4 + Int(octets[0])
            let keyEnd = tagEnd + Int(octets.uint16(at: 2))
            word("\(octets[1])")
            hex(octets.extracting(4..<tagEnd))
            base64(octets.extracting(tagEnd..<keyEnd))
            var position = keyEnd
            while position < octets.count {
                guard let length = try? Name.length(in: octets, at: position),
                    name(octets.extracting(position..<(position + length)))
                else { return false }
                position += length
            }
            return true
        case .a6:
            let length = Int(octets[0])
            let size = (135 - length) / 8
            var bits: UInt128 = 0
            for index in 0..<size { bits = bits << 8 | UInt128(octets[1 + index]) }
            word("\(length)")
            if length < 128 {
                next()
                IPAddress(
                    high: UInt64(truncatingIfNeeded: bits >> 64),
                    low: UInt64(truncatingIfNeeded: bits)
                ).appendIPv6(to: &text)
            }
            return length == 0 || name(octets.extracting(droppingFirst: 1 + size))
        case .services:
            word("\(octets[0])")
            for bit in 0..<(8 * (octets.count - 1))
            where octets[1 + bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
                word("\(bit)")
            }
            return true
        case .oldTypes:
            for bit in 0..<(8 * octets.count)
            where octets[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
                word("\(RecordType(rawValue: UInt16(truncatingIfNeeded: bit)))")
            }
            return octets.count <= 16
        case .atm:
            guard octets[0] <= 1 else { return false }
            word(octets[0] == 1 ? "+" : "")
            for index in 1..<octets.count {
                if octets[0] == 1 {
                    guard octets[index] &- 0x30 < 10 else { return false }
                    text.append(octets[index])
                } else {
                    text += octets[index].hexDigits(isUpper: false)
                }
            }
            return true
        default: return false
        }
    }

    private mutating func remote(_ kind: UInt8, _ octets: Span<UInt8>) -> Bool {
        switch kind {
        case 0: word(".")
        case 1: address(octets, isIPv4: true)
        case 2: address(octets, isIPv4: false)
        default: return name(octets)
        }
        return true
    }

    /// `1:192.0.2.0/24 !2:2001:db8::/32`; false for other families, which have no form.
    mutating func prefixes(_ octets: Span<UInt8>) -> Bool {
        var position = 0
        while position < octets.count {
            let family = octets.uint16(at: position)
            let length = octets[position + 2]
            let isNegated = octets[position + 3] & 0x80 != 0
            let size = Int(octets[position + 3] & 0x7F)
            position += 4
            guard
                family == 1 && size <= 4 && length <= 32
                    || family == 2 && size <= 16 && length <= 128
            else { return false }
            var bits: UInt128 = 0
            for index in 0..<16 {
                bits = bits << 8 | (index < size ? UInt128(octets[position + index]) : 0)
            }
            word("\(isNegated ? "!" : "")\(family):")
            if family == 1 {
                IPAddress.append(ipv4: UInt32(truncatingIfNeeded: bits >> 96), to: &text)
            } else {
                IPAddress(
                    high: UInt64(truncatingIfNeeded: bits >> 64),
                    low: UInt64(truncatingIfNeeded: bits)
                ).appendIPv6(to: &text)
            }
            text += "/\(length)".utf8
            position += size
        }
        return true
    }

    /// Degrees, minutes and seconds; altitude and sizes in metres (RFC 1876, 3).
    mutating func location(_ octets: Span<UInt8>) {
        angle(octets.uint32(at: 4), positive: "N", negative: "S")
        angle(octets.uint32(at: 8), positive: "E", negative: "W")
        metres(Int64(octets.uint32(at: 12)) - 10_000_000)
        for index in 1...3 {
            var size = Int64(octets[index] >> 4)
            for _ in 0..<(octets[index] & 15) { size *= 10 }
            if size >= 100 { word("\(size / 100)m") } else { metres(size) }
        }
    }

    private mutating func angle(_ value: UInt32, positive: String, negative: String) {
        let isNegative = value < 0x8000_0000
        let thousandths = isNegative ? 0x8000_0000 - value : value - 0x8000_0000
        word("\(thousandths / 3_600_000)")
        word("\(thousandths / 60_000 % 60)")
        let seconds = thousandths % 60_000
        word("\(seconds / 1000).\(String(1000 + seconds % 1000).dropFirst())")
        word(isNegative ? negative : positive)
    }

    private mutating func metres(_ centimetres: Int64) {
        let magnitude = centimetres.magnitude
        let fraction = String(100 + magnitude % 100).dropFirst()
        word("\(centimetres < 0 ? "-" : "")\(magnitude / 100).\(fraction)m")
    }

    /// Service parameters as RFC 9460 writes them.
    mutating func parameters(_ octets: Span<UInt8>) -> Bool {
        var position = 0
        while position < octets.count {
            let key = octets.uint16(at: position)
            let end = position + 4 + Int(octets.uint16(at: position + 2))
            word(ServiceKey.name(of: key))
            let value = octets.extracting((position + 4)..<end)
            if !value.isEmpty {
                text.append(UInt8(ascii: "="))
                isAttached = true
                self.value(value, of: key)
                isAttached = false
            }
            position = end
        }
        return true
    }

    private mutating func value(_ octets: Span<UInt8>, of key: UInt16) {
        switch key {
        case ServiceKey.mandatory:
            list(octets, size: 2) { ServiceKey.name(of: $0.uint16(at: 0)) }
        case ServiceKey.port, ServiceKey.tlsSupportedGroups:
            list(octets, size: 2) { "\($0.uint16(at: 0))" }
        case ServiceKey.ipv4Hint:
            list(octets, size: 4) { IPAddress(ipv4: $0.uint32(at: 0)).description }
        case ServiceKey.ipv6Hint:
            list(octets, size: 16) {
                var address: [UInt8] = []
                IPAddress(high: $0.uint64(at: 0), low: $0.uint64(at: 8)).appendIPv6(to: &address)
                return String(decoding: address, as: UTF8.self)
            }
        case ServiceKey.alpn:
            // A comma or a backslash in an item is escaped for the list, then for the string.
            var items: [UInt8] = []
            var position = 0
            while position < octets.count {
                if position > 0 { items.append(UInt8(ascii: ",")) }
                let end = position + 1 + Int(octets[position])
                for index in (position + 1)..<end {
                    if octets[index] == UInt8(ascii: ",") || octets[index] == UInt8(ascii: "\\") {
                        items.append(UInt8(ascii: "\\"))
                    }
                    items.append(octets[index])
                }
                position = end
            }
            quoted(items.span)
        case ServiceKey.ech: base64(octets)
        default: quoted(octets)
        }
    }

    private mutating func list(
        _ octets: Span<UInt8>,
        size: Int,
        _ item: (Span<UInt8>) -> String
    ) {
        for start in stride(from: 0, to: octets.count, by: size) {
            if start > 0 { text.append(UInt8(ascii: ",")) }
            text += item(octets.extracting(start..<(start + size))).utf8
        }
    }
}
