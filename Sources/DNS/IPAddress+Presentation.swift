// Addresses as text: strict dotted quads, RFC 4291 in and RFC 5952 out for IPv6.

extension IPAddress {
    /// The address that `text` spells, of either family; nil where it spells none.
    public init?(scanning text: String) { self.init(scanning: Array(text.utf8).span) }

    /// The address that the octets of `text` spell, of either family; nil where they spell none.
    public init?(scanning text: Span<UInt8>) {
        if let quad = IPAddress.ipv4(scanning: text) {
            self.init(ipv4: quad)
        } else if let address = IPAddress.ipv6(scanning: text) {
            self = address
        } else {
            return nil
        }
    }

    /// Four decimal numbers from 0 to 255 without leading zeros, dots between them.
    public static func ipv4(scanning text: Span<UInt8>) -> UInt32? {
        guard text.count >= 7 && text.count <= 15 else { return nil }
        var address: UInt32 = 0
        var number: UInt32 = 0
        var digits = 0
        var dots = 0
        for index in 0..<text.count {
            let digit = text[index] &- 0x30
            if digit < 10 {
                guard digits == 0 || number != 0 else { return nil }
                number = number &* 10 &+ UInt32(digit)
                digits &+= 1
                guard number <= 255 else { return nil }
            } else {
                guard text[index] == UInt8(ascii: "."), digits > 0, dots < 3 else { return nil }
                address = address << 8 | number
                number = 0
                digits = 0
                dots &+= 1
            }
        }
        guard digits > 0 && dots == 3 else { return nil }
        return address << 8 | number
    }

    /// Eight groups of one to four hexadecimal digits, or fewer around one `::`; the last two groups
    /// may be a dotted quad (RFC 4291, 2.2). No zone identifier.
    public static func ipv6(scanning text: Span<UInt8>) -> IPAddress? {
        guard text.count >= 2 && text.count <= 45 else { return nil }
        // `gap` is how many groups stand in front of the `::`.
        var high: UInt64 = 0
        var low: UInt64 = 0
        var groups = 0
        var gap: Int?
        var position = 0
        if text[0] == UInt8(ascii: ":") {
            guard text[1] == UInt8(ascii: ":") else { return nil }
            gap = 0
            position = 2
        }
        while position < text.count {
            guard groups < 8 else { return nil }
            let start = position
            var group: UInt64 = 0
            while position < text.count, let digit = hexadecimalDigit(text[position]) {
                group = group << 4 | UInt64(digit)
                position &+= 1
                guard position &- start <= 4 else { return nil }
            }
            if position < text.count && text[position] == UInt8(ascii: ".") {
                guard groups <= 6, let quad = ipv4(scanning: text.extracting(droppingFirst: start))
                else { return nil }
                high = high << 32 | low >> 32
                low = low << 32 | UInt64(quad)
                groups &+= 2
                break
            }
            guard position > start else { return nil }
            high = high << 16 | low >> 48
            low = low << 16 | group
            groups &+= 1
            guard position < text.count else { break }
            guard text[position] == UInt8(ascii: ":") else { return nil }
            position &+= 1
            guard position < text.count else { return nil }
            if text[position] == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                gap = groups
                position &+= 1
            }
        }
        guard let gap else { return groups == 8 ? IPAddress(high: high, low: low) : nil }
        guard groups < 8 else { return nil }
        // The groups behind the gap stay at the end, those in front of it move to the start.
        let value = UInt128(high) << 64 | UInt128(low)
        let behind = UInt128(16 * (groups - gap))
        let tail = value & ((1 << behind) - 1)
        let head = gap == 0 ? 0 : (value >> behind) << UInt128(128 - 16 * gap)
        let whole = head | tail
        return IPAddress(
            high: UInt64(truncatingIfNeeded: whole >> 64),
            low: UInt64(truncatingIfNeeded: whole)
        )
    }
}

extension IPAddress: CustomStringConvertible {
    /// A dotted quad, or the form of RFC 5952: lower case, the longest run of zero groups as `::`.
    public var description: String {
        var text: [UInt8] = []
        if isIPv4 {
            IPAddress.append(ipv4: UInt32(truncatingIfNeeded: low), to: &text)
        } else {
            appendIPv6(to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends a dotted quad.
    static func append(ipv4: UInt32, to text: inout [UInt8]) {
        for shift in stride(from: 24, through: 0, by: -8) {
            if shift < 24 { text.append(UInt8(ascii: ".")) }
            text += String(ipv4 >> UInt32(shift) & 0xFF).utf8
        }
    }

    /// Appends the IPv6 form; an IPv4-mapped address ends in a dotted quad (RFC 5952, 5).
    func appendIPv6(to text: inout [UInt8]) {
        if isIPv4 {
            text += "::ffff:".utf8
            IPAddress.append(ipv4: UInt32(truncatingIfNeeded: low), to: &text)
            return
        }
        var run = 0..<0
        var start: Int?
        for index in 0...8 {
            if index < 8 && group(index) == 0 {
                start = start ?? index
            } else if let first = start {
                // The first of the longest runs; a single zero group is written out (4.2.2, 4.2.3).
                if index - first > max(run.count, 1) { run = first..<index }
                start = nil
            }
        }
        var index = 0
        while index < 8 {
            if index == run.lowerBound && !run.isEmpty {
                text += "::".utf8
                index = run.upperBound
                continue
            }
            if index > 0 && index != run.upperBound { text.append(UInt8(ascii: ":")) }
            text += String(group(index), radix: 16).utf8
            index += 1
        }
    }

    private func group(_ index: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4)))
    }
}

extension IPPrefix: CustomStringConvertible {
    /// The block that `text` spells: an address, a slash and a length; without a slash one address.
    ///
    /// Nil where it spells none, or where bits behind the length are set.
    public init?(scanning text: String) {
        let octets = Array(text.utf8)
        let slash = octets.firstIndex(of: UInt8(ascii: "/")) ?? octets.count
        guard let address = IPAddress(scanning: octets.span.extracting(first: slash)) else {
            return nil
        }
        let isQuad = !octets[..<slash].contains(UInt8(ascii: ":"))
        var length: UInt64 = 128
        if slash < octets.count {
            let digits = octets.span.extracting(droppingFirst: slash + 1)
            guard let number = digits.decimal(upTo: isQuad ? 32 : 128),
                digits.count == 1 || digits[0] != UInt8(ascii: "0")
            else { return nil }
            length = isQuad ? number + 96 : number
        }
        self.init(address, length: UInt8(length))
        guard self.address == address else { return nil }
    }

    /// The first address, a slash and the length; an IPv4 block counts from its first bit.
    public var description: String {
        address.isIPv4 && length >= 96 ? "\(address)/\(length - 96)" : "\(address)/\(length)"
    }
}

/// The value of a hexadecimal digit.
@inline(__always)
func hexadecimalDigit(_ octet: UInt8) -> UInt8? {
    let digit = octet &- 0x30
    if digit < 10 { return digit }
    let letter = (octet | 0x20) &- 0x61
    return letter < 6 ? letter &+ 10 : nil
}
