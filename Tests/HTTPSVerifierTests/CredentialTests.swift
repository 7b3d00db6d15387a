import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// Client certificates, Basic and Digest: to whom they go, how often, and what is told.
@Suite(.serialized) struct CredentialTests {
    let root: Identity
    let anchors: Anchors
    let leaf: Identity

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
        leaf = try root.issue(.server("www.example.com"))
    }

    private func server(
        client: Int,
        of authority: Identity,
        versions: (minimum: Int, maximum: Int) = (0, 0)
    ) throws -> Server {
        try Server(
            Server.Settings(
                chain: [leaf],
                versions: versions,
                clientCertificate: client,
                clientAuthority: authority
            )
        )
    }

    private func client(of authority: Identity) throws -> Credential {
        var draft = Draft(commonName: "client")
        draft.usage = "clientAuth"
        let identity = try authority.issue(draft)
        return .clientCertificate(pem: Array((identity.certificate + identity.key).utf8))
    }

    @Test func `an optional client certificate is not needed, and it is told who asked`()
        async throws
    {
        let authority = try Draft.authority("Client CA").selfSigned()
        let server = try server(client: 1, of: authority)
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        #expect(verification.has("tls.client-certificate-requested", .information))
        #expect(verification.told.contains("CN=Client CA"))
    }

    @Test(arguments: [0x0303, 0x0304])
    func `a required client certificate is told, and presented where configured`(version: Int)
        async throws
    {
        let authority = try Draft.authority("Client CA").selfSigned()
        let server = try server(client: 2, of: authority, versions: (version, version))
        let without = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(without.has("tls.client-certificate-required", .warning), "\(without.told)")
        #expect(without.judgement?.isAccepted == true)
        #expect(without.evidence.response == nil)
        let credential = try client(of: authority)
        let with = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.clientCertificate = credential
        }
        #expect(with.verdict == .passed, "\(with.told)")
        #expect(with.evidence.response?.status == 200)
        #expect(with.evidence.handshake?.gaveClientCertificate == true)
        let stranger = try client(of: try Draft.authority("Stranger").selfSigned())
        let refused = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.clientCertificate = stranger
        }
        #expect(refused.has("tls.client-certificate-refused", .failure), "\(refused.told)")
    }

    @Test func `401 without a credential is a result, not a hang`() async throws {
        let server = try Server(Server.Settings(chain: [leaf])) { _ in
            Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
        }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has("http.unauthorized", .information), "\(verification.told)")
        #expect(server.requests.count == 1)
    }

    @Test func `a wrong password is tried once, and refused is what it is called`() async throws {
        let server = try Server(Server.Settings(chain: [leaf])) { _ in
            Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
        }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.password = .password(user: "ci", password: "wrong")
        }
        #expect(verification.has("http.credential-refused", .failure), "\(verification.told)")
        #expect(server.requests.count { $0.headers["authorization"] != nil } == 1)
        #expect(!verification.told.contains("wrong"))
    }

    @Test func `Digest answers a stale nonce once with the new one`() async throws {
        let server = try Server(Server.Settings(chain: [leaf])) { request in
            guard let authorization = request.headers["authorization"] else {
                return Server.answer(
                    401,
                    "WWW-Authenticate: Digest realm=\"r\", nonce=\"old\", qop=\"auth\""
                )
            }
            if authorization.contains("nonce=\"old\"") {
                return Server.answer(
                    401,
                    "WWW-Authenticate: Digest realm=\"r\", nonce=\"new\", qop=\"auth\", stale=true"
                )
            }
            let isComplete = ["nonce=\"new\"", "nc=00000001", "username=\"ci\"", "uri=\"/\""]
                .allSatisfy { authorization.contains($0) }
            return Server.answer(isComplete ? 200 : 400)
        }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.password = .password(user: "ci", password: "secret")
        }
        #expect(verification.evidence.response?.status == 200, "\(verification.told)")
        let sent = server.requests.compactMap { $0.headers["authorization"] }
        #expect(sent.count == 2)
        #expect(sent.allSatisfy { !$0.contains("secret") })
    }

    @Test func `Digest that is refused without stale is not tried again`() async throws {
        let server = try Server(Server.Settings(chain: [leaf])) { _ in
            Server.answer(401, "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
        }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.password = .password(user: "ci", password: "wrong")
        }
        #expect(verification.has("http.credential-refused", .failure), "\(verification.told)")
        #expect(server.requests.count { $0.headers["authorization"] != nil } == 1)
    }

    @Test func `no credential goes to an endpoint whose chain is refused`() async throws {
        let stranger = try Draft.authority("Stranger").selfSigned()
        let other = try stranger.issue(.server("www.example.com"))
        let server = try Server(Server.Settings(chain: [other])) { _ in
            Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
        }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.password = .password(user: "ci", password: "secret")
        }
        #expect(verification.has("http.credential-withheld", .warning), "\(verification.told)")
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test func `no credential follows a redirect to another name`() async throws {
        let second = try Server(
            Server.Settings(chain: [try root.issue(.server("two.example.com"))])
        ) { _ in Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"") }
        let first = try Server(Server.Settings(chain: [leaf])) { request in
            request.headers["authorization"] == nil
                ? Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
                : Server.answer(302, "Location: https://two.example.com:\(second.port)/")
        }
        var own = Requirements(anchors: anchors)
        own.followsRedirects = true
        own.password = .password(user: "ci", password: "secret")
        let target = second.target("two.example.com")
        let verifier = Verifier(
            policy: Policy(
                general: Requirements(anchors: anchors),
                rules: [Policy.Rule(pattern: NamePattern("www.*"), requirements: own)]
            ),
            resolution: { $0 == "two.example.com" ? target : nil }
        )
        let list = TargetList(targets: [first.target("www.example.com")])
        let report = try await verifier.report(on: list)
        #expect(report.verifications.count == 2)
        #expect(!second.requests.isEmpty)
        #expect(second.requests.allSatisfy { $0.headers["authorization"] == nil })
    }
}
