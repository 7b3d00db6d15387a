// Octets to text: as a master file would hold them, and as dig prints them.

extension RData {
    /// The presentation format of uncompressed data of a type.
    ///
    /// In the generic form of RFC 3597 where the type has no other, or the data do not have its
    /// format. Names are absolute.
    public static func text(_ rdata: Span<UInt8>, type: RecordType) -> String {
        var writer = PresentationWriter()
        var format = RDataFormat(type)
        var position = 0
        var field = format.next()
        if field == .opaque || !isValid(rdata, as: type) { return genericText(rdata) }
        while field != .end {
            guard let size = try? size(of: field, in: rdata, at: position, limit: rdata.count),
                writer.append(field, rdata.extracting(position..<(position + size)))
            else { return genericText(rdata) }
            position += size
            field = format.next()
        }
        return String(decoding: writer.text, as: UTF8.self)
    }

    /// `\# length hex` (RFC 3597, 5).
    public static func genericText(_ rdata: Span<UInt8>) -> String {
        var writer = PresentationWriter()
        writer.word("\\#")
        writer.word(String(rdata.count))
        if !rdata.isEmpty { writer.hex(rdata) }
        return String(decoding: writer.text, as: UTF8.self)
    }
}

/// Text that is made of words with a space between them.
struct PresentationWriter {
    var text: [UInt8] = []

    /// Whether the next word belongs to the last one.
    var isAttached = false

    /// Starts a word.
    mutating func next() {
        if !text.isEmpty && !isAttached { text.append(UInt8(ascii: " ")) }
        isAttached = false
    }

    mutating func word(_ word: String) {
        next()
        text += word.utf8
    }

    /// Appends a field's text; false where the octets cannot be written as the field.
    mutating func append(_ field: RDataField, _ octets: Span<UInt8>) -> Bool {
        switch field {
        case .end: break
        case .name, .plainName: return name(octets)
        case .uint8, .digestType: word("\(octets[0])")
        case .uint16: word("\(octets.uint16(at: 0))")
        case .uint32, .ttl: word("\(octets.uint32(at: 0))")
        case .uint64: word("\(octets.uint64(at: 0))")
        case .algorithm: word("\(octets[0])")
        case .time: word(PresentationWriter.date(octets.uint32(at: 0)))
        case .type: word("\(RecordType(rawValue: octets.uint16(at: 0)))")
        case .certificateType:
            let number = octets.uint16(at: 0)
            word(Mnemonics.certificateTypes.name(of: number) ?? "\(number)")
        case .scheme:
            word(Mnemonics.schemes.name(of: UInt16(octets[0])) ?? "\(octets[0])")
        case .ipv4: address(octets, isIPv4: true)
        case .ipv6: address(octets, isIPv4: false)
        case .string, .optionalString, .strings:
            var position = 0
            while position < octets.count {
                let end = position + 1 + Int(octets[position])
                quoted(octets.extracting((position + 1)..<end))
                position = end
            }
        case .text: quoted(octets)
        case .tag:
            next()
            append(octets.extracting(droppingFirst: 1))
        case .hex, .digest, .typedDigest: hex(octets)
        case .base64, .optionalBase64, .key:
            if !octets.isEmpty { base64(octets) }
        case .salt:
            if octets.count == 1 {
                word("-")
            } else {
                hex(octets.extracting(droppingFirst: 1))
            }
        case .hash: base32(octets.extracting(droppingFirst: 1))
        case .types: types(octets)
        case .eui48, .eui64: pairs(octets)
        case .locator:
            let groups = stride(from: 0, to: 8, by: 2).map { octets.uint16(at: $0) }
            word(groups.map { String($0, radix: 16) }.joined(separator: ":"))
        case .nsap:
            word("0x")
            for index in 0..<octets.count { text += octets[index].hexDigits(isUpper: false) }
        case .serviceParameters: return parameters(octets)
        case .location: location(octets)
        case .prefixes: return prefixes(octets)
        case .gateway, .relay, .hostIdentity, .a6, .services, .oldTypes, .atm:
            return appendCompound(field, octets)
        case .opaque: return false
        }
        return true
    }

    /// A name that takes all of `octets`.
    mutating func name(_ octets: Span<UInt8>) -> Bool {
        guard let name = try? Name(parsing: octets), name.octets.count == octets.count else {
            return false
        }
        word(name.description)
        return true
    }

