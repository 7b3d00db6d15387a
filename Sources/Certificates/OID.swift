/// An object identifier (X.660): the registry's number of an algorithm, an extension or a purpose.
public struct OID: Hashable, Sendable, CustomStringConvertible {
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

extension OID {
    // Extensions (RFC 5280, 4.2).
    static let subjectKeyIdentifier = OID("2.5.29.14")
    static let keyUsage = OID("2.5.29.15")
    static let subjectAlternativeName = OID("2.5.29.17")
    static let basicConstraints = OID("2.5.29.19")
    static let cRLNumber = OID("2.5.29.20")
    static let nameConstraints = OID("2.5.29.30")
    static let certificatePolicies = OID("2.5.29.32")
    static let authorityKeyIdentifier = OID("2.5.29.35")
    static let policyConstraints = OID("2.5.29.36")
    static let extendedKeyUsage = OID("2.5.29.37")
    static let authorityInformationAccess = OID("1.3.6.1.5.5.7.1.1")
    /// RFC 7633: which TLS features the server must offer.
    static let tlsFeature = OID("1.3.6.1.5.5.7.1.24")
    /// RFC 6962, 3.3.
    static let signedCertificateTimestamps = OID("1.3.6.1.4.1.11129.2.4.2")

    // Extended key usages.
    static let anyExtendedKeyUsage = OID("2.5.29.37.0")
    static let serverAuthentication = OID("1.3.6.1.5.5.7.3.1")

    // Public key algorithms and named curves.
    static let rsaEncryption = OID("1.2.840.113549.1.1.1")
    static let rsaPSS = OID("1.2.840.113549.1.1.10")
    static let dsa = OID("1.2.840.10040.4.1")
    static let ecPublicKey = OID("1.2.840.10045.2.1")
    static let ed25519 = OID("1.3.101.112")
    static let ed448 = OID("1.3.101.113")

    // Attributes of distinguished names.
    static let commonName = OID("2.5.4.3")

    // Access methods.
    static let caIssuers = OID("1.3.6.1.5.5.7.48.2")
    static let ocsp = OID("1.3.6.1.5.5.7.48.1")
}
