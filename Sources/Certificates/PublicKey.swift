/// A subject's public key, as far as its strength is concerned.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// What kind of key it is.
    public enum Kind: Hashable, Sendable {
        /// RSA, of so many bits of modulus.
        case rsa(bits: Int)
        /// On an elliptic curve that its object identifier names.
        case curve(OID)
        /// On an elliptic curve spelled out by its parameters.
        case explicitCurve
        /// Ed25519 or Ed448.
        case edwards(OID)
        /// DSA.
        case dsa
        /// Something else.
        case other(OID)
    }

    /// What kind of key it is.
    public let kind: Kind
    /// The SubjectPublicKeyInfo's encoding: what a pin is the digest of (RFC 7469, 2.4).
    public let der: [UInt8]

    init(_ element: DERElement) throws(DERError) {
        der = Array(element.encoding)
        let parts = try element.sequence()
        guard parts.count == 2, parts[1].tag == DERTag.bitString, parts[1].content.first == 0
        else { throw .value }
        let algorithm = try parts[0].sequence()
        guard let identifier = algorithm.first else { throw .value }
        let key = parts[1].content.dropFirst()
        switch try OID(identifier) {
        case .rsaEncryption, .rsaPSS:
            let numbers = try DERReader.only(key).sequence()
            guard numbers.count == 2 else { throw .value }
            let modulus = try numbers[0].integer().drop { $0 == 0 }
            kind = .rsa(bits: modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0))
        case .ecPublicKey:
            if algorithm.count == 2, algorithm[1].tag == DERTag.objectIdentifier {
                kind = .curve(try OID(algorithm[1]))
            } else {
                kind = .explicitCurve
            }
        case .dsa: kind = .dsa
        case let edwards where edwards == .ed25519 || edwards == .ed448: kind = .edwards(edwards)
        case let other: kind = .other(other)
        }
    }

    /// The base64 of SHA-256 of the SubjectPublicKeyInfo, as in `pin-sha256`.
    public var pin: String { base64(sha256(der)) }

    /// `RSA 2048`, `EC P-256`, `Ed25519`.
    public var description: String {
        switch kind {
        case .rsa(let bits): "RSA \(bits)"
        case .curve(let curve): "EC " + (PublicKey.curves[curve.description] ?? curve.description)
        case .explicitCurve: "EC with explicit parameters"
        case .edwards(let curve): curve == .ed25519 ? "Ed25519" : "Ed448"
        case .dsa: "DSA"
        case .other(let identifier): "key of algorithm \(identifier)"
        }
    }

    private static let curves = [
        "1.2.840.10045.3.1.7": "P-256", "1.3.132.0.34": "P-384", "1.3.132.0.35": "P-521",
        "1.3.132.0.33": "P-224", "1.2.840.10045.3.1.1": "P-192", "1.3.132.0.10": "secp256k1",
    ]

    /// The curves that TLS certificates are issued on (P-256, P-384, P-521).
    static let strongCurves: Set<String> = ["1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"]
}
