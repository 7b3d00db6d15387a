/// One name of a subject alternative name, a name constraint or an access description
/// (RFC 5280, 4.2.1.6).
public enum GeneralName: Hashable, Sendable {
    /// A DNS name, as the octets say it.
    case dnsName(String)
    /// Four or sixteen octets; twice as many in a name constraint.
    case ipAddress([UInt8])
    /// A mailbox.
    case rfc822Name(String)
    /// A URI.
    case uniformResourceIdentifier(String)
    /// A distinguished name.
    case directoryName(DistinguishedName)
    /// Any other kind, with its tag number and encoding.
    case other(kind: UInt8, [UInt8])

    init(_ element: DERElement) throws(DERError) {
        switch element.tag {
        case DERTag.context(1): self = .rfc822Name(GeneralName.text(element.content))
        case DERTag.context(2): self = .dnsName(GeneralName.text(element.content))
        case DERTag.context(4, constructed: true):
            self = .directoryName(try DistinguishedName(DERReader.only(element.content)))
        case DERTag.context(6):
            self = .uniformResourceIdentifier(GeneralName.text(element.content))
        case DERTag.context(7): self = .ipAddress(Array(element.content))
        default:
            guard element.tag & 0xC0 == 0x80, element.tag & 0x1F <= 8 else { throw .unexpectedTag }
            self = .other(kind: element.tag & 0x1F, Array(element.encoding))
        }
    }

    static func list(_ content: ArraySlice<UInt8>) throws(DERError) -> [GeneralName] {
        var reader = DERReader(content)
        var names: [GeneralName] = []
        while !reader.isAtEnd { names.append(try GeneralName(reader.next())) }
        return names
    }

    /// One character for one octet, so that no two encodings give one text.
    private static func text(_ octets: ArraySlice<UInt8>) -> String {
        if octets.allSatisfy({ $0 < 0x80 }) { return String(decoding: octets, as: UTF8.self) }
        return String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }
}

extension GeneralName: CustomStringConvertible {
    /// `DNS:www.example.com`, `IP:192.0.2.1`; octets are not escaped.
    public var description: String {
        switch self {
        case .dnsName(let name): "DNS:" + name
        case .ipAddress(let octets):
            "IP:" + (InternetAddress(octets: octets)?.description ?? hexadecimal(octets))
        case .rfc822Name(let mailbox): "email:" + mailbox
        case .uniformResourceIdentifier(let uri): "URI:" + uri
        case .directoryName(let name): "DirName:" + name.description
        case .other(let kind, let encoding): "other(\(kind)):" + hexadecimal(encoding.prefix(32))
        }
    }
}

/// Name constraints (RFC 5280, 4.2.1.10).
struct NameConstraints: Sendable {
    /// Nil where the field is absent, which is not the same as empty.
    let permitted: [GeneralName]?
    let excluded: [GeneralName]?

    init(_ element: DERElement) throws(DERError) {
        guard element.tag == DERTag.sequence else { throw .unexpectedTag }
        var reader = DERReader(element.content)
        let first = try reader.next(if: DERTag.context(0, constructed: true))
        let second = try reader.next(if: DERTag.context(1, constructed: true))
        guard reader.isAtEnd else { throw .value }
        permitted = try first.map { element throws(DERError) in
            try NameConstraints.subtrees(element)
        }
        excluded = try second.map { element throws(DERError) in
            try NameConstraints.subtrees(element)
        }
    }

    private static func subtrees(_ element: DERElement) throws(DERError) -> [GeneralName] {
        var names: [GeneralName] = []
        for subtree in try element.elements() {
            // minimum and maximum must be their defaults, which DER leaves out.
            let parts = try subtree.sequence()
            guard parts.count == 1 else { throw .value }
            names.append(try GeneralName(parts[0]))
        }
        return names
    }
}
