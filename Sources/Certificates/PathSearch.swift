/// Finds every path from a leaf to an anchor, depth first, most likely issuers first.
///
/// Invariants: a link is followed only if the issuer's key made the signature; no subject with one
/// key comes twice in a path, so that cross-signed loops end; at most `budget` signatures are
/// checked and at most `stepLimit` links are looked at, however the chain is made.
struct PathSearch {
    /// Signature checks in one search. The longest honest search known needs a third of it.
    static let budget = 100
    /// Links looked at in one search, those whose signature is known already included.
    static let stepLimit = 5_000

    /// Why the search did not go on from a certificate.
    enum DeadEnd: Hashable {
        /// Nothing with the issuer's name was presented or is an anchor.
        case noIssuer(Certificate)
        /// It signs itself and is no anchor.
        case untrustedRoot(Certificate)
        /// Certificates with the issuer's name exist, but none of them signed it.
        case badSignature(Certificate)
        /// All its issuers are on the path already.
        case loop(Certificate)
    }

    private(set) var signatureChecks = 0
    private(set) var isExhausted = false
    private(set) var deadEnds: [DeadEnd] = []

    private let presented: [Certificate]
    private let presentedBySubject: [DistinguishedName: [Certificate]]
    private let anchors: Anchors
    private let time: Moment
    private var steps = 0
    private var known: [SignatureLink: Bool] = [:]
    private let memory: CertificateMemory

    init(
        presented: [Certificate],
        anchors: Anchors,
        time: Moment,
        memory: CertificateMemory
    ) {
        self.memory = memory
        var seen: Set<Certificate> = []
        presentedBySubject = Dictionary(
            grouping: presented.filter { seen.insert($0).inserted },
            by: \.subject
        )
        self.presented = presented
        self.anchors = anchors
        self.time = time
    }

    /// Hands each path to `accept` as it is found, until one is accepted or none is left.
    mutating func run(from leaf: Certificate, accept: (Path) -> Bool) {
        _ = extend([leaf], accept)
    }

    private mutating func extend(_ path: [Certificate], _ accept: (Path) -> Bool) -> Bool {
        guard let last = path.last else { return false }
        if let anchor = anchors.anchor(for: last) {
            return accept(Path(certificates: path, anchor: anchor, presented: presented))
        }
        let issuers = issuers(of: last)
        var isSigned = false
        for issuer in issuers where !PathSearch.contains(path, issuer) {
            guard let verified = verify(last, signedBy: issuer) else { return false }
            guard verified else { continue }
            isSigned = true
            if extend(path + [issuer], accept) { return true }
            if isExhausted { return false }
        }
        if !isSigned { record(last, issuers, path) }
        return false
    }

    /// Every certificate with the issuer's name, most likely first. Key identifiers and dates only
    /// order them: they are hints, and a wrong hint must not hide a path.
    private func issuers(of certificate: Certificate) -> [Certificate] {
        let wanted = certificate.decoded.authorityKeyIdentifier.value?.keyIdentifier
        var found = anchors.certificates(named: certificate.issuer)
        for candidate in presentedBySubject[certificate.issuer] ?? []
        where !found.contains(candidate) {
            found.append(candidate)
        }
        if found.count < 2 { return found }
        func rank(_ candidate: Certificate) -> Int {
            let own = candidate.decoded.subjectKeyIdentifier.value
            let matches = wanted == nil || own == nil ? 1 : wanted == own ? 0 : 2
            let isValid = candidate.notBefore <= time && time <= candidate.notAfter
            let isAnchor = anchors.anchor(for: candidate) != nil
            return matches * 4 + (isValid ? 0 : 2) + (isAnchor ? 0 : 1)
        }
        return found.enumerated().map { (rank($0.element), $0.offset, $0.element) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    private static func contains(_ path: [Certificate], _ issuer: Certificate) -> Bool {
        path.contains {
            $0.subject == issuer.subject && $0.publicKey == issuer.publicKey
                && $0.subjectAlternativeNames == issuer.subjectAlternativeNames
        }
    }

    /// Nil where the budget is spent.
    private mutating func verify(_ subject: Certificate, signedBy issuer: Certificate) -> Bool? {
        steps += 1
        let link = SignatureLink(subject: subject, issuer: issuer)
        if steps <= PathSearch.stepLimit, let result = known[link] { return result }
        guard steps <= PathSearch.stepLimit, signatureChecks < PathSearch.budget else {
            isExhausted = true
            return nil
        }
        signatureChecks += 1
        // What is remembered counts as well: a verdict must not depend on what came before.
        let result = memory.isSigned(link)
        known[link] = result
        return result
    }

    private mutating func record(
        _ last: Certificate,
        _ issuers: [Certificate],
        _ path: [Certificate]
    ) {
        let others = issuers.filter { $0 != last }
        let deadEnd: DeadEnd =
            if last.looksSelfSigned, others.isEmpty {
                .untrustedRoot(last)
            } else if others.isEmpty {
                .noIssuer(last)
            } else if others.contains(where: { !PathSearch.contains(path, $0) }) {
                .badSignature(last)
            } else {
                .loop(last)
            }
        if !deadEnds.contains(deadEnd) { deadEnds.append(deadEnd) }
    }

    /// Why there is no path, for a report.
    func findings(for leaf: Certificate) -> [Finding] {
        deadEnds.prefix(8).map { deadEnd in
            let (kind, certificate): (Finding.Kind, Certificate) =
                switch deadEnd {
                case .noIssuer(let certificate): (.unknownIssuer, certificate)
                case .untrustedRoot(let certificate): (.untrustedRoot, certificate)
                case .badSignature(let certificate): (.badSignature, certificate)
                case .loop(let certificate): (.loop, certificate)
                }
            var evidence = "\(certificate.subject) was issued by \(certificate.issuer)"
            if case .noIssuer = deadEnd, let url = certificate.issuerURLs.first {
                evidence += "; it says its issuer is at \(url)"
            }
            return Finding(kind, certificate == leaf ? .path(0, count: 2) : .endpoint, evidence)
        }
    }
}
