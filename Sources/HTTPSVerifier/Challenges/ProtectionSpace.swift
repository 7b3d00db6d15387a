public import Certificates

/// What an authentication challenge protects, and how: host, port, realm and method, after the
/// NSURLProtectionSpace of URL loading systems.
public struct ProtectionSpace: Sendable {
    /// The name that the endpoint was asked under. Credentials are tied to it, not to the address.
    public let host: String
    /// The port.
    public let port: UInt16
    /// What is spoken there.
    public let scheme: Scheme
    /// The realm of Basic and Digest.
    public let realm: String?
    /// How to authenticate.
    public let method: AuthenticationMethod
    /// Whether a proxy asks. The verifier uses none, so that no credential ever goes to one.
    public let isProxy: Bool
    /// The authorities that a client certificate request names.
    public let distinguishedNames: [DistinguishedName]
    /// The judgement of the endpoint's chain, where trust in the server is the question.
    public let serverTrust: Judgement?
}

/// How somebody authenticates to somebody.
public enum AuthenticationMethod: String, Sendable, Hashable, CaseIterable {
    /// The server, by its chain.
    case serverTrust
    /// The client, by a certificate in the handshake.
    case clientCertificate
    /// RFC 7616.
    case digest
    /// RFC 7617.
    case basic
    /// Recognised, not supported.
    case negotiate
    /// Recognised, not supported.
    case ntlm
    /// A page with a form: recognised, not supported.
    case htmlForm
    /// A scheme that is not known here.
    case unknown

    /// Whether a credential can be used with it.
    public var isSupported: Bool {
        [.serverTrust, .clientCertificate, .digest, .basic].contains(self)
    }

    /// Greater for methods that give less away; the strongest is asked first.
    var strength: Int {
        switch self {
        case .serverTrust, .clientCertificate: 6
        case .negotiate: 5
        case .digest: 4
        case .ntlm: 3
        case .basic: 2
        case .htmlForm: 1
        case .unknown: 0
        }
    }
}

/// What is presented for a challenge.
public enum Credential: Sendable, Equatable {
    /// For Basic and Digest.
    case password(user: String, password: String)
    /// A certificate, its intermediates and its key, all in PEM.
    case clientCertificate(pem: [UInt8])
    /// The server is trusted in spite of its findings, which are reported all the same.
    case serverTrust
}

/// A password for one of the two schemes that take one.
struct PasswordCredential {
    let user: String
    let password: String
    let method: AuthenticationMethod
}

extension ProtectionSpace {
    /// The spaces that an exchange ended in, in the order in which they are asked: trust in the
    /// server, the client's certificate, then what a 401 offers, strongest first. A judgement costs
    /// as much as a handshake, so there is one only where a handler or a credential needs it.
    static func all(
        _ evidence: Evidence,
        _ requirements: Requirements,
        at time: Moment,
        memory: CertificateMemory?
    ) -> [ProtectionSpace] {
        let judgement = evidence.handshake.flatMap { handshake -> Judgement? in
            guard let memory, !handshake.chain.isEmpty else { return nil }
            return Judgement.judge(
                chain: handshake.certificates,
                anchors: requirements.anchors,
                asked: requirements.question(evidence, at: time),
                memory: memory
            )
        }
        func space(
            _ method: AuthenticationMethod,
            realm: String? = nil,
            names: [DistinguishedName] = []
        ) -> ProtectionSpace {
            ProtectionSpace(
                host: evidence.name,
                port: evidence.port,
                scheme: evidence.scheme,
                realm: realm,
                method: method,
                isProxy: false,
                distinguishedNames: names,
                serverTrust: judgement
            )
        }
        var spaces: [ProtectionSpace] = []
        if judgement != nil { spaces.append(space(.serverTrust)) }
        if let handshake = evidence.handshake, handshake.wantsClientCertificate {
            let names = handshake.clientAuthorities.compactMap { text in
                octets(base64: text.utf8).flatMap { DistinguishedName(der: $0) }
            }
            spaces.append(space(.clientCertificate, names: names))
        }
        if let response = evidence.response, response.status == 401 {
            let offers = WWWAuthenticate.offers(response.values(of: "www-authenticate"))
            spaces += offers.map { space($0.method, realm: $0.realm) }
            let isPage = response.values(of: "content-type").contains { $0.hasPrefix("text/html") }
            if offers.isEmpty, isPage { spaces.append(space(.htmlForm)) }
        }
        return spaces
    }
}
