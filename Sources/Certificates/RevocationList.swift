/// A certificate revocation list (RFC 5280, 5).
public struct RevocationList: Sendable {
    /// The DER encoding.
    public let der: [UInt8]
    /// Who published it.
    public let issuer: DistinguishedName
    let extensions: [Extension]
    let handle: CRLHandle

    /// The list that DER encodes.
    public init(der: [UInt8]) throws(CertificateError) {
        guard let handle = CRLHandle(der: der) else { throw .malformed("OpenSSL cannot read it") }
        self.handle = handle
        self.der = der
        do {
            (issuer, extensions) = try RevocationList.parse(der)
        } catch {
            throw .malformed("its DER is not a revocation list (\(error))")
        }
    }

    /// Every list in a file: PEM, or one in DER.
    public static func lists(contents: [UInt8]) throws(CertificateError) -> [RevocationList] {
        guard PEM.isPEM(contents) else { return [try RevocationList(der: contents)] }
        var lists: [RevocationList] = []
        for block in PEM.blocks(in: contents) where block.label == "X509 CRL" {
            guard let der = block.content else { throw .malformed(block.fault) }
            lists.append(try RevocationList(der: der))
        }
        if lists.isEmpty { throw .malformed("there is no X509 CRL in it") }
        return lists
    }

    private static func parse(
        _ der: [UInt8]
    ) throws(DERError) -> (DistinguishedName, [Extension]) {
        guard let signed = try DERReader.only(der[...]).sequence().first else { throw .truncated }
        var fields = DERReader(signed.content)
        _ = try fields.next(if: DERTag.integer)
        _ = try fields.next(DERTag.sequence)
        let issuer = try DistinguishedName(fields.next(DERTag.sequence))
        var extensions: [Extension] = []
        while !fields.isAtEnd {
            let field = try fields.next()
            guard field.tag == DERTag.context(0, constructed: true) else { continue }
            for element in try DERReader.only(field.content).sequence() {
                extensions.append(try Extension(element))
            }
        }
        return (issuer, extensions)
    }
}
