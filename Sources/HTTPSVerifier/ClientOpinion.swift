internal import Certificates

/// Whether a particular client would accept the endpoint, from the same evidence.
public struct ClientOpinion: Sendable, Codable, Equatable {
    /// The client.
    public let client: String
    /// Whether it would.
    public let accepts: Bool
    /// The one reason why not, or the condition under which; empty where there is none.
    public let reason: String

    static func all(
        _ evidence: Evidence,
        _ judgement: Judgement?,
        _ requirements: Requirements
    ) -> [ClientOpinion] {
        guard let judgement, let handshake = evidence.handshake else { return [] }
        let path = judgement.path ?? nil
        let failure = judgement.findings.first { $0.severity == .failure }
        let base = failure.map { "\($0.kind.title) (\($0.element))" }
        let isPresentedInFull = path.map { path in
            let sent = Set(handshake.certificates)
            return path.certificates.dropLast().allSatisfy { sent.contains($0.der) }
        }
        let strict = judgement.findings.first { $0.kind.id == "compatibility.strict" }?.evidence
        let old = handshake.version.map { ["SSLv3", "TLSv1", "TLSv1.1"].contains($0) } == true
        let oldReason = old ? "it speaks \(handshake.version ?? "an old protocol") only" : nil
        let missing = isPresentedInFull == false ? "an intermediate is not sent" : nil
        let apple = path.flatMap { AppleRules.reason($0, handshake) }
        return [
            opinion("OpenSSL, curl", [base, missing, oldReason]),
            opinion("Python 3.13", [base, missing, oldReason, strict]),
            opinion(
                "Apple",
                [base, oldReason, apple],
                "where the anchor is installed and trusted on the device"
            ),
            opinion(
                "Android",
                [base, missing, oldReason],
                "where the app's network security configuration trusts the anchor"
            ),
            opinion("Chrome", [base, oldReason, path.flatMap(ChromeRules.reason)]),
        ]
    }

    private static func opinion(
        _ client: String,
        _ reasons: [String?],
        _ condition: String = ""
    ) -> ClientOpinion {
        let reason = reasons.compactMap(\.self).first
        return ClientOpinion(client: client, accepts: reason == nil, reason: reason ?? condition)
    }
}

/// What Apple requires of every TLS server (support.apple.com/103769), private anchors included,
/// and App Transport Security on top of it.
private enum AppleRules {
    /// 2019-07-01, from when on EKU and lifetime count.
    private static let start = Moment(seconds: 1_561_939_200)

    static func reason(_ path: Path, _ handshake: Evidence.Handshake) -> String? {
        let leaf = path.certificates[0]
        for certificate in path.certificates {
            if case .rsa(let bits) = certificate.publicKey.kind, bits < 2_048 {
                return "an RSA key has \(bits) bits"
            }
        }
        if path.certificates.dropLast().contains(where: \.hasSHA1Signature) {
            return "a signature uses SHA-1"
        }
        if leaf.subjectAlternativeNames.isEmpty { return "there is no subject alternative name" }
        if leaf.notBefore >= start {
            if !leaf.isForServers { return "the extended key usage does not list serverAuth" }
            let days = leaf.notBefore.seconds(until: leaf.notAfter) / 86_400
            if days > 825 { return "it is valid for \(days) days, more than 825" }
        }
        if let version = handshake.version, let cipher = handshake.cipher,
            !ProtocolCheck.isForwardSecret(version, cipher)
        {
            return "App Transport Security wants forward secrecy"
        }
        return nil
    }
}

private enum ChromeRules {
    static func reason(_ path: Path) -> String? {
        path.certificates.dropLast().contains(where: \.hasSHA1Signature)
            ? "a signature uses SHA-1" : nil
    }
}
