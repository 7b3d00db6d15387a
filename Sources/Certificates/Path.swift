/// Certificates from a leaf to an anchor, each signed by the next.
public struct Path: Sendable {
    /// The leaf first, the anchor last; one where the leaf itself is the anchor.
    public let certificates: [Certificate]
    /// Where the anchor was configured; nil where the path reaches none.
    public let anchor: Anchor?
    /// What was presented beside the path.
    let others: [Certificate]

    init(certificates: [Certificate], anchor: Anchor?, presented: [Certificate] = []) {
        self.certificates = certificates
        self.anchor = anchor
        others = presented.filter { !certificates.contains($0) }
    }

    /// The leaf.
    var leaf: Certificate { certificates[0] }

    /// The first expiry on the path.
    public var expiry: Moment { certificates.map(\.notAfter).min() ?? leaf.notAfter }

    func element(_ index: Int) -> Finding.Element {
        .path(index, count: anchor == nil ? certificates.count + 1 : certificates.count)
    }

    /// Every check over this path, in the order of the report.
    func findings(asked question: Question) -> [Finding] {
        let checks: [(Path, Question) -> [Finding]] = [
            OpenSSLCheck.findings,
            AnchorCheck.findings,
            DepthCheck.findings,
            AlternativeNameCheck.findings,
            CommonNameCheck.findings,
            NameConstraintCheck.findings,
            ValidityCheck.findings,
            KeyCheck.findings,
            PinCheck.findings,
            VersionCheck.findings,
            SerialNumberCheck.findings,
            SubjectCheck.findings,
            ExtensionFormCheck.findings,
            BasicConstraintsCheck.findings,
            KeyUsageCheck.findings,
            ExtendedKeyUsageCheck.findings,
            KeyIdentifierCheck.findings,
            RevocationListCheck.findings,
            StapleCheck.findings,
        ]
        return checks.flatMap { $0(self, question) }
    }
}
