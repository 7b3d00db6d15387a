/// What a presented chain is worth to somebody who trusts some anchors and asks one question.
///
/// The same function judges a chain out of a live handshake, out of a file and out of stored
/// evidence. It does no I/O and reads no clock.
public struct Judgement: Sendable {
    /// The path that was accepted; without one, the candidate that came closest, if there was any.
    public let path: Path?
    /// Every path from the leaf to an anchor that was tried, in the order of the search.
    public let candidates: [Candidate]
    /// What there is to say, most severe first, then in the order of the checks.
    public let findings: [Finding]
    /// How many signatures the search checked; at most `PathSearch.budget`.
    public let signatureChecks: Int
    /// The verdict in the words of Apple's SecTrust.
    public let trustResult: TrustResult

    /// Whether a path was accepted and nothing else is a failure.
    public var isAccepted: Bool { !findings.contains { $0.severity == .failure } }

    /// Judges a chain as it is presented, leaf first, each element as DER.
    ///
    /// One `memory` for many judgements saves work, and changes none of them.
    public static func judge(
        chain presented: [[UInt8]],
        anchors: Anchors,
        asked question: Question,
        memory: CertificateMemory = CertificateMemory()
    ) -> Judgement {
        var malformed: [Finding] = []
        var certificates: [(place: Int, certificate: Certificate)] = []
        for (place, der) in presented.enumerated() {
            do throws(CertificateError) {
                certificates.append((place, try memory.certificate(der)))
            } catch {
                let reason =
                    switch error {
                    case .malformed(let reason): reason
                    }
                malformed.append(
                    // An element that the path can do without is not worth a failure.
                    Finding(
                        .malformed,
                        .presented(place),
                        reason,
                        severity: place == 0 ? .failure : .warning
                    )
                )
            }
        }
        guard let first = certificates.first, first.place == 0 else {
            if presented.isEmpty { malformed = [Finding(.noCertificate, .endpoint, "")] }
            return Judgement(nil, [], malformed, 0)
        }
        return judge(
            leaf: first.certificate,
            others: certificates.dropFirst().map(\.certificate),
            anchors: anchors,
            asked: question,
            malformed,
            memory
        )
    }

    private static func judge(
        leaf: Certificate,
        others: [Certificate],
        anchors: Anchors,
        asked question: Question,
        _ malformed: [Finding],
        _ memory: CertificateMemory
    ) -> Judgement {
        var candidates: [Candidate] = []
        var search = PathSearch(
            presented: others,
            anchors: anchors,
            time: question.time,
            memory: memory
        )
        search.run(from: leaf) { path in
            let candidate = Candidate(path: path, findings: path.findings(asked: question))
            candidates.append(candidate)
            return candidate.isAccepted
        }
        let best = candidates.first(where: \.isAccepted) ?? candidates.min { $0.faults < $1.faults }
        var findings = malformed
        if let best {
            findings += best.findings
        } else {
            findings += search.findings(for: leaf)
            // Without a path, what is wrong with the leaf itself still helps.
            findings += Path(certificates: [leaf], anchor: nil).findings(asked: question)
        }
        if search.isExhausted, best?.isAccepted != true {
            findings.append(
                Finding(.budgetExhausted, .endpoint, "\(search.signatureChecks) signatures checked")
            )
        }
        findings += PresentedChain.findings(
            leaf: leaf,
            others: others,
            path: best?.path,
            anchors: anchors,
            time: question.time
        )
        return Judgement(best?.path, candidates, findings, search.signatureChecks)
    }

    private init(
        _ path: Path?,
        _ candidates: [Candidate],
        _ findings: [Finding],
        _ signatureChecks: Int
    ) {
        self.path = path
        self.candidates = candidates
        self.signatureChecks = signatureChecks
        // A stable sort keeps the order of the checks within a severity.
        self.findings = findings.enumerated().sorted {
            ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
        }.map(\.element)
        trustResult = TrustResult(findings)
    }
}

/// One path that was tried, with what the checks say about it.
public struct Candidate: Sendable {
    /// The path.
    public let path: Path
    /// What the checks found, in their order.
    public let findings: [Finding]

    /// Whether no check fails it.
    public var isAccepted: Bool { !findings.contains { $0.severity == .failure } }

    /// How far from accepted: fatal failures weigh more than those that time or trust can mend.
    var faults: Int {
        findings.reduce(0) { sum, finding in
            guard finding.severity == .failure else { return sum }
            return sum + (finding.kind.isFatal ? 100 : 1)
        }
    }
}

/// The eight results of SecTrustEvaluate, with their numbers.
public enum TrustResult: Int, Sendable {
    /// Nothing was evaluated.
    case invalid = 0
    /// Accepted, and the user said so: a pin or the leaf itself is configured.
    case proceed = 1
    /// Ask the user. Never given.
    case confirm = 2
    /// The user said no.
    case deny = 3
    /// Accepted, and nobody said anything.
    case unspecified = 4
    /// Refused for what another time, name or anchor could mend.
    case recoverableTrustFailure = 5
    /// Refused for what nothing mends: a broken signature, a revoked certificate.
    case fatalTrustFailure = 6
    /// Something failed that is not the chain's fault.
    case otherError = 7

    init(_ findings: [Finding]) {
        let failures = findings.filter { $0.severity == .failure }
        if failures.contains(where: { $0.kind == .noCertificate }) {
            self = .invalid
        } else if failures.contains(where: { $0.kind == .internalError }) {
            self = .otherError
        } else if failures.contains(where: { $0.kind.isFatal }) {
            self = .fatalTrustFailure
        } else if !failures.isEmpty {
            self = .recoverableTrustFailure
        } else {
            let isPinned = findings.contains { $0.kind == .leafIsAnchor || $0.kind == .pinMatched }
            self = isPinned ? .proceed : .unspecified
        }
    }

    /// The name as in Apple's headers, without the prefix: `RecoverableTrustFailure`.
    public var name: String {
        switch self {
        case .invalid: "Invalid"
        case .proceed: "Proceed"
        case .confirm: "Confirm"
        case .deny: "Deny"
        case .unspecified: "Unspecified"
        case .recoverableTrustFailure: "RecoverableTrustFailure"
        case .fatalTrustFailure: "FatalTrustFailure"
        case .otherError: "OtherError"
        }
    }
}
