import CLoopback
import Certificates
import HTTPSVerifier
import Testing

/// Names, addresses and HTTP: what goes to the endpoint, and what comes back.
@Suite(.serialized) struct ExchangeTests {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    private func server(
        _ names: String...,
        settings: Server.Settings = Server.Settings(),
        respond: @escaping @Sendable (Request) -> String = { _ in Server.answer(200) }
    ) throws -> Server {
        var draft = Draft.server()
        draft.names = names.map { $0.contains(":") ? $0 : "DNS:" + $0 }
        var settings = settings
        settings.chain = [try root.issue(draft)]
        return try Server(settings, respond: respond)
    }

    @Test func `an IPv6 address is contacted, and never seen by the endpoint`() async throws {
        var settings = Server.Settings()
        settings.isIPv6 = true
        let server = try server("www.example.com", settings: settings)
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        let request = try #require(server.requests.first)
        #expect(request.headers["host"] == "www.example.com:\(server.port)")
        #expect(request.serverName == "www.example.com")
        #expect(verification.name == "www.example.com at [::1]:\(server.port)")
    }

    @Test func `a name that is an address has no SNI and is matched as an address`() async throws {
        let server = try server("IP:192.0.2.7")
        let verification = try await verify(server, as: "192.0.2.7", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        #expect(server.requests.first?.serverName == "")
        #expect(server.requests.first?.headers["host"] == "192.0.2.7:\(server.port)")
        let asName = try self.server("DNS:192.0.2.7")
        let failed = try await verify(asName, as: "192.0.2.7", anchors: anchors)
        #expect(failed.has("name.mismatch", .failure), "\(failed.told)")
    }

    @Test func `an internationalised name goes out as A-labels`() async throws {
        let server = try server("xn--bcher-kva.example")
        let verification = try await verify(server, as: "Bücher.example", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        #expect(server.requests.first?.serverName == "xn--bcher-kva.example")
    }

    @Test func `a trailing dot is neither in SNI nor in Host nor in the match`() async throws {
        let server = try server("www.example.com")
        let verification = try await verify(server, as: "www.Example.com.", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        #expect(server.requests.first?.serverName == "www.example.com")
        #expect(server.requests.first?.headers["host"] == "www.example.com:\(server.port)")
    }

    @Test func `of two addresses the bad one is told and the good one passes`() async throws {
        let good = try server("www.example.com")
        var settings = Server.Settings()
        settings.address = "127.0.0.2"
        settings.port = good.port
        let bad = try server("other.example.com", settings: settings)
        var target = good.target("www.example.com")
        target.addresses.append(bad.address)
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: anchors)))
        let report = try await verifier.report(on: TargetList(targets: [target]))
        #expect(report.verifications.map(\.verdict) == [.passed, .failed])
        #expect(report.verifications.map(\.evidence.address) == ["127.0.0.1", "127.0.0.2"])
        #expect(report.exitStatus() == 1)
    }

