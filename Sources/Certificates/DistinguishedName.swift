/// An X.501 distinguished name: of a subject, an issuer or a certification authority.
public struct DistinguishedName: Hashable, Sendable, CustomStringConvertible {
    /// One attribute: a type and its text.
    public struct Attribute: Hashable, Sendable {
        /// What the attribute is.
        public let type: OID
        /// Its value as text; octets that are not text appear as U+FFFD.
        public let text: String
    }

    /// The encoding as it stands in the certificate.
    public let der: [UInt8]
    /// The attributes in the order of the encoding.
    public let attributes: [Attribute]
    /// What equality compares (RFC 5280, 7.1): case and repeated spaces do not count.
    private let canonical: [UInt8]

    /// Whether there are no attributes.
    public var isEmpty: Bool { attributes.isEmpty }

    /// The values of all common names.
    public var commonNames: [String] {
        attributes.filter { $0.type == .commonName }.map(\.text)
    }

    /// The name that DER encodes, or nil.
    public init?(der: [UInt8]) {
        guard let element = try? DERReader.only(der[...]),
            let name = try? DistinguishedName(element)
        else { return nil }
        self = name
    }

    init(_ element: DERElement) throws(DERError) {
        der = Array(element.encoding)
        var attributes: [Attribute] = []
        var canonical: [UInt8] = []
        for relativeName in try element.sequence() {
            guard relativeName.tag == DERTag.set else { throw .unexpectedTag }
            var members: [[UInt8]] = []
            for member in try relativeName.elements() {
                let parts = try member.sequence()
                guard parts.count == 2 else { throw .value }
                let type = try OID(parts[0])
                let text = AttributeText(parts[1])
                attributes.append(Attribute(type: type, text: text.text))
                members.append(Array(parts[0].encoding) + text.canonical)
            }
            // A SET has no order; its members are compared sorted.
            members.sort { $0.lexicographicallyPrecedes($1) }
            canonical.append(UInt8(truncatingIfNeeded: members.count))
            for member in members {
                let count = UInt32(truncatingIfNeeded: member.count)
                canonical += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
                canonical += member
            }
        }
        self.attributes = attributes
        self.canonical = canonical
    }

    /// Whether both are the same name after normalisation.
    public static func == (a: DistinguishedName, b: DistinguishedName) -> Bool {
        a.canonical == b.canonical
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(canonical) }

    /// `CN=www.example.com, O=Example`, as written in the certificate; octets are not escaped.
    public var description: String {
        if isEmpty { return "(empty name)" }
        return attributes.map {
            "\(DistinguishedName.labels[$0.type.description] ?? $0.type.description)=\($0.text)"
        }.joined(separator: ", ")
    }

    private static let labels = [
        "2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C",
        "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.42": "GN",
        "0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "emailAddress",
    ]
}

/// An attribute's value, decoded, and in the form that is compared.
private struct AttributeText {
    let text: String
    let canonical: [UInt8]

    init(_ value: DERElement) {
        switch value.tag {
        case 0x0C, 0x12, 0x13, 0x16, 0x1A:  // UTF8, Numeric, Printable, IA5, Visible
            text = String(decoding: value.content, as: UTF8.self)
            canonical = AttributeText.fold(value.content)
        case 0x14:  // Teletex, read as Latin-1 like everyone does
            text = String(String.UnicodeScalarView(value.content.map { Unicode.Scalar($0) }))
            canonical = AttributeText.fold(Array(text.utf8)[...])
        case 0x1E:  // BMP
            let octets = Array(value.content)
            let units = stride(from: 0, to: octets.count - 1, by: 2).map {
                UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1])
            }
            text = String(decoding: units, as: UTF16.self)
            canonical = AttributeText.fold(Array(text.utf8)[...])
        default:
            text = "#" + hexadecimal(value.encoding)
            canonical = Array(value.encoding)
        }
    }

    /// Lower case in ASCII, no space at the ends, one space for many.
    private static func fold(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        var folded: [UInt8] = [0]
        var pendingSpace = false
        for octet in octets {
            if octet == 0x20 || (0x09...0x0D).contains(octet) {
                pendingSpace = folded.count > 1
                continue
            }
            if pendingSpace { folded.append(0x20) }
            pendingSpace = false
            folded.append((0x41...0x5A).contains(octet) ? octet | 0x20 : octet)
        }
        return folded
    }
}

/// Octets as lower-case hexadecimal digits.
func hexadecimal(_ octets: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for octet in octets {
        text.append(digits[Int(octet >> 4)])
        text.append(digits[Int(octet & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}
