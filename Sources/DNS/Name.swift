/// A domain name in wire format: each label behind its length octet, the root's empty label last.
///
/// 1 to 255 octets, each label 1 to 63 (RFC 1035, 2.3.4). Labels are octets, not text. The case is
/// kept as given and ignored by comparison (RFC 4343). For zones, configuration and reports; the
/// query path uses `FoldedName`, which allocates nothing.
public struct Name: Sendable {
    /// The wire format, uncompressed.
    public let octets: [UInt8]

    /// The root: one empty label.
    public static let root = Name(octets: [0])

    init(octets: [UInt8]) { self.octets = octets }

    /// The uncompressed name that `wire` starts with.
    public init(parsing wire: Span<UInt8>) throws(WireError) {
        let length = try Name.length(in: wire, at: 0)
        var octets: [UInt8] = []
        octets.reserveCapacity(length)
        for index in 0..<length { octets.append(wire[index]) }
        self.octets = octets
    }

    /// How many octets the uncompressed name at `start` takes, its root label included.
    ///
    /// Throws `truncated`, `nameTooLong`, `badPointer` for a compression pointer, or
    /// `reservedLabelType`. Complexity: O(labels).
    @inlinable
    public static func length(in wire: Span<UInt8>, at start: Int) throws(WireError) -> Int {
        var position = start
        while true {
            guard position >= 0 && position < wire.count else {
                throw WireError(.truncated, at: position)
            }
            let length = Int(wire[position])
            if length == 0 { break }
            guard length <= 63 else {
                throw WireError(length >= 0xC0 ? .badPointer : .reservedLabelType, at: position)
            }
            position &+= length &+ 1
            guard position &- start < 255 else { throw WireError(.nameTooLong, at: position) }
        }
        return position &- start &+ 1
    }

    /// Whether this is the root.
    public var isRoot: Bool { octets.count == 1 }

    /// How many labels there are, the root's not counted.
    public var labelCount: Int {
        var count = 0
        var position = 0
        while octets[position] != 0 {
            position += Int(octets[position]) + 1
            count += 1
        }
        return count
    }

    /// The name without its first label; the root's parent is the root.
    public var parent: Name {
        isRoot ? self : Name(octets: Array(octets[(Int(octets[0]) + 1)...]))
    }

    /// Whether the first label is a single asterisk (RFC 4592, 2.1.1).
    public var isWildcard: Bool {
        octets.count >= 3 && octets[0] == 1 && octets[1] == UInt8(ascii: "*")
    }

    /// The octets with ASCII letters in lower case: equal for names that are the same.
    public var foldedOctets: [UInt8] { octets.map(asciiLowercased) }

    /// `*.` and this name; the name itself where that would pass 255 octets.
    public var wildcardBelow: Name {
        octets.count > 253 ? self : Name(octets: [1, UInt8(ascii: "*")] + octets)
    }

    /// Whether this name is `other` or lies below it.
    public func isWithin(_ other: Name) -> Bool {
        let surplus = octets.count - other.octets.count
        guard surplus >= 0 else { return false }
        var position = 0
        while position < surplus { position += Int(octets[position]) + 1 }
        guard position == surplus else { return false }
        return zip(octets[surplus...], other.octets).allSatisfy {
            asciiLowercased($0) == asciiLowercased($1)
        }
    }

    /// This name with `suffix` behind it, or nil over 255 octets.
    public func appending(_ suffix: Name) -> Name? {
        guard octets.count - 1 + suffix.octets.count <= 255 else { return nil }
        return Name(octets: Array(octets.dropLast()) + suffix.octets)
    }
}

extension Name: Hashable {
    /// Whether both are the same name; the case does not matter (RFC 4343).
    public static func == (a: Name, b: Name) -> Bool {
        a.octets.count == b.octets.count
            && zip(a.octets, b.octets).allSatisfy { asciiLowercased($0) == asciiLowercased($1) }
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        for octet in octets { hasher.combine(asciiLowercased(octet)) }
    }
}

/// An octet with the case of an ASCII letter taken away (RFC 4343).
@inlinable
@inline(__always)
public func asciiLowercased(_ octet: UInt8) -> UInt8 {
    octet &- 0x41 < 26 ? octet | 0x20 : octet
}

extension Name {
    /// The name that `folded` holds, in lower case.
    public init(folded: borrowing FoldedName) {
        let span = folded.octets
        var octets: [UInt8] = []
        octets.reserveCapacity(span.count)
        for index in span.indices { octets.append(span[index]) }
        self.octets = octets
    }
}
