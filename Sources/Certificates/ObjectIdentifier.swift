/// An object identifier (X.660): the registry's number of an algorithm, an extension or a purpose.
public struct ObjectIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// Dotted decimal, as in `2.5.29.17`.
    public let description: String

    /// The identifier that dotted decimal spells; not checked.
    public init(_ dotted: String) { description = dotted }

    init(_ element: DERElement) throws(DERError) {
        guard element.tag == DERTag.objectIdentifier, let last = element.content.last,
            last < 0x80
        else { throw .unexpectedTag }
        var arcs: [UInt64] = []
        var value: UInt64 = 0
        for octet in element.content {
            // 2^56 is far above any registered arc; what is longer is refused, not wrapped.
            guard value < 1 << 49 else { throw .value }
            value = value << 7 | UInt64(octet & 0x7F)
            if octet < 0x80 {
                if arcs.isEmpty {
                    arcs = [min(value / 40, 2), value - 40 * min(value / 40, 2)]
                } else {
                    arcs.append(value)
                }
                value = 0
            }
        }
        description = arcs.map(String.init).joined(separator: ".")
    }
}

extension ObjectIdentifier {
    // Extensions (RFC 5280, 4.2).
    static let subjectKeyIdentifier = ObjectIdentifier("2.5.29.14")
    static let keyUsage = ObjectIdentifier("2.5.29.15")
    static let subjectAlternativeName = ObjectIdentifier("2.5.29.17")
    static let basicConstraints = ObjectIdentifier("2.5.29.19")
    static let cRLNumber = ObjectIdentifier("2.5.29.20")
    static let nameConstraints = ObjectIdentifier("2.5.29.30")
    static let certificatePolicies = ObjectIdentifier("2.5.29.32")
    static let authorityKeyIdentifier = ObjectIdentifier("2.5.29.35")
    static let policyConstraints = ObjectIdentifier("2.5.29.36")
    static let extendedKeyUsage = ObjectIdentifier("2.5.29.37")
    static let authorityInformationAccess = ObjectIdentifier("1.3.6.1.5.5.7.1.1")
    /// RFC 7633: which TLS features the server must offer.
    static let tlsFeature = ObjectIdentifier("1.3.6.1.5.5.7.1.24")
    /// RFC 6962, 3.3.
    static let signedCertificateTimestamps = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")

    // Extended key usages.
    static let anyExtendedKeyUsage = ObjectIdentifier("2.5.29.37.0")
    static let serverAuthentication = ObjectIdentifier("1.3.6.1.5.5.7.3.1")

    // Public key algorithms and named curves.
    static let rsaEncryption = ObjectIdentifier("1.2.840.113549.1.1.1")
    static let rsaPSS = ObjectIdentifier("1.2.840.113549.1.1.10")
    static let dsa = ObjectIdentifier("1.2.840.10040.4.1")
    static let ecPublicKey = ObjectIdentifier("1.2.840.10045.2.1")
    static let ed25519 = ObjectIdentifier("1.3.101.112")
    static let ed448 = ObjectIdentifier("1.3.101.113")

    // Attributes of distinguished names.
    static let commonName = ObjectIdentifier("2.5.4.3")

    // Access methods.
    static let caIssuers = ObjectIdentifier("1.3.6.1.5.5.7.48.2")
    static let ocsp = ObjectIdentifier("1.3.6.1.5.5.7.48.1")
}
