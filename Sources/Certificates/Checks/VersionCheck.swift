/// Below version 3 a certificate cannot say what it is for (RFC 5280, 4.1.2.1), so that any such
/// leaf could serve as an authority and the reverse.
enum VersionCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().compactMap { index, certificate in
            guard certificate.version != 3 else { return nil }
            let evidence = "version \(certificate.version)"
            let isAnchor = path.anchor != nil && index == path.certificates.count - 1
            return Finding(
                isAnchor && certificate.extensions.isEmpty ? .anchorVersion : .version,
                path.element(index),
                evidence,
                profile: question.profile
            )
        }
    }
}
