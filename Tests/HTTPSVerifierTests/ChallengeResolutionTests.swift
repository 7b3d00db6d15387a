import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// What an NSURLProtocol with a challenge delegate does (A10 to A18 of the notes), and what its
/// faults were.
@Suite(.serialized) struct ChallengeResolutionTests {
    let fixture: ChallengeFixture
    private typealias Record = ChallengeFixture.Record
    private static let secret = ChallengeFixture.secret

    init() throws { fixture = try ChallengeFixture() }

    @Test func `A10: the pending challenge can be inspected until it is resolved`() async throws {
        let server = try fixture.server()
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
        let verifier = fixture.make(handler)
        box.withLock { $0 = verifier }
        _ = try await verifier.report(on: TargetList(targets: [server.target("www.example.com")]))
        #expect(record.all == ["1 true", "0"])
    }

    @Test func `A11: no credential goes on without, and wrong, second or late answers are errors`()
        async throws
    {
        let server = try fixture.server()
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
        let verification = try await fixture.run(server, handler)
        #expect(record.all == ["credentialDoesNotFit", "good", "alreadyResolved"])
        #expect(verification.evidence.response?.status == 401)
        #expect(verification.verdict == .passed)
        #expect(verification.evidence.challenges.last?.outcome == "no credential")
        let challenge = kept.withLock { $0 }
        #expect(throws: ChallengeError.alreadyResolved) { try challenge?.resolve(.cancel) }
    }

    @Test func `A12: a challenge that nobody resolves is cancelled at its deadline`() async throws {
        let server = try fixture.server()
        let kept = Mutex<AuthenticationChallenge?>(nil)
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in kept.withLock { $0 = challenge } }
        )
        let verification = try await fixture.run(server, handler, timeout: 0.2)
        #expect(verification.has("http.challenge-unresolved", .error), "\(verification.told)")
        let challenge = try #require(kept.withLock { $0 })
        #expect(throws: ChallengeError.cancelled) { try challenge.resolve(.use(Self.secret)) }
    }

    @Test
    func `A13: the cancellation is told once, with the same challenge, never after an answer`()
        async throws
    {
        let server = try fixture.server()
        let record = Record()
        let kept = Mutex<AuthenticationChallenge?>(nil)
        let late = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in kept.withLock { $0 = challenge } },
            didCancel: { challenge in
                record.add("cancelled \(challenge === kept.withLock { $0 })")
            }
        )
        _ = try await fixture.run(server, late, timeout: 0.1)
        #expect(record.all == ["cancelled true"])
        let prompt = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { try? $0.resolve(.use(Self.secret)) },
            didCancel: { _ in record.add("again") }
        )
        _ = try await fixture.run(server, prompt, timeout: 0.1)
        #expect(record.all == ["cancelled true"])
    }

    @Test func `A14: one challenge at a time for a probe, several probes side by side`()
        async throws
    {
        let servers = try (0..<3).map { _ in
            try fixture.server(["Digest realm=\"a\", nonce=\"n\"", "Basic realm=\"b\""])
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
        _ = try await fixture.make(handler, timeout: 2).report(on: list)
        #expect(most.withLock { $0 } == 3)
    }

    @Test func `A15: the cheap question and the handling are two steps`() async throws {
        let server = try fixture.server(["Digest realm=\"a\", nonce=\"n\"", "Basic realm=\"b\""])
        let record = Record()
        let handler = ChallengeHandler(
            canHandle: {
                record.add("can \($0.method)"); return $0.method == .basic
            },
            handle: {
                record.add("handle \($0.protectionSpace.method)"); try? $0.resolve(.use(nil))
            }
        )
        _ = try await fixture.run(server, handler)
        #expect(
            record.all == ["can serverTrust", "can digest", "can basic", "handle basic"]
        )
    }

    @Test func `A16: the log has events with and without an endpoint`() async throws {
        let server = try fixture.server()
        let record = Record()
        _ = try await fixture.run(
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
        let leaf = try fixture.root.issue(.server("www.example.com"))
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
        let verification = try await fixture.run(server, handler)
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
        let page = try await fixture.run(form, nil)
        #expect(page.evidence.challenges.map(\.method) == ["htmlForm"])
    }

    @Test func `A18: use, default, cancel and reject, the strongest scheme first`() async throws {
        let server = try fixture.server([
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
        let used = try await fixture.run(server, rejecting)
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
            let verification = try await fixture.run(
                server,
                handler,
                adjust: { $0.password = Self.secret }
            )
            #expect(verification.evidence.response?.status == status)
            #expect(verification.evidence.challenges.first?.outcome == outcome)
        }
    }
}
