internal import Certificates

/// What became of the authentication challenges.
enum AuthenticationCheck {
    static func findings(_ evidence: Evidence, _ requirements: Requirements) -> [Finding] {
        var findings: [Finding] = []
        func outcomes(_ outcome: ChallengeOutcome) -> String {
            evidence.challenges.filter { $0.outcome == outcome.rawValue }.map { record in
                record.method + (record.realm.map { " for realm \($0)" } ?? "")
            }.joined(separator: ", ")
        }
        let withheld = outcomes(.withheld)
        if !withheld.isEmpty {
            findings.append(Finding(.credentialWithheld, .endpoint, withheld))
        }
        let unresolved = [outcomes(.timedOut), outcomes(.cancelled)].filter { !$0.isEmpty }
        if !unresolved.isEmpty {
            let evidence = unresolved.joined(separator: ", ")
            findings.append(Finding(.challengeUnresolved, .endpoint, evidence))
        }
        guard evidence.response?.status == 401 else { return findings }
        let offers = WWWAuthenticate.offers(evidence.response?.values(of: "www-authenticate") ?? [])
        let offered = offers.map { offer in
            offer.scheme + (offer.realm.map { " realm \"\($0)\"" } ?? "")
        }.joined(separator: ", ")
        if !outcomes(.refused).isEmpty {
            findings.append(Finding(.credentialRefused, .endpoint, outcomes(.refused)))
        } else if !offers.isEmpty, !offers.contains(where: \.method.isSupported) {
            findings.append(Finding(.challengeUnsupported, .endpoint, offered))
        } else {
            let text = offers.isEmpty ? "it offers no scheme" : offered
            findings.append(Finding(.unauthorized, .endpoint, text))
        }
        return findings
    }
}

/// What became of a challenge, as it is stored.
enum ChallengeOutcome: String {
    /// A credential was presented, and not refused.
    case used
    /// A credential was presented, and refused.
    case refused
    /// It went on without a credential.
    case none = "no credential"
    /// The handler or the deadline ended the endpoint's probe.
    case cancelled
    case timedOut = "timed out"
    /// The handler did not want this space.
    case rejected
    /// The method is not supported.
    case unsupported
    /// The chain was not accepted, so the credential stayed here.
    case withheld
}
