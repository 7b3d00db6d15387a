import CLoopback
import Certificates
import HTTPSVerifier
import Testing

/// What a hosts override by rewriting URLs does (B1 to B7 of the notes), and what its faults were:
/// no SNI, a Host without its port, IPv6 without brackets, redirects that lose the override.
@Suite(.serialized) struct OverrideBehaviourTests {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    /// A server for the names that an old rewriting would have corrupted.
    private func server(_ names: String..., isIPv6: Bool = false) throws -> Server {
        var draft = Draft.server()
        draft.names = names.map { "DNS:" + $0 }
        var settings = Server.Settings(chain: [try root.issue(draft)])
        settings.isIPv6 = isIPv6
        return try Server(settings)
    }

    @Test func `B1: a name goes to the addresses of its override, and to none without`()
        async throws
    {
        let server = try server("www.example.com")
        var target = server.target("www.example.com")
        target.addresses = []
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: anchors)))
        let nothing = try await verifier.report(on: TargetList(targets: [target]))
        #expect(nothing.verifications.isEmpty)
        #expect(server.accepted == 0)
        let list = TargetList(targets: [server.target("www.example.com")])
        let one = try await verifier.report(on: list)
        #expect(one.verifications.map(\.verdict) == [.passed])
        #expect(server.accepted == 1)
    }

    @Test func `B2: schemes are compared without case, and unknown ones are none`() {
        #expect(Scheme("HTTPS") == .https)
        #expect(Scheme("Http") == .http)
        #expect(Scheme("wss") == .https)
        #expect(Scheme("ws") == .http)
        #expect(Scheme("ftp") == nil)
        #expect(Scheme("") == nil)
    }

    @Test(arguments: ["http", "s", "www", "www.http.www", "localhost", "127-0-0-1.example"])
    func `B3: Host, SNI and certificate name are the name, with the port`(name: String)
        async throws
    {
        for isIPv6 in [false, true] {
            let server = try server(name, isIPv6: isIPv6)
            let verification = try await verify(server, as: name, anchors: anchors)
            #expect(verification.verdict == .passed, "\(verification.told)")
            let request = try #require(server.requests.first)
            #expect(request.headers["host"] == "\(name):\(server.port)")
            #expect(request.serverName == name)
            #expect(request.line == "GET / HTTP/1.1")
        }
    }

    @Test func `B4: the override holds on every hop of a redirect`() async throws {
        let second = try server("two.example.com")
        let leaf = try root.issue(.server("one.example.com"))
        let first = try Server(Server.Settings(chain: [leaf])) { request in
            switch request.line.split(separator: " ")[1] {
            case "/": Server.answer(302, "Location: /relative")
            case "/relative":
                Server.answer(302, "Location: //two.example.com:\(second.port)/absolute")
            default: Server.answer(500)
            }
        }
        var requirements = Requirements(anchors: anchors)
        requirements.followsRedirects = true
        let target = second.target("two.example.com")
        let verifier = Verifier(
            policy: Policy(general: requirements),
            resolution: { $0 == "two.example.com" ? target : nil }
        )
        let list = TargetList(targets: [first.target("one.example.com")])
        let report = try await verifier.report(on: list)
        #expect(report.verifications.count == 3)
        #expect(first.requests.allSatisfy { $0.serverName == "one.example.com" })
        #expect(first.requests.allSatisfy { $0.headers["host"] == "one.example.com:\(first.port)" })
        let last = try #require(second.requests.first)
        #expect(last.line == "GET /absolute HTTP/1.1")
        #expect(last.headers["host"] == "two.example.com:\(second.port)")
        #expect(last.serverName == "two.example.com")
    }

    @Test func `B5: path and timeout are those of the requirements`() async throws {
        let server = try server("www.example.com")
        let verification = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.path = "/health?full=1"
        }
        #expect(verification.verdict == .passed)
        #expect(server.requests.first?.line == "GET /health?full=1 HTTP/1.1")
        let silent = try Server(
            Server.Settings(chain: [], behaviour: Int(CLOOPBACK_NEVER_ANSWER))
        )
        var options = Verifier.Options()
        options.connectTimeout = 0.3
        options.retries = 0
        let verifier = Verifier(
            policy: Policy(general: Requirements(anchors: anchors)),
            options: options
        )
        let list = TargetList(targets: [silent.target("www.example.com")])
        let report = try await verifier.report(on: list)
        #expect(report.verifications[0].has("tls.timeout"))
        #expect((report.duration ?? 99) < 2)
    }

    @Test func `B6: a name that is an address is never looked up`() async throws {
        var draft = Draft.server()
        draft.names = ["IP:127.0.0.1"]
        let server = try Server(Server.Settings(chain: [try root.issue(draft)])) { _ in
            Server.answer(302, "Location: https://192.0.2.1/")
        }
        let verification = try await verify(server, as: "127.0.0.1", anchors: anchors) {
            $0.followsRedirects = true
        }
        #expect(verification.has("http.redirect-not-overridden"), "\(verification.told)")
        #expect(verification.judgement?.isAccepted == true)
    }

    @Test func `B7: a server that refuses other names is content, and 421 is told`() async throws {
        let leaf = try root.issue(.server("www.example.com", "other.example.com"))
        let server = try Server(Server.Settings(chain: [leaf])) { request in
            let host = request.headers["host"]?.split(separator: ":").first.map(String.init)
            return Server.answer(
                host == request.serverName && host == "www.example.com" ? 200 : 421
            )
        }
        let good = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(good.evidence.response?.status == 200)
        let bad = try await verify(server, as: "other.example.com", anchors: anchors)
        #expect(bad.has("http.misdirected", .failure))
        // Each name has a connection of its own.
        #expect(server.accepted == 2)
    }
}
