internal import Certificates

/// Whether the endpoint asked for a client certificate, and what it did without or with one.
enum ClientCertificateCheck {
    /// Alerts about the client's certificate (RFC 8446, 6.2): bad, unsupported, revoked, expired,
    /// unknown, unknown_ca, access_denied, certificate_required; handshake_failure in TLS 1.2.
    private static let alerts: Set<Int> = [40, 42, 43, 44, 45, 46, 48, 49, 116]

    static func findings(_ evidence: Evidence, _ requirements: Requirements) -> [Finding] {
        guard let handshake = evidence.handshake, handshake.wantsClientCertificate else {
            return []
        }
        let authorities = handshake.clientAuthorities.prefix(8).compactMap {
            octets(base64: $0.utf8).flatMap { DistinguishedName(der: $0)?.description }
        }
        let asked =
            authorities.isEmpty
            ? "it names no authorities" : "of " + authorities.joined(separator: "; ")
        let isRefused = evidence.failure.map { isCause(of: $0, evidence) } ?? false
        if handshake.gaveClientCertificate {
            guard isRefused else { return [] }
            let alert = handshake.alert.map { "alert \($0)" } ?? "no alert"
            return [Finding(.clientCertificateRefused, .endpoint, "\(alert); \(asked)")]
        }
        let kind: Finding.Kind = isRefused ? .clientCertificateRequired : .clientCertificateAsked
        return [Finding(kind, .endpoint, asked)]
    }

    static func isCause(of failure: Evidence.Failure, _ evidence: Evidence) -> Bool {
        guard let handshake = evidence.handshake, handshake.wantsClientCertificate,
            !failure.isTimeout, evidence.response == nil
        else { return false }
        return handshake.alert.map { alerts.contains($0) } ?? false
    }
}
