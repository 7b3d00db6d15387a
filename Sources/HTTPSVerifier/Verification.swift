public import Certificates

/// What one endpoint's evidence is worth: the verdict, and everything it rests on.
public struct Verification: Sendable {
    /// What was seen.
    public let evidence: Evidence
    /// The chain's judgement; nil where no chain came.
    public let judgement: Judgement?
    /// Everything there is to say, by stage and in the order of the checks.
    public let findings: [Finding]
    /// Findings that the baseline accepts: kind id to reason.
    public let accepted: [String: String]
    /// Whether the requirements let an invalid endpoint pass. The findings are the same.
    public let isWaived: Bool
    /// What particular clients would say.
    public let clients: [ClientOpinion]
    /// The text that names the endpoint in reports.
    public let name: String

    /// Judges evidence. Live or stored, from a handshake or from a file: this is the one function.
    public static func evaluate(
        _ evidence: Evidence,
        against requirements: Requirements,
        at time: Moment,
        baseline: Baseline = Baseline(),
        memory: CertificateMemory = CertificateMemory()
    ) -> Verification {
        var judgement: Judgement?
        var findings: [Finding] = []
        if let handshake = evidence.handshake, !handshake.chain.isEmpty {
            let judged = Judgement.judge(
                chain: handshake.certificates,
                anchors: requirements.anchors,
                asked: requirements.question(evidence, at: time),
                memory: memory
            )
            findings = judged.findings
            judgement = judged
        }
        findings += ConnectionCheck.findings(evidence, requirements)
        findings += ClientCertificateCheck.findings(evidence, requirements)
        findings += ProtocolCheck.findings(evidence, requirements)
        findings += AuthenticationCheck.findings(evidence, requirements)
        findings += ResponseCheck.findings(evidence, requirements)
        findings += RedirectCheck.findings(evidence, requirements)
        if requirements.isLenient {
            for index in findings.indices
            where findings[index].severity == .failure && !findings[index].kind.isFatal {
                findings[index].severity = .warning
            }
        }
        let stages = Finding.Stage.allCases
        findings = findings.enumerated().sorted {
            let first = stages.firstIndex(of: $0.element.kind.stage) ?? 0
            let second = stages.firstIndex(of: $1.element.kind.stage) ?? 0
            return (first, $0.offset) < (second, $1.offset)
        }.map(\.element)
        return Verification(
            evidence: evidence,
            judgement: judgement,
            findings: findings,
            accepted: baseline.reasons(for: findings, at: evidence, time),
            isWaived: requirements.allowsInvalid || evidence.isTrustedByHandler,
            clients: ClientOpinion.all(evidence, judgement, requirements)
        )
    }

    private init(
        evidence: Evidence,
        judgement: Judgement?,
        findings: [Finding],
        accepted: [String: String],
        isWaived: Bool,
        clients: [ClientOpinion]
    ) {
        self.evidence = evidence
        self.judgement = judgement
        self.findings = findings
        self.accepted = accepted
        self.isWaived = isWaived
        self.clients = clients
        name = (evidence.name.isEmpty ? "a chain" : evidence.name) + " at \(evidence.authority)"
    }

    /// Findings of a severity that the baseline does not accept.
    public func findings(_ severity: Finding.Severity) -> [Finding] {
        findings.filter { $0.severity == severity && accepted[$0.kind.id] == nil }
    }

    /// The verdict, whether or not it counts.
    public var verdict: Verdict {
        if !findings(.failure).isEmpty { return .failed }
        if !findings(.error).isEmpty { return .error }
        return findings(.warning).isEmpty ? .passed : .passedWithWarnings
    }

    /// The eight results of SecTrust, for the chain.
    public var trustResult: TrustResult { judgement?.trustResult ?? .invalid }

    /// The first expiry among the certificates that were sent.
    public var earliestExpiry: Moment? {
        evidence.handshake?.certificates.compactMap { try? Certificate(der: $0).notAfter }.min()
    }

    /// The first expiry on the accepted path, anchor included; nil without one.
    public var pathExpiry: Moment? { judgement?.isAccepted == true ? judgement?.path?.expiry : nil }
}

/// What came of one endpoint.
public enum Verdict: String, Sendable, CaseIterable {
    /// All as required.
    case passed
    /// As required, with warnings.
    case passedWithWarnings = "passed with warnings"
    /// Not as required.
    case failed
    /// Could not be judged.
    case error

    /// Whether nothing is a failure or could not be judged.
    public var isGood: Bool { self == .passed || self == .passedWithWarnings }
}

extension Evidence {
    /// `192.0.2.1:443`, `[2001:db8::1]:443`; `file` for a chain that came from one.
    public var authority: String {
        if address.isEmpty { return "file" }
        return address.utf8.contains(0x3A) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
