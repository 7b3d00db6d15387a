/// One extension of a certificate or a CRL, undecoded (RFC 5280, 4.1).
struct Extension: Sendable {
    let identifier: OID
    let isCritical: Bool
    /// What the extnValue holds.
    let value: ArraySlice<UInt8>

    init(_ element: DERElement) throws(DERError) {
        guard element.tag == DERTag.sequence else { throw .unexpectedTag }
        var reader = DERReader(element.content)
        identifier = try OID(reader.next(DERTag.objectIdentifier))
        isCritical = try reader.next(if: DERTag.boolean)?.boolean() ?? false
        value = try reader.next(DERTag.octetString).content
        guard reader.isAtEnd else { throw .value }
    }
}

/// An extension after decoding: not there, there and malformed, or its value.
enum Decoded<Value: Sendable>: Sendable {
    case absent
    case malformed
    case present(Value, isCritical: Bool)

    var value: Value? {
        if case .present(let value, _) = self { value } else { nil }
    }
    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }
    var isMalformed: Bool {
        if case .malformed = self { true } else { false }
    }
    var isCritical: Bool {
        if case .present(_, let isCritical) = self { isCritical } else { false }
    }

    init(
        _ identifier: OID,
        in extensions: [Extension],
        _ decode: (DERElement) throws(DERError) -> Value
    ) {
        guard let found = extensions.first(where: { $0.identifier == identifier }) else {
            self = .absent
            return
        }
        do {
            self = .present(try decode(DERReader.only(found.value)), isCritical: found.isCritical)
        } catch {
            self = .malformed
        }
    }
}

/// The extensions that the checks read.
struct DecodedExtensions: Sendable {
    let subjectAlternativeNames: Decoded<[GeneralName]>
    let basicConstraints: Decoded<BasicConstraints>
    let keyUsage: Decoded<KeyUsage>
    let extendedKeyUsage: Decoded<[OID]>
    let nameConstraints: Decoded<NameConstraints>
    let subjectKeyIdentifier: Decoded<[UInt8]>
    let authorityKeyIdentifier: Decoded<AuthorityKeyIdentifier>
    let authorityInformationAccess: Decoded<[AccessDescription]>
    let requiresStaple: Bool

    init(_ extensions: [Extension]) {
        subjectAlternativeNames = Decoded(.subjectAlternativeName, in: extensions) {
            element throws(DERError) in
            guard element.tag == DERTag.sequence else { throw .unexpectedTag }
            return try GeneralName.list(element.content)
        }
        basicConstraints = Decoded(.basicConstraints, in: extensions) {
            element throws(DERError) in try BasicConstraints(element)
        }
        keyUsage = Decoded(.keyUsage, in: extensions) {
            element throws(DERError) in KeyUsage(bits: try element.bits())
        }
        extendedKeyUsage = Decoded(.extendedKeyUsage, in: extensions) {
            element throws(DERError) in
            var purposes: [OID] = []
            for purpose in try element.sequence() { purposes.append(try OID(purpose)) }
            return purposes
        }
        nameConstraints = Decoded(.nameConstraints, in: extensions) {
            element throws(DERError) in try NameConstraints(element)
        }
        subjectKeyIdentifier = Decoded(.subjectKeyIdentifier, in: extensions) {
            element throws(DERError) in
            guard element.tag == DERTag.octetString else { throw .unexpectedTag }
            return Array(element.content)
        }
        authorityKeyIdentifier = Decoded(.authorityKeyIdentifier, in: extensions) {
            element throws(DERError) in try AuthorityKeyIdentifier(element)
        }
        authorityInformationAccess = Decoded(.authorityInformationAccess, in: extensions) {
            element throws(DERError) in
            var found: [AccessDescription] = []
            for description in try element.sequence() {
                found.append(try AccessDescription(description))
            }
            guard !found.isEmpty else { throw .value }
            return found
        }
        let features = Decoded(.tlsFeature, in: extensions) { element throws(DERError) in
            var numbers: [Int] = []
            for number in try element.sequence() { numbers.append(try number.smallInteger()) }
            return numbers
        }
        // status_request and status_request_v2.
        requiresStaple = features.value?.contains { $0 == 5 || $0 == 17 } == true
    }
}

/// RFC 5280, 4.2.1.9.
struct BasicConstraints: Sendable {
    let isAuthority: Bool
    let pathLength: Int?

    init(_ element: DERElement) throws(DERError) {
        guard element.tag == DERTag.sequence else { throw .unexpectedTag }
        var reader = DERReader(element.content)
        isAuthority = try reader.next(if: DERTag.boolean)?.boolean() ?? false
        pathLength = try reader.next(if: DERTag.integer)?.smallInteger()
        guard reader.isAtEnd else { throw .value }
    }
}

/// RFC 5280, 4.2.1.3.
struct KeyUsage: Sendable {
    let bits: Set<Int>

    var signsCertificates: Bool { bits.contains(5) }
    var signsCRLs: Bool { bits.contains(6) }
    /// digitalSignature, keyEncipherment or keyAgreement: what a TLS server's key does.
    var servesTLS: Bool { !bits.isDisjoint(with: [0, 2, 4]) }
}

/// RFC 5280, 4.2.1.1.
struct AuthorityKeyIdentifier: Sendable {
    let keyIdentifier: [UInt8]?
    let namesIssuer: Bool
    let namesSerialNumber: Bool

    init(_ element: DERElement) throws(DERError) {
        guard element.tag == DERTag.sequence else { throw .unexpectedTag }
        var reader = DERReader(element.content)
        keyIdentifier = try reader.next(if: DERTag.context(0)).map { Array($0.content) }
        namesIssuer = try reader.next(if: DERTag.context(1, constructed: true)) != nil
        namesSerialNumber = try reader.next(if: DERTag.context(2)) != nil
        guard reader.isAtEnd else { throw .value }
    }
}

/// RFC 5280, 4.2.2.1.
struct AccessDescription: Sendable {
    let method: OID
    let location: GeneralName

    init(_ element: DERElement) throws(DERError) {
        let parts = try element.sequence()
        guard parts.count == 2 else { throw .value }
        method = try OID(parts[0])
        location = try GeneralName(parts[1])
    }
}
