// Addresses as names below in-addr.arpa and ip6.arpa (RFC 1035, 3.5; RFC 3596, 2.5).

extension IPAddress {
    /// The address that a reverse-mapping name stands for; nil where labels are missing or wrong.
    ///
    /// The name must be folded. Complexity: O(labels), no allocation.
    public init?(reverseName name: borrowing FoldedName) {
        if name.labelCount == 6, name.ends(with: "in-addr", "arpa") {
            var address: UInt32 = 0
            for label in 0..<4 {
                guard let octet = name.decimalOctet(ofLabel: 3 - label) else { return nil }
                address = address << 8 | UInt32(octet)
            }
            self.init(ipv4: address)
        } else if name.labelCount == 34, name.ends(with: "ip6", "arpa") {
            var halves: (high: UInt64, low: UInt64) = (0, 0)
            for label in 0..<32 {
                guard let nibble = name.hexNibble(ofLabel: 31 - label) else { return nil }
                halves.high = halves.high << 4 | halves.low >> 60
                halves.low = halves.low << 4 | UInt64(nibble)
            }
            self.init(high: halves.high, low: halves.low)
        } else {
            return nil
        }
    }

    /// Whether this is a loopback address (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
    public var isLoopback: Bool {
        isIPv4 ? UInt32(truncatingIfNeeded: low) >> 24 == 127 : high == 0 && low == 1
    }

    /// The reverse-mapping name in presentation format, as in `1.2.0.192.in-addr.arpa`.
    public var reverseName: String {
        let count = isIPv4 ? 4 : 32
        let width = isIPv4 ? 8 : 4
        let labels = (0..<count).map { index in
            let shift = UInt64(index * width % 64)
            let half = index * width < 64 ? low : high
            return String(half >> shift & (1 << UInt64(width) - 1), radix: isIPv4 ? 10 : 16)
        }
        return labels.joined(separator: ".") + (isIPv4 ? ".in-addr.arpa" : ".ip6.arpa")
    }

    /// Whether no public reverse zone can name this address: private, shared, link-local or loopback
    /// space (RFC 1918, 4193, 4291, 5735, 6598; the zones of RFC 6303).
    public var isPrivate: Bool {
        if isIPv4 {
            let address = UInt32(truncatingIfNeeded: low)
            return address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8
                || address >> 24 == 127 || address >> 16 == 0xA9FE || address >> 22 == 0x191
        }
        return high >> 57 == 0x7E || high >> 54 == 0x3FA || high == 0 && low == 1
    }
}

extension FoldedName {
    /// Whether the name's last two labels are `first` and `second`, given in lower case.
    func ends(with first: StaticString, _ second: StaticString) -> Bool {
        labelCount >= 2 && hasLabel(first, at: labelCount - 2)
            && hasLabel(second, at: labelCount - 1)
    }

    /// Whether a label's text is `text`, given in lower case. Allocates nothing.
    public func hasLabel(_ text: StaticString, at label: Int) -> Bool {
        let octets = octets
        let start = start(ofLabel: label)
        guard Int(octets[start]) == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in 0..<text.count {
                // Safe: the index stays below the buffer's own count.
                if unsafe octets[start + 1 + index] != text[index] { return false }
            }
            return true
        }
    }

    fileprivate func decimalOctet(ofLabel label: Int) -> UInt8? {
        let octets = octets
        let start = start(ofLabel: label)
        let length = Int(octets[start])
        guard (1...3).contains(length) else { return nil }
        var value: UInt16 = 0
        for index in 1...length {
            let digit = octets[start + index] &- 0x30
            guard digit < 10, value > 0 || index == 1 else { return nil }
            value = value * 10 + UInt16(digit)
        }
        return UInt8(exactly: value)
    }

    fileprivate func hexNibble(ofLabel label: Int) -> UInt8? {
        let octets = octets
        let start = start(ofLabel: label)
        guard octets[start] == 1 else { return nil }
        let octet = octets[start + 1]
        if octet &- 0x30 < 10 { return octet &- 0x30 }
        return octet &- 0x61 < 6 ? octet &- 0x61 &+ 10 : nil
    }
}
