internal import Synchronization

/// What was parsed and verified before, for judging many endpoints that share their issuers.
///
/// OpenSSL needs as long to decode a certificate and to check its signature as for a good part of
/// a handshake. What is remembered changes no verdict: a certificate is its octets, and a
/// signature stays what it is. Holds at most `limit` certificates and as many links.
public final class CertificateMemory: Sendable {
    private static let limit = 1_024

    private struct State {
        var certificates: [[UInt8]: Certificate] = [:]
        var links: [SignatureLink: Bool] = [:]
    }

    private let state = Mutex(State())

    /// Nothing is remembered yet.
    public init() {}

    /// Whether the certificate that DER encodes is remembered.
    public func knows(_ der: [UInt8]) -> Bool { state.withLock { $0.certificates[der] != nil } }

    func certificate(_ der: [UInt8]) throws(CertificateError) -> Certificate {
        if let known = state.withLock({ $0.certificates[der] }) { return known }
        let certificate = try Certificate(der: der)
        remember(certificate)
        return certificate
    }

    /// Remembers a certificate that a handshake has parsed already.
    ///
    /// Takes over one reference to an X509 of OpenSSL, which must be what `der` encodes.
    @unsafe
    public func adopt(_ x509: OpaquePointer, der: [UInt8]) {
        let handle = unsafe X509Handle(adopting: x509)
        guard let certificate = try? Certificate(handle: handle, der: der) else { return }
        remember(certificate)
    }

    private func remember(_ certificate: Certificate) {
        state.withLock { state in
            if state.certificates.count >= Self.limit { state.certificates = [:] }
            state.certificates[certificate.der] = certificate
        }
    }

    func isSigned(_ link: SignatureLink) -> Bool {
        if let known = state.withLock({ $0.links[link] }) { return known }
        let result = link.subject.handle.isSigned(by: link.issuer.handle) == true
        state.withLock { state in
            if state.links.count >= Self.limit { state.links = [:] }
            state.links[link] = result
        }
        return result
    }
}

/// A signature that is to be checked: whose, and by whose key.
struct SignatureLink: Hashable {
    let subject: Certificate
    let issuer: Certificate
}
