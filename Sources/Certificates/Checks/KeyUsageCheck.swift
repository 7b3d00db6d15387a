/// Key usage (RFC 5280, 4.2.1.3). OpenSSL checks keyCertSign on issuers; the leaf is ours.
enum KeyUsageCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard let usage = path.leaf.decoded.keyUsage.value else { return [] }
        var findings: [Finding] = []
        if !usage.servesTLS {
            findings.append(
                Finding(.keyUsage, path.element(0), "neither signature, encipherment nor agreement")
            )
        }
        if usage.signsCertificates, !path.leaf.isAuthority {
            findings.append(
                Finding(
                    .keyUsageForm,
                    path.element(0),
                    "keyCertSign without CA:TRUE",
                    profile: question.profile
                )
            )
        }
        return findings
    }
}