    @Test func `421 is a failure of its own`() async throws {
        let server = try server("www.example.com") { _ in Server.answer(421) }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has("http.misdirected", .failure), "\(verification.told)")
        #expect(verification.judgement?.isAccepted == true)
    }

    @Test func `status, header and body are compared with what is expected`() async throws {
        let server = try server("www.example.com") { _ in
            Server.answer(404, "X-Env: staging", body: "hello world")
        }
        let failed = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.statuses = [200]
            $0.headers = [
                HeaderRequirement(name: "x-env", text: "production"),
                HeaderRequirement(name: "X-ENV", text: "staging", isForbidden: true),
                HeaderRequirement(name: "strict-transport-security"),
            ]
            $0.bodyText = "goodbye"
        }
        let ids = failed.findings.map(\.kind.id)
        #expect(ids == ["http.status", "http.header", "http.header", "http.header", "http.body"])
        let passed = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.statuses = [404]
            $0.headers = [HeaderRequirement(name: "x-env", text: "stag")]
            $0.bodyText = "world"
        }
        #expect(passed.verdict == .passed, "\(passed.told)")
    }

    @Test func `a redirect is told, and followed through the overrides where asked`() async throws {
        let second = try server("two.example.com")
        let place = "https://two.example.com:\(second.port)/x"
        let first = try server("one.example.com") { request in
            request.line.hasPrefix("GET /loop")
                ? Server.answer(302, "Location: /loop")
                : Server.answer(302, "Location: \(place)")
        }
        let told = try await verify(first, as: "one.example.com", anchors: anchors)
        #expect(told.has("http.redirect"), "\(told.told)")
        #expect(second.requests.isEmpty)

        var requirements = Requirements(anchors: anchors)
        requirements.followsRedirects = true
        let target = second.target("two.example.com")
        let verifier = Verifier(
            policy: Policy(general: requirements),
            resolution: { $0 == "two.example.com" ? target : nil }
        )
        let list = TargetList(targets: [first.target("one.example.com")])
        let report = try await verifier.report(on: list)
        #expect(
            report.verifications.map(\.evidence.name) == ["one.example.com", "two.example.com"]
        )
        #expect(second.requests.map(\.serverName) == ["two.example.com"])
        #expect(second.requests.map(\.line) == ["GET /x HTTP/1.1"])
        #expect(report.verifications[1].evidence.redirectedFrom != nil)
        #expect(report.verifications.filter { !$0.verdict.isGood }.isEmpty)

        let nowhere = Verifier(policy: Policy(general: requirements))
        let stray = try await nowhere.report(on: list)
        #expect(stray.verifications[0].has("http.redirect-not-overridden", .warning))
        requirements.path = "/loop"
        let loop = try await Verifier(policy: Policy(general: requirements)).report(on: list)
        #expect(loop.verifications.contains { $0.has("http.redirect-loop", .failure) })
        #expect(loop.verifications.count == 6)
    }

    @Test func `HTTP in the clear is reached, and says that nothing was verified`() async throws {
        let server = try Server(Server.Settings(behaviour: Int(CLOOPBACK_PLAIN_HTTP)))
        var target = server.target("www.example.com")
        target.scheme = .http
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: Anchors())))
        let report = try await verifier.report(on: TargetList(targets: [target]))
        #expect(report.verifications[0].has("http.plain"), "\(report.verifications[0].told)")
        #expect(server.requests.first?.headers["host"] == "www.example.com:\(server.port)")
    }

    @Test(arguments: [Scheme.imaps, .pop3s, .smtps, .ldaps])
    func `where TLS comes first, the connection is enough`(scheme: Scheme) async throws {
        let server = try server("mail.example.com")
        var target = server.target("mail.example.com")
        target.scheme = scheme
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: anchors)))
        let report = try await verifier.report(on: TargetList(targets: [target]))
        let verification = report.verifications[0]
        #expect(verification.verdict == .passed, "\(verification.told)")
        #expect(verification.evidence.handshake?.isComplete == true)
        #expect(verification.evidence.response == nil)
        #expect(server.requests.isEmpty)
    }

    @Test func `STARTTLS leads to the same verdicts`() async throws {
        var settings = Server.Settings()
        settings.behaviour = Int(CLOOPBACK_SMTP)
        let good = try server("mail.example.com", settings: settings)
        let bad = try server("other.example.com", settings: settings)
        let targets = [good, bad].map { server in
            var target = server.target("mail.example.com")
            target.scheme = .smtp
            return target
        }
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: anchors)))
        for (target, verdict) in zip(targets, [Verdict.passed, .failed]) {
            let report = try await verifier.report(on: TargetList(targets: [target]))
            let verification = report.verifications[0]
            #expect(verification.verdict == verdict, "\(verification.told)")
            #expect(verification.evidence.handshake?.isComplete == true)
        }
    }

    @Test func `a list is narrowed by patterns, and its ports are replaced`() throws {
        let place = SourcePlace(file: "a", line: 1)
        let names = ["www.Example.com.", "api.example.com", "example.org"]
        let list = TargetList(
            targets: names.map { Target(name: $0, addresses: [], source: place) },
            skipped: [SkippedTarget(name: "*.example.org", reason: "wildcard", source: place)]
        )
        func selected(_ only: [String], _ except: [String]) -> [String] {
            let few = list.selecting(
                only: only.map { NamePattern($0) },
                except: except.map { NamePattern($0) },
                ports: [8443]
            )
            #expect(few.targets.allSatisfy { $0.ports == [8443] })
            return few.targets.map(\.name) + few.skipped.map(\.name)
        }
        #expect(selected([], []) == names + ["*.example.org"])
        #expect(selected(["*.example.com"], []) == ["www.Example.com.", "api.example.com"])
        #expect(selected(["*.example.com"], ["a??.*"]) == ["www.Example.com."])
        #expect(selected(["example.org."], []) == ["example.org"])
        #expect(selected(["*"], ["*"]) == [])
    }

    @Test func `a name without anchors is an error before anything is contacted`() async throws {
        let server = try server("www.example.com")
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: Anchors())))
        await #expect(throws: ConfigurationError.self) {
            try await verifier.report(on: TargetList(targets: [server.target("www.example.com")]))
        }
        #expect(server.accepted == 0)
    }

    @Test func `a name that is no host name fails without a connection`() async throws {
        let server = try server("www.example.com")
        for name in ["", "a b.example", "-.-/x", "user@www.example.com", "www..example.com"] {
            let verification = try await verify(server, as: name, anchors: anchors)
            #expect(!verification.verdict.isGood, "\(name): \(verification.told)")
        }
        #expect(server.accepted == 0)
    }
}
