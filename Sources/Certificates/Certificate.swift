/// An X.509 certificate: its encoding, and what it says.
///
/// OpenSSL decides whether it parses and verifies its signatures. The fields that the checks read
/// are decoded here from the same octets; what does not decode keeps the certificate out of a path.
/// Equality compares the encoding: two certificates of one serial number and issuer can differ.
public struct Certificate: Sendable, Hashable {
    /// The DER encoding as it was presented.
    public let der: [UInt8]
    /// 1, 2 or 3; other numbers as encoded plus one.
    public let version: Int
    /// The serial number, two's complement, big-endian.
    public let serialNumber: [UInt8]
    /// Who signed it.
    public let issuer: DistinguishedName
    /// Whose key it carries.
    public let subject: DistinguishedName
    /// The first moment at which it is valid.
    public let notBefore: Moment
    /// The last moment at which it is valid; inclusive (RFC 5280, 4.1.2.5).
    public let notAfter: Moment
    /// The subject's key.
    public let publicKey: PublicKey
    /// The algorithm that signed it.
    public let signatureAlgorithm: OID
    /// Whether the signed part names the same algorithm, parameters included.
    let signatureAlgorithmsAgree: Bool
    /// The extensions in their order.
    let extensions: [Extension]
    /// The decoded extensions.
    let decoded: DecodedExtensions
    /// OpenSSL's parsed form.
    let handle: X509Handle

    /// The certificate that DER encodes, with nothing behind it.
    public init(der: [UInt8]) throws(CertificateError) {
        guard let handle = X509Handle(der: der) else { throw .malformed("OpenSSL cannot read it") }
        do {
            try self.init(handle: handle, der: der)
        } catch {
            throw .malformed("its DER is not a certificate (\(error))")
        }
    }

    init(handle: X509Handle, der: [UInt8]) throws(DERError) {
        self.handle = handle
        self.der = der
        var outer = DERReader(try DERReader.only(der[...]).sequenceContent())
        let signed = try outer.next(DERTag.sequence)
        let algorithm = try outer.next(DERTag.sequence)
        _ = try outer.next(DERTag.bitString)
        guard outer.isAtEnd else { throw .value }
        var fields = DERReader(signed.content)
        if let explicit = try fields.next(if: DERTag.context(0, constructed: true)) {
            version = try DERReader.only(explicit.content).smallInteger() + 1
        } else {
            version = 1
        }
        serialNumber = try fields.next(DERTag.integer).integer()
        let innerAlgorithm = try fields.next(DERTag.sequence)
        signatureAlgorithmsAgree = innerAlgorithm.encoding == algorithm.encoding
        guard let identifier = try algorithm.sequence().first else { throw .value }
        signatureAlgorithm = try OID(identifier)
        issuer = try DistinguishedName(fields.next(DERTag.sequence))
        let validity = try fields.next(DERTag.sequence).sequence()
        guard validity.count == 2 else { throw .value }
        notBefore = try Moment(validity[0])
        notAfter = try Moment(validity[1])
        subject = try DistinguishedName(fields.next(DERTag.sequence))
        publicKey = try PublicKey(fields.next(DERTag.sequence))
        _ = try fields.next(if: DERTag.context(1))
        _ = try fields.next(if: DERTag.context(2))
        var extensions: [Extension] = []
        if let explicit = try fields.next(if: DERTag.context(3, constructed: true)) {
            for element in try DERReader.only(explicit.content).sequence() {
                extensions.append(try Extension(element))
            }
        }
        guard fields.isAtEnd else { throw .value }
        self.extensions = extensions
        decoded = DecodedExtensions(extensions)
    }

    /// Whether subject and issuer are the same name (RFC 5280, 3.2).
    public var isSelfIssued: Bool { subject == issuer }

    /// Whether it claims to sign itself. The claim is not a verified signature.
    public var looksSelfSigned: Bool {
        guard isSelfIssued else { return false }
        guard let authority = decoded.authorityKeyIdentifier.value?.keyIdentifier,
            let own = decoded.subjectKeyIdentifier.value
        else { return true }
        return authority == own
    }

    /// SHA-256 of the encoding, lower-case hexadecimal.
    public var fingerprint: String { hexadecimal(sha256(der)) }

    /// The serial number in hexadecimal, an even number of digits.
    public var serialText: String { hexadecimal(serialNumber) }

    /// The names that the subject alternative name extension holds; empty without one.
    public var subjectAlternativeNames: [GeneralName] {
        decoded.subjectAlternativeNames.value ?? []
    }

    /// Whether basic constraints make it a certification authority.
    public var isAuthority: Bool { decoded.basicConstraints.value?.isAuthority == true }

    /// The URLs at which the issuer's certificate is said to be (RFC 5280, 4.2.2.1).
    public var issuerURLs: [String] {
        (decoded.authorityInformationAccess.value ?? []).compactMap {
            guard $0.method == .caIssuers, case .uniformResourceIdentifier(let url) = $0.location
            else { return nil }
            return url
        }
    }

    /// Whether it requires a stapled OCSP response (RFC 7633).
    public var requiresStaple: Bool { decoded.requiresStaple }

    /// Whether both encodings are the same.
    public static func == (a: Certificate, b: Certificate) -> Bool { a.der == b.der }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

/// Why octets are not a certificate.
public enum CertificateError: Error, Equatable {
    /// The reason in words.
    case malformed(String)
}

extension DERElement {
    fileprivate func sequenceContent() throws(DERError) -> ArraySlice<UInt8> {
        guard tag == DERTag.sequence else { throw .unexpectedTag }
        return content
    }
}

extension Certificate {
    /// Whether its signature is over a SHA-1 digest.
    public var hasSHA1Signature: Bool {
        ["1.2.840.113549.1.1.5", "1.2.840.10045.4.1", "1.3.14.3.2.29"].contains(
            signatureAlgorithm.description
        )
    }

    /// Whether the extended key usage lists TLS servers. Without the extension it does not.
    public var isForServers: Bool {
        decoded.extendedKeyUsage.value?.contains(.serverAuthentication) == true
    }
}
