/// Basic constraints (RFC 5280, 4.2.1.9): on authorities critical and true, on the leaf not true.
enum BasicConstraintsCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().compactMap { index, certificate in
            let element = path.element(index)
            let constraints = certificate.decoded.basicConstraints
            if index == 0 {
                guard constraints.value?.isAuthority == true else { return nil }
                return Finding(.authorityAsLeaf, element, "CA:TRUE", profile: question.profile)
            }
            let isAnchor = index == path.certificates.count - 1
            if constraints.isAbsent, !isAnchor, certificate.version == 3 {
                return Finding(.notAnAuthority, element, "it has no basic constraints")
            }
            let fault =
                if constraints.isAbsent {
                    "an authority has none"
                } else if constraints.value != nil, !constraints.isCritical {
                    "they are not critical"
                } else if constraints.value?.pathLength != nil,
                    certificate.decoded.keyUsage.value?.signsCertificates == false
                {
                    "a path length without the usage keyCertSign"
                } else {
                    ""
                }
            if fault.isEmpty { return nil }
            return Finding(.basicConstraints, element, fault, profile: question.profile)
        }
    }
}
