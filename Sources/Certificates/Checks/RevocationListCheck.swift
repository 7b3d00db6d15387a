/// The form of revocation lists that cover the path (RFC 5280, 5.2.3). OpenSSL judges the rest.
enum RevocationListCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        let issuers = Set(path.certificates.map(\.issuer))
        return question.revocationLists.compactMap { list in
            guard issuers.contains(list.issuer) else { return nil }
            let number = list.extensions.first { $0.identifier == .cRLNumber }
            let fault =
                if let number {
                    number.isCritical ? "its CRL number is critical" : ""
                } else {
                    "it has no CRL number"
                }
            if fault.isEmpty { return nil }
            return Finding(
                .revocationListForm,
                .endpoint,
                "\(list.issuer): \(fault)",
                profile: question.profile
            )
        }
    }
}
