internal import Certificates

/// How far the exchange came, and whose fault its end is.
///
/// What the network keeps from us is an error: nothing is known of the endpoint. An endpoint that
/// answers with something else than a handshake is a failure: it was asked and it is not as required.
enum ConnectionCheck {
    static func findings(_ evidence: Evidence, _ requirements: Requirements) -> [Finding] {
        var findings: [Finding] = []
        if evidence.scheme == .http { findings.append(Finding(.plainHTTP, .endpoint, "")) }
        if evidence.reference == nil, !(evidence.name.isEmpty && evidence.address.isEmpty) {
            findings.append(Finding(.notAName, .endpoint, evidence.name))
        }
        guard let failure = evidence.failure else { return findings }
        let attempts = evidence.attempts > 1 ? ", \(evidence.attempts) attempts" : ""
        let kind = kind(of: failure, evidence)
        if let kind { findings.append(Finding(kind, .endpoint, failure.message + attempts)) }
        return findings
    }

    private static func kind(of failure: Evidence.Failure, _ evidence: Evidence) -> Finding.Kind? {
        if failure.isInterruption { return .interrupted }
        switch failure.stage {
        case "dns": return evidence.reference == nil ? nil : .connectFailed
        case "connect": return failure.isTimeout ? .connectTimeout : .connectFailed
        case "tls":
            if failure.isTimeout { return .tlsTimeout }
            if ClientCertificateCheck.isCause(of: failure, evidence) { return nil }
            let isOther = ["wrong version number", "http request", "packet length too long"]
                .contains { failure.message.contains($0) }
            return isOther && evidence.handshake?.chain.isEmpty != false
                ? .notTLS : .handshakeFailed
        default:
            if failure.isTimeout { return .responseTimeout }
            // A body that is cut short after its status takes nothing from the answer.
            if ClientCertificateCheck.isCause(of: failure, evidence) || evidence.response != nil {
                return nil
            }
            return .noResponse
        }
    }
}
