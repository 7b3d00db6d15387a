/// Subject and issuer names (RFC 5280, 4.1.2.4, 4.1.2.6, 4.2.1.6).
enum SubjectCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().flatMap { index, certificate in
            faults(of: certificate, isLeaf: index == 0).map {
                Finding(.subject, path.element(index), $0, profile: question.profile)
            }
        }
    }

    private static func faults(of certificate: Certificate, isLeaf: Bool) -> [String] {
        var faults: [String] = []
        if certificate.issuer.isEmpty { faults.append("the issuer is empty") }
        if certificate.subject.isEmpty, certificate.isAuthority || !isLeaf {
            faults.append("an authority without a subject")
        }
        let names = certificate.decoded.subjectAlternativeNames
        guard names.value != nil else { return faults }
        if certificate.subject.isEmpty, !names.isCritical {
            faults.append("without a subject, the alternative name must be critical")
        }
        if isLeaf, !certificate.subject.isEmpty, names.isCritical {
            faults.append("with a subject, the alternative name must not be critical")
        }
        return faults
    }
}
