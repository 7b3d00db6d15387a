/// The name that an endpoint was asked under: what its certificate must be for (RFC 9525, 6).
public enum ReferenceName: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name in A-labels, lower case, without a trailing dot.
    case dns(String)
    /// An IP address. It never matches a DNS name that looks like it.
    case ip(InternetAddress)

    /// The name that `text` spells: an address with or without brackets, or a DNS name.
    ///
    /// A trailing dot is dropped. Nil for an empty name, one with an empty label, one over 253
    /// octets or with an octet that no host name has; U-labels must already be A-labels.
    public init?(_ text: String) {
        var octets = Array(text.utf8)
        if octets.first == 0x5B, octets.last == 0x5D { octets = octets.dropFirst().dropLast() }
        if let address = InternetAddress(String(decoding: octets, as: UTF8.self)) {
            self = .ip(address)
            return
        }
        if octets.last == 0x2E { octets.removeLast() }
        let labels = octets.split(separator: 0x2E, omittingEmptySubsequences: false)
        let isHostName = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.allSatisfy { $0.isHostNameOctet }
        }
        guard isHostName, octets.count <= 253 else { return nil }
        self = .dns(String(decoding: octets.map { $0.lowercased }, as: UTF8.self))
    }

    /// The name as text; IPv6 addresses without brackets.
    public var description: String {
        switch self {
        case .dns(let name): name
        case .ip(let address): address.description
        }
    }
}

extension UInt8 {
    /// A letter, a digit, a hyphen, or the underscore that real hosts have.
    var isHostNameOctet: Bool {
        (0x61...0x7A).contains(self) || (0x41...0x5A).contains(self)
            || (0x30...0x39).contains(self) || self == 0x2D || self == 0x5F
    }

    var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// An IPv4 or IPv6 address as certificates hold it: four or sixteen octets.
public struct InternetAddress: Hashable, Sendable, CustomStringConvertible {
    /// Four or sixteen octets.
    public let octets: [UInt8]

    /// The address of four or sixteen octets; nil for another count.
    public init?(octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
    }

    /// The address that `text` spells (RFC 4291, 2.2; RFC 3986, 3.2.2), or nil.
    public init?(_ text: String) {
        if let octets = InternetAddress.ipv4(text[...]) {
            self.octets = octets
            return
        }
        guard let octets = InternetAddress.ipv6(text) else { return nil }
        self.octets = octets
    }

    /// Whether it has four octets.
    public var isIPv4: Bool { octets.count == 4 }

    private static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var octets: [UInt8] = []
        for part in parts {
            guard part.utf8.count <= 3, part.utf8.count == 1 || part.utf8.first != 0x30,
                let value = decimal(Array(part.utf8)[...]), let octet = UInt8(exactly: value)
            else { return nil }
            octets.append(octet)
        }
        return octets
    }

    private static func ipv6(_ text: String) -> [UInt8]? {
        // At most one "::"; what stands around it are groups of four hexadecimal digits.
        let colons = Array(text.utf8)
        let gaps = zip(colons, colons.dropFirst()).enumerated().filter {
            $0.element == (0x3A, 0x3A)
        }.map(\.offset)
        guard gaps.count <= 1 else { return nil }
        guard let gap = gaps.first else {
            guard let octets = groups(colons[...]), octets.count == 16 else { return nil }
            return octets
        }
        guard let head = groups(colons[..<gap]), let tail = groups(colons[(gap + 2)...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        if text.isEmpty { return [] }
        var octets: [UInt8] = []
        let parts = text.split(separator: 0x3A, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(0x2E) {
                guard let last = ipv4(Substring(decoding: part, as: UTF8.self)) else { return nil }
                octets += last
                continue
            }
            guard (1...4).contains(part.count),
                let value = UInt16(String(decoding: part, as: UTF8.self), radix: 16),
                part.first != 0x2B
            else { return nil }
            octets += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        return octets
    }

    /// Dotted decimal, or RFC 5952 text.
    public var description: String {
        if isIPv4 { return octets.map { String($0) }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map {
            UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1])
        }
        // RFC 5952, 4.2: the first longest run of two or more zero groups becomes "::".
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start >= 2, end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        func text(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        return best.isEmpty
            ? text(0..<8) : text(0..<best.lowerBound) + "::" + text(best.upperBound..<8)
    }
}
