/// The form of the certificate as a whole: one of each extension, each decodable, one algorithm.
enum ExtensionFormCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().flatMap { index, certificate in
            findings(in: certificate, path.element(index), question)
        }
    }

    private static func findings(
        in certificate: Certificate,
        _ element: Finding.Element,
        _ question: Question
    ) -> [Finding] {
        var findings: [Finding] = []
        var seen: Set<OID> = []
        for one in certificate.extensions where !seen.insert(one.identifier).inserted {
            findings.append(Finding(.duplicateExtension, element, one.identifier.description))
        }
        if !certificate.signatureAlgorithmsAgree {
            findings.append(Finding(.signatureAlgorithm, element, ""))
        }
        let decoded = certificate.decoded
        let malformed = [
            ("subjectAltName", decoded.subjectAlternativeNames.isMalformed),
            ("basicConstraints", decoded.basicConstraints.isMalformed),
            ("keyUsage", decoded.keyUsage.isMalformed),
            ("extKeyUsage", decoded.extendedKeyUsage.isMalformed),
        ]
        for (name, isMalformed) in malformed where isMalformed {
            findings.append(Finding(.malformedExtension, element, name))
        }
        if decoded.nameConstraints.isMalformed {
            // A constraint that cannot be read constrains nothing: that is for nobody to accept.
            findings.append(Finding(.malformedExtension, element, "nameConstraints"))
        }
        let access = decoded.authorityInformationAccess
        if access.isMalformed || access.isCritical {
            let fault = access.isMalformed ? "it does not decode" : "it is critical"
            findings.append(
                Finding(.informationAccess, element, fault, profile: question.profile)
            )
        }
        if certificate.extensions.contains(where: {
            $0.identifier == .policyConstraints && !$0.isCritical
        }) {
            findings.append(Finding(.policyConstraints, element, "", profile: question.profile))
        }
        return findings
    }
}
