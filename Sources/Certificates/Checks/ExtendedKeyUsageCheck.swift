/// Extended key usage, as far as OpenSSL does not judge it (RFC 5280, 4.2.1.12; Baseline
/// Requirements 7.1.2.7.6, 7.1.2.7.10 and 7.1.2.1.2).
///
/// A leaf without one passes under every profile: RFC 5280 reads its absence as "for anything",
/// and so do the clients but Apple's, whose line in the report says so.
enum ExtendedKeyUsageCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard question.purpose == .server else { return [] }
        var findings: [Finding] = []
        func add(_ index: Int, _ evidence: String) {
            findings.append(
                Finding(
                    .extendedKeyUsageForm,
                    path.element(index),
                    evidence,
                    profile: question.profile
                )
            )
        }
        let usage = path.leaf.decoded.extendedKeyUsage
        if let purposes = usage.value {
            if purposes.isEmpty {
                findings.append(Finding(.extendedKeyUsage, path.element(0), "it lists nothing"))
            } else if path.anchor == nil, !purposes.contains(.serverAuthentication),
                !purposes.contains(.anyExtendedKeyUsage)
            {
                findings.append(Finding(.extendedKeyUsage, path.element(0), "no serverAuth"))
            }
            if purposes.contains(.anyExtendedKeyUsage) {
                add(0, "the leaf may be used for anything")
            }
            if usage.isCritical { add(0, "it is critical") }
        }
        if path.certificates.count > 1, let root = path.anchor?.certificate, root.looksSelfSigned,
            !root.decoded.extendedKeyUsage.isAbsent
        {
            add(path.certificates.count - 1, "the root has one")
        }
        return findings
    }
}
