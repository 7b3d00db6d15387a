/// Key identifiers (RFC 5280, 4.2.1.1 and 4.2.1.2; Baseline Requirements 7.1.2.1.3). They order
/// the search and identify nobody, so that their absence is a matter of form.
enum KeyIdentifierCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().flatMap { index, certificate in
            let isLast = index > 0 && index == path.certificates.count - 1
            return faults(of: certificate, isLeaf: index == 0, isLast: isLast).map {
                Finding(.keyIdentifier, path.element(index), $0, profile: question.profile)
            }
        }
    }

    private static func faults(of certificate: Certificate, isLeaf: Bool, isLast: Bool) -> [String]
    {
        var faults: [String] = []
        let authority = certificate.decoded.authorityKeyIdentifier
        let subject = certificate.decoded.subjectKeyIdentifier
        if certificate.version == 3 {
            if authority.isAbsent, !certificate.isSelfIssued {
                faults.append("no authority key identifier")
            }
            if subject.isAbsent, !isLeaf || certificate.isAuthority {
                faults.append("an authority has no subject key identifier")
            }
        }
        if authority.isMalformed || subject.isMalformed { faults.append("one does not decode") }
        if authority.isCritical || subject.isCritical { faults.append("one is critical") }
        if let identifier = authority.value {
            if identifier.keyIdentifier == nil {
                faults.append("the authority key identifier has no key identifier")
            }
            if isLast, certificate.isSelfIssued {
                if identifier.namesIssuer || identifier.namesSerialNumber {
                    faults.append("a root names its issuer or serial number")
                }
                if let own = subject.value, let named = identifier.keyIdentifier, own != named {
                    faults.append("a root's two key identifiers differ")
                }
            }
        }
        return faults
    }
}
