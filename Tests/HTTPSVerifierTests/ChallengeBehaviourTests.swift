import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// What an NSURLProtocol with a challenge delegate does (A1 to A18 of the notes), and what its
/// faults were.
@Suite(.serialized) struct ChallengeBehaviourTests {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    /// Wants a user and password, and says so in the ways that `schemes` lists.
    func server(_ schemes: [String] = ["Basic realm=\"staging\""]) throws -> Server {
        let leaf = try root.issue(.server("www.example.com"))
        let headers = schemes.map { "WWW-Authenticate: \($0)\r\n" }.joined()
        return try Server(Server.Settings(chain: [leaf])) { request in
            let isKnown =
                request.headers["authorization"] == "Basic Y2k6c2VjcmV0"
                || request.headers["authorization"]?.hasPrefix("Digest ") == true
            return isKnown
                ? Server.answer(200)
                : "HTTP/1.1 401 No\r\n\(headers)Content-Length: 0\r\nConnection: close\r\n\r\n"
        }
    }

    static let secret = Credential.password(user: "ci", password: "secret")

    /// What a handler was asked, in its order.
    final class Record: Sendable {
        let events = Mutex<[String]>([])
        func add(_ event: String) { events.withLock { $0.append(event) } }
        var all: [String] { events.withLock { $0 } }
    }

    private func run(
        _ server: Server,
        _ handler: ChallengeHandler?,
        timeout: Double = 5,
        log: (@Sendable (LogEvent) -> Void)? = nil,
        adjust: (inout Requirements) -> Void = { _ in }
    ) async throws -> Verification {
        let verifier = make(handler, timeout: timeout, log: log, adjust: adjust)
        let list = TargetList(targets: [server.target("www.example.com")])
        return try await verifier.report(on: list).verifications[0]
    }

    private func make(
        _ handler: ChallengeHandler?,
        timeout: Double = 5,
        log: (@Sendable (LogEvent) -> Void)? = nil,
        adjust: (inout Requirements) -> Void = { _ in }
    ) -> Verifier {
        var requirements = Requirements(anchors: anchors)
        adjust(&requirements)
        var options = Verifier.Options()
        options.challengeTimeout = timeout
        options.retries = 0
        return Verifier(
            policy: Policy(general: requirements),
            options: options,
            challengeHandler: handler,
            log: log
        )
    }

    @Test func `A1: a verifier is dormant until it is started`() async throws {
        let server = try server()
        let record = Record()
        let verifier = make(
            ChallengeHandler(canHandle: { _ in
                record.add("asked"); return true
            })
        )
        #expect(verifier.pendingChallenges.isEmpty)
        #expect(server.accepted == 0)
        #expect(record.all.isEmpty)
        _ = try await verifier.report(on: TargetList(targets: [server.target("www.example.com")]))
        #expect(server.accepted > 0)
    }