    mutating func append(_ octets: Span<UInt8>) {
        for index in 0..<octets.count { text.append(octets[index]) }
    }

    /// Octets between quotes; a space stands for itself there.
    mutating func quoted(_ octets: Span<UInt8>) {
        next()
        text.append(UInt8(ascii: "\""))
        for index in 0..<octets.count {
            if octets[index] == 0x20 {
                text.append(0x20)
            } else {
                appendEscaped(octets[index], to: &text, special: PresentationWriter.quoteSpecials)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static let quoteSpecials: [UInt8] = Array("\"\\".utf8)

    /// Octets as digits in upper case, as dig prints them.
    mutating func hex(_ octets: Span<UInt8>) {
        next()
        for index in 0..<octets.count { text += octets[index].hexDigits(isUpper: true) }
    }

    /// Octets with a hyphen between them (RFC 7043).
    private mutating func pairs(_ octets: Span<UInt8>) {
        next()
        for index in 0..<octets.count {
            if index > 0 { text.append(UInt8(ascii: "-")) }
            text += octets[index].hexDigits(isUpper: false)
        }
    }

    mutating func address(_ octets: Span<UInt8>, isIPv4: Bool) {
        next()
        if isIPv4 {
            IPAddress.append(ipv4: octets.uint32(at: 0), to: &text)
        } else {
            IPAddress(high: octets.uint64(at: 0), low: octets.uint64(at: 8)).appendIPv6(to: &text)
        }
    }

    mutating func base64(_ octets: Span<UInt8>) {
        next()
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for start in stride(from: 0, to: octets.count, by: 3) {
            let size = min(3, octets.count - start)
            var bits: UInt32 = 0
            for index in 0..<3 {
                bits = bits << 8 | (index < size ? UInt32(octets[start + index]) : 0)
            }
            for index in 0..<4 {
                text.append(
                    index <= size
                        ? digits[Int(bits >> UInt32(18 - 6 * index) & 63)] : UInt8(ascii: "=")
                )
            }
        }
    }

    /// Base32 with the extended hex alphabet, without padding.
    private mutating func base32(_ octets: Span<UInt8>) {
        next()
        var bits: UInt32 = 0
        var count = 0
        for index in 0...octets.count {
            if index < octets.count {
                bits = bits << 8 | UInt32(octets[index])
                count += 8
            } else if count > 0 {
                bits <<= UInt32(5 - count)
                count = 5
            }
            while count >= 5 {
                count -= 5
                let digit = UInt8(truncatingIfNeeded: bits >> UInt32(count) & 31)
                text.append(digit < 10 ? 0x30 + digit : 0x41 + digit - 10)
                bits &= (1 << UInt32(count)) - 1
            }
        }
    }

    private mutating func types(_ octets: Span<UInt8>) {
        var position = 0
        while position < octets.count {
            let window = UInt16(octets[position]) << 8
            let length = Int(octets[position + 1])
            for bit in 0..<(8 * length)
            where octets[position + 2 + bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
                word("\(RecordType(rawValue: window | UInt16(bit)))")
            }
            position += 2 + length
        }
    }

    /// `YYYYMMDDHHmmSS` (RFC 4034, 3.2).
    private static func date(_ time: UInt32) -> String {
        var days = Int(time / 86_400)
        var year = 1970
        while days >= (isLeap(year) ? 366 : 365) {
            days -= isLeap(year) ? 366 : 365
            year += 1
        }
        var month = 0
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while days >= lengths[month] {
            days -= lengths[month]
            month += 1
        }
        let second = Int(time % 86_400)
        let date = (year * 100 + month + 1) * 100 + days + 1
        let clock = (second / 3600 * 100 + second / 60 % 60) * 100 + second % 60
        return String(date) + String(1_000_000 + clock).dropFirst()
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }
}

extension UInt8 {
    func hexDigits(isUpper: Bool) -> [UInt8] {
        [self >> 4, self & 15].map { $0 < 10 ? 0x30 + $0 : (isUpper ? 0x41 : 0x61) + $0 - 10 }
    }
}

extension Span where Element == UInt8 {
    func uint64(at offset: Int) -> UInt64 {
        UInt64(uint32(at: offset)) << 32 | UInt64(uint32(at: offset + 4))
    }
}
