import DNS

/// The reverse zone of addresses that no public zone names, which a name lies in: those of RFC 6303,
/// and of shared address space (RFC 7793). Allocates nothing.
struct LocalReverseZone {
    /// Whether the name is the zone's own.
    let isTop: Bool

    /// The zone of a name that ends in `in-addr.arpa` or `ip6.arpa`; nil where it is a public one.
    /// Labels in front of the address may be anything (RFC 6763, 11, asks for such).
    init?(_ name: borrowing FoldedName) {
        let labels = name.labelCount - 2
        guard labels >= 1, name.hasLabel("arpa", at: labels + 1) else { return nil }
        let depth: Int?
        if name.hasLabel("in-addr", at: labels) {
            depth = LocalReverseZone.depthIPv4(name, labels)
        } else if name.hasLabel("ip6", at: labels) {
            depth = LocalReverseZone.depthIPv6(name, labels)
        } else {
            return nil
        }
        guard let depth, depth <= labels else { return nil }
        isTop = depth == labels
    }

    /// How many labels of the address the zone has that would hold it.
    private static func depthIPv4(_ name: borrowing FoldedName, _ labels: Int) -> Int? {
        let first = octet(name, labels - 1)
        let second = octet(name, labels - 2)
        let third = octet(name, labels - 3)
        switch (first, second, third) {
        case (0, _, _), (10, _, _), (127, _, _): return 1
        case (169, 254, _), (192, 168, _), (172, 16...31, _), (100, 64...127, _): return 2
        case (192, 0, 2), (198, 51, 100), (203, 0, 113): return 3
        case (255, 255, 255) where octet(name, labels - 4) == 255: return 4
        default: return nil
        }
    }

    private static func depthIPv6(_ name: borrowing FoldedName, _ labels: Int) -> Int? {
        let first = nibble(name, labels - 1)
        let second = nibble(name, labels - 2)
        let third = nibble(name, labels - 3)
        switch (first, second, third) {
        case (0xF, 0xC, _), (0xF, 0xD, _): return 2
        case (0xF, 0xE, 0x8...0xB): return 3
        case (2, 0, 0):
            let isExample =
                nibble(name, labels - 4) == 1 && nibble(name, labels - 5) == 0
                && nibble(name, labels - 6) == 0xD && nibble(name, labels - 7) == 0xB
                && nibble(name, labels - 8) == 8
            return isExample ? 8 : nil
        case (0, 0, 0):
            // The unspecified address and the loopback address.
            guard labels >= 32, nibble(name, labels - 32) <= 1 else { return nil }
            for label in 4...31 where nibble(name, labels - label) != 0 { return nil }
            return 32
        default: return nil
        }
    }

    /// The number from 0 to 255 that a label is; -1 where it is none, or is not there.
    private static func octet(_ name: borrowing FoldedName, _ label: Int) -> Int {
        guard label >= 0 else { return -1 }
        let octets = name.octets
        let start = name.start(ofLabel: label)
        let length = Int(octets[start])
        guard length <= 3, length == 1 || octets[start + 1] != UInt8(ascii: "0") else { return -1 }
        var value = 0
        for index in 1...length {
            let digit = octets[start + index] &- UInt8(ascii: "0")
            guard digit < 10 else { return -1 }
            value = value * 10 + Int(digit)
        }
        return value <= 255 ? value : -1
    }

    /// The hexadecimal digit that a label is; 16 where it is none, or is not there.
    private static func nibble(_ name: borrowing FoldedName, _ label: Int) -> Int {
        guard label >= 0, name.octets[name.start(ofLabel: label)] == 1 else { return 16 }
        let digit = name.firstOctet(ofLabel: label)
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return Int(digit &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return Int(digit &- UInt8(ascii: "a")) + 10
        default: return 16
        }
    }
}
