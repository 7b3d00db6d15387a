// The Distinguished Encoding Rules (X.690), as far as certificates need them: definite lengths in
// their shortest form, tag numbers below 31. Anything else is malformed.

/// One element of a DER encoding: a tag and its content octets.
struct DERElement: Equatable {
    /// The identifier octet: class, constructed bit and number.
    let tag: UInt8
    /// The content octets.
    let content: ArraySlice<UInt8>
    /// The identifier, length and content octets.
    let encoding: ArraySlice<UInt8>

    /// The elements that a constructed element holds.
    func elements() throws(DERError) -> [DERElement] {
        var reader = DERReader(content)
        var found: [DERElement] = []
        while !reader.isAtEnd { found.append(try reader.next()) }
        return found
    }

    /// The elements of a SEQUENCE.
    func sequence() throws(DERError) -> [DERElement] {
        guard tag == DERTag.sequence else { throw .unexpectedTag }
        return try elements()
    }
}

/// Why octets are not the DER that was expected.
enum DERError: Error {
    case truncated
    case lengthForm
    case tagForm
    case unexpectedTag
    case value
}

/// Identifier octets of the types that certificates hold.
enum DERTag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    /// The context-specific tag of a number.
    static func context(_ number: UInt8, constructed: Bool = false) -> UInt8 {
        0x80 | (constructed ? 0x20 : 0) | number
    }
}

/// Reads elements one after the other.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { rest = octets }

    var isAtEnd: Bool { rest.isEmpty }

    /// The identifier octet of what comes next, or nil at the end.
    var nextTag: UInt8? { rest.first }

    mutating func next() throws(DERError) -> DERElement {
        let start = rest.startIndex
        guard rest.count >= 2 else { throw .truncated }
        let tag = rest[start]
        guard tag & 0x1F != 0x1F else { throw .tagForm }
        var length = Int(rest[start + 1])
        var contentStart = start + 2
        if length >= 0x80 {
            let octets = length & 0x7F
            guard octets >= 1 && octets <= 4 else { throw .lengthForm }
            guard rest.count >= 2 + octets else { throw .truncated }
            length = rest[contentStart..<contentStart + octets].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 && rest[contentStart] != 0 else { throw .lengthForm }
            contentStart += octets
        }
        guard length <= rest.endIndex - contentStart else { throw .truncated }
        let end = contentStart + length
        let element = DERElement(
            tag: tag,
            content: rest[contentStart..<end],
            encoding: rest[start..<end]
        )
        rest = rest[end...]
        return element
    }

    mutating func next(_ tag: UInt8) throws(DERError) -> DERElement {
        guard nextTag == tag else { throw rest.isEmpty ? .truncated : .unexpectedTag }
        return try next()
    }

    /// The next element if it has `tag`; nil, and nothing is read, if not.
    mutating func next(if tag: UInt8) throws(DERError) -> DERElement? {
        nextTag == tag ? try next() : nil
    }

    /// The one element that `octets` are, with nothing behind it.
    static func only(_ octets: ArraySlice<UInt8>) throws(DERError) -> DERElement {
        var reader = DERReader(octets)
        let element = try reader.next()
        guard reader.isAtEnd else { throw .value }
        return element
    }
}

extension DERElement {
    /// The octets of an INTEGER, two's complement, big-endian, at least one.
    func integer() throws(DERError) -> [UInt8] {
        guard tag == DERTag.integer, !content.isEmpty else { throw .unexpectedTag }
        return Array(content)
    }

    /// An INTEGER that is neither negative nor above 2^31.
    func smallInteger() throws(DERError) -> Int {
        let octets = try integer()
        guard octets.count <= 4, octets[0] < 0x80 else { throw .value }
        return octets.reduce(0) { $0 << 8 | Int($1) }
    }

    func boolean() throws(DERError) -> Bool {
        guard tag == DERTag.boolean, content.count == 1, let octet = content.first else {
            throw .unexpectedTag
        }
        guard octet == 0 || octet == 0xFF else { throw .value }
        return octet == 0xFF
    }

    /// A BIT STRING as numbers of the bits that are set; bit 0 is the first.
    func bits() throws(DERError) -> Set<Int> {
        guard tag == DERTag.bitString, let unused = content.first, unused < 8 else {
            throw .unexpectedTag
        }
        var found: Set<Int> = []
        for (index, octet) in content.dropFirst().enumerated() {
            for bit in 0..<8 where octet & (0x80 >> UInt8(bit)) != 0 {
                found.insert(index * 8 + bit)
            }
        }
        return found
    }
}