    @Test func `A2: stop is idempotent, cancels what is pending once, and a new run works`()
        async throws
    {
        let server = try server()
        let record = Record()
        let verifier = Mutex<Verifier?>(nil)
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { _ in
                verifier.withLock { $0?.stop() }
                verifier.withLock { $0?.stop() }
            },
            didCancel: { _ in record.add("cancelled") }
        )
        let made = make(handler)
        made.stop()
        verifier.withLock { $0 = made }
        let list = TargetList(targets: [server.target("www.example.com")])
        let stopped = try await made.report(on: list)
        #expect(stopped.isInterrupted)
        #expect(stopped.verifications[0].has("connect.interrupted", .error))
        #expect(record.all == ["cancelled"])
        made.stop()
        made.setChallengeHandler(nil)
        let again = try await made.report(on: list)
        #expect(!again.isInterrupted)
        #expect(again.verifications[0].has("http.unauthorized"))
    }

    @Test func `A3: both schemes are verified, https by default`() async throws {
        let secure = try server()
        #expect(secure.target("www.example.com").scheme == .https)
        let plain = try Server(Server.Settings(behaviour: Int(CLOOPBACK_PLAIN_HTTP)))
        var target = plain.target("www.example.com")
        target.scheme = .http
        let list = TargetList(targets: [secure.target("www.example.com"), target])
        let report = try await make(nil).report(on: list)
        #expect(Set(report.verifications.map(\.evidence.scheme)) == [.https, .http])
        #expect(report.verifications.allSatisfy { $0.evidence.response != nil })
    }

    @Test func `A4: the handler can be set at run time, and none means default handling`()
        async throws
    {
        let server = try server()
        let none = try await run(server, nil)
        #expect(none.has("http.unauthorized", .information), "\(none.told)")
        #expect(none.verdict == .passed)
        let verifier = make(nil)
        verifier.setChallengeHandler(
            ChallengeHandler(
                canHandle: { $0.method == .basic },
                handle: { try? $0.resolve(.use(Self.secret)) }
            )
        )
        let list = TargetList(targets: [server.target("www.example.com")])
        let set = try await verifier.report(on: list).verifications[0]
        #expect(set.evidence.response?.status == 200)
    }

    @Test func `A5: after a swap returns, the old handler is never called`() async throws {
        let server = try server()
        let record = Record()
        let box = Mutex<Verifier?>(nil)
        let old = ChallengeHandler(
            canHandle: { space in
                record.add("old \(space.method)")
                // From within a call the swap goes through, and this call ends on the old one.
                box.withLock { $0 }?.setChallengeHandler(
                    ChallengeHandler(canHandle: {
                        record.add("new \($0.method)"); return false
                    })
                )
                return false
            },
            handle: { _ in record.add("old handle") }
        )
        let verifier = make(old)
        box.withLock { $0 = verifier }
        _ = try await verifier.report(on: TargetList(targets: [server.target("www.example.com")]))
        #expect(record.all == ["old serverTrust"])
    }

    @Test func `A6: every hook is optional`() async throws {
        let server = try server()
        let handlers = [
            ChallengeHandler(), ChallengeHandler(canHandle: { _ in true }),
            ChallengeHandler(handle: { _ in }), ChallengeHandler(didCancel: { _ in }),
        ]
        for handler in handlers {
            let verification = try await run(server, handler)
            #expect(verification.verdict == .passed, "\(verification.told)")
            #expect(verification.has("http.unauthorized"))
        }
    }

    @Test func `A7: the predicate is asked first, and no means default handling`() async throws {
        let server = try server()
        let record = Record()
        let handler = ChallengeHandler(
            canHandle: {
                record.add("can \($0.method)"); return false
            },
            handle: { _ in record.add("handle") }
        )
        let verification = try await run(server, handler, adjust: { $0.password = Self.secret })
        #expect(record.all.prefix(2) == ["can serverTrust", "can basic"])
        #expect(!record.all.contains("handle"))
        #expect(verification.evidence.response?.status == 200, "the default used the configuration")
    }

    @Test func `A8: challenges are handed out one call at a time`() async throws {
        let servers = try (0..<4).map { _ in try server() }
        let inside = Atomic(0)
        let most = Mutex(0)
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in
                let count = inside.add(1, ordering: .relaxed).newValue
                most.withLock { $0 = max($0, count) }
                cloopback_sleep(5)
                inside.subtract(1, ordering: .relaxed)
                try? challenge.resolve(.use(Self.secret))
            }
        )
        let list = TargetList(targets: servers.map { $0.target("www.example.com") })
        let report = try await make(handler).report(on: list)
        #expect(report.verifications.allSatisfy { $0.evidence.response?.status == 200 })
        #expect(most.withLock { $0 } == 1)
    }

    @Test(arguments: [false, true])
    func `A9: a challenge is resolved at once or later, from any thread`(later: Bool) async throws {
        let server = try server()
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in
                guard later else {
                    try? challenge.resolve(.use(Self.secret))
                    return
                }
                Task.detached {
                    try? await Task.sleep(for: .milliseconds(50))
                    try? challenge.resolve(.use(Self.secret))
                }
            }
        )
        let verification = try await run(server, handler)
        #expect(verification.evidence.response?.status == 200, "\(verification.told)")
    }

    @Test func `A10: the pending challenge can be inspected until it is resolved`() async throws {
        let server = try server()
        let box = Mutex<Verifier?>(nil)
        let record = Record()
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in
                let pending = box.withLock { $0 }?.pendingChallenges ?? []
                record.add("\(pending.count) \(pending.first === challenge)")
                try? challenge.resolve(.use(Self.secret))
                record.add("\(box.withLock { $0 }?.pendingChallenges.count ?? -1)")
            }
        )
        let verifier = make(handler)
        box.withLock { $0 = verifier }
        _ = try await verifier.report(on: TargetList(targets: [server.target("www.example.com")]))
        #expect(record.all == ["1 true", "0"])
    }

    @Test func `A11: no credential goes on without, and wrong, second or late answers are errors`()
        async throws
    {
        let server = try server()
        let record = Record()
        let kept = Mutex<AuthenticationChallenge?>(nil)
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in
                kept.withLock { $0 = challenge }
                func attempt(_ disposition: ChallengeDisposition) {
                    do throws(ChallengeError) {
                        try challenge.resolve(disposition)
                        record.add("good")
                    } catch {
                        record.add("\(error)")
                    }
                }
                attempt(.use(.serverTrust))
                attempt(.use(nil))
                attempt(.use(Self.secret))
            }
        )
        let verification = try await run(server, handler)
        #expect(record.all == ["credentialDoesNotFit", "good", "alreadyResolved"])
        #expect(verification.evidence.response?.status == 401)
        #expect(verification.verdict == .passed)
        #expect(verification.evidence.challenges.last?.outcome == "no credential")
        let challenge = kept.withLock { $0 }
        #expect(throws: ChallengeError.alreadyResolved) { try challenge?.resolve(.cancel) }
    }

    @Test func `A12: a challenge that nobody resolves is cancelled at its deadline`() async throws {
        let server = try server()
        let kept = Mutex<AuthenticationChallenge?>(nil)
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in kept.withLock { $0 = challenge } }
        )
        let verification = try await run(server, handler, timeout: 0.2)
        #expect(verification.has("http.challenge-unresolved", .error), "\(verification.told)")
        let challenge = try #require(kept.withLock { $0 })
        #expect(throws: ChallengeError.cancelled) { try challenge.resolve(.use(Self.secret)) }
    }

    @Test
    func `A13: the cancellation is told once, with the same challenge, never after an answer`()
        async throws
    {
        let server = try server()
        let record = Record()
        let kept = Mutex<AuthenticationChallenge?>(nil)
        let late = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in kept.withLock { $0 = challenge } },
            didCancel: { challenge in
                record.add("cancelled \(challenge === kept.withLock { $0 })")
            }
        )
        _ = try await run(server, late, timeout: 0.1)
        #expect(record.all == ["cancelled true"])
        let prompt = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { try? $0.resolve(.use(Self.secret)) },
            didCancel: { _ in record.add("again") }
        )
        _ = try await run(server, prompt, timeout: 0.1)
        #expect(record.all == ["cancelled true"])
    }

    @Test func `A14: one challenge at a time for a probe, several probes side by side`()
        async throws
    {
        let servers = try (0..<3).map { _ in
            try server(["Digest realm=\"a\", nonce=\"n\"", "Basic realm=\"b\""])
        }
        let pending = Mutex<[AuthenticationChallenge]>([])
        let most = Mutex(0)
        let handler = ChallengeHandler(
            canHandle: { [.basic, .digest].contains($0.method) },
            handle: { challenge in
                let waiting = pending.withLock { list -> [AuthenticationChallenge] in
                    list.append(challenge)
                    most.withLock { $0 = max($0, list.count) }
                    let ports = list.map(\.protectionSpace.port)
                    #expect(Set(ports).count == ports.count, "one at a time for an endpoint")
                    guard list.count == 3 else { return [] }
                    defer { list = [] }
                    return list
                }
                for one in waiting { try? one.resolve(.rejectProtectionSpace) }
            }
        )
        let list = TargetList(targets: servers.map { $0.target("www.example.com") })
        _ = try await make(handler, timeout: 2).report(on: list)
        #expect(most.withLock { $0 } == 3)
    }

    @Test func `A15: the cheap question and the handling are two steps`() async throws {
        let server = try server(["Digest realm=\"a\", nonce=\"n\"", "Basic realm=\"b\""])
        let record = Record()
        let handler = ChallengeHandler(
            canHandle: {
                record.add("can \($0.method)"); return $0.method == .basic
            },
            handle: {
                record.add("handle \($0.protectionSpace.method)"); try? $0.resolve(.use(nil))
            }
        )
        _ = try await run(server, handler)
        #expect(
            record.all == ["can serverTrust", "can digest", "can basic", "handle basic"]
        )
    }

    @Test func `A16: the log has events with and without an endpoint`() async throws {
        let server = try server()
        let record = Record()
        _ = try await run(
            server,
            nil,
            log: { event in
                record.add("\(event.event) \(event.endpoint?.name ?? "-")")
            }
        )
        #expect(
            record.all == [
                "run.start -", "probe.start www.example.com", "probe.end www.example.com",
                "run.end -",
            ]
        )
    }

    @Test func `A17: a protection space has everything that a handler decides by`() async throws {
        let leaf = try root.issue(.server("www.example.com"))
        let authority = try Draft.authority("Client CA").selfSigned()
        let settings = Server.Settings(
            chain: [leaf],
            clientCertificate: 1,
            clientAuthority: authority
        )
        let server = try Server(settings) { _ in
            Server.answer(
                401,
                "WWW-Authenticate: Negotiate",
                "WWW-Authenticate: NTLM",
                "WWW-Authenticate: Basic realm=\"a \\\"b\\\"\""
            )
        }
        let spaces = Mutex<[ProtectionSpace]>([])
        let handler = ChallengeHandler(
            canHandle: { space in
                spaces.withLock { $0.append(space) }
                return true
            },
            handle: { challenge in
                #expect(challenge.previousFailureCount == 0)
                #expect(challenge.failureResponse?.status == 401)
                try? challenge.resolve(.rejectProtectionSpace)
            }
        )
        let verification = try await run(server, handler)
        let seen = spaces.withLock { $0 }
        #expect(seen.map(\.method) == [.serverTrust, .clientCertificate, .basic])
        #expect(seen.allSatisfy { $0.host == "www.example.com" && $0.port == server.port })
        #expect(seen.allSatisfy { $0.scheme == .https && !$0.isProxy })
        #expect(seen[0].serverTrust?.isAccepted == true)
        #expect(seen[1].distinguishedNames.map(\.description) == ["CN=Client CA"])
        #expect(seen[2].realm == "a \"b\"")
        let outcomes = verification.evidence.challenges.map { "\($0.method) \($0.outcome)" }
        #expect(outcomes.contains("negotiate unsupported"))
        #expect(outcomes.contains("ntlm unsupported"))
        let form = try Server(Server.Settings(chain: [leaf])) { _ in
            Server.answer(401, "Content-Type: text/html", body: "<form>")
        }
        let page = try await run(form, nil)
        #expect(page.evidence.challenges.map(\.method) == ["htmlForm"])
    }

    @Test func `A18: use, default, cancel and reject, the strongest scheme first`() async throws {
        let server = try server([
            "Basic realm=\"b\"", "Digest realm=\"a\", nonce=\"n\", qop=\"auth\"",
        ])
        let record = Record()
        let rejecting = ChallengeHandler(
            canHandle: { $0.method != .serverTrust },
            handle: { challenge in
                record.add("\(challenge.protectionSpace.method)")
                let isDigest = challenge.protectionSpace.method == .digest
                try? challenge.resolve(isDigest ? .rejectProtectionSpace : .use(Self.secret))
            }
        )
        let used = try await run(server, rejecting)
        #expect(record.all == ["digest", "basic"])
        #expect(used.evidence.response?.status == 200)
        #expect(used.evidence.challenges.map(\.outcome) == ["rejected", "used"])
        for (disposition, status, outcome) in [
            (ChallengeDisposition.performDefault, 200, "used"), (.cancel, 401, "cancelled"),
        ] {
            let handler = ChallengeHandler(
                canHandle: { $0.method == .digest },
                handle: { try? $0.resolve(disposition) }
            )
            let verification = try await run(server, handler, adjust: { $0.password = Self.secret })
            #expect(verification.evidence.response?.status == status)
            #expect(verification.evidence.challenges.first?.outcome == outcome)
        }
    }
}
