import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// What an NSURLProtocol with a challenge delegate does (A1 to A9 of the notes), and what its
/// faults were.
@Suite(.serialized) struct ChallengeBehaviourTests {
    let fixture: ChallengeFixture
    private typealias Record = ChallengeFixture.Record
    private static let secret = ChallengeFixture.secret

    init() throws { fixture = try ChallengeFixture() }

    @Test func `A1: a verifier is dormant until it is started`() async throws {
        let server = try fixture.server()
        let record = Record()
        let verifier = fixture.make(
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
        let server = try fixture.server()
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
        let made = fixture.make(handler)
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
        let secure = try fixture.server()
        #expect(secure.target("www.example.com").scheme == .https)
        let plain = try Server(Server.Settings(behaviour: Int(CLOOPBACK_PLAIN_HTTP)))
        var target = plain.target("www.example.com")
        target.scheme = .http
        let list = TargetList(targets: [secure.target("www.example.com"), target])
        let report = try await fixture.make(nil).report(on: list)
        #expect(Set(report.verifications.map(\.evidence.scheme)) == [.https, .http])
        #expect(report.verifications.allSatisfy { $0.evidence.response != nil })
    }

    @Test func `A4: the handler can be set at run time, and none means default handling`()
        async throws
    {
        let server = try fixture.server()
        let none = try await fixture.run(server, nil)
        #expect(none.has("http.unauthorized", .information), "\(none.told)")
        #expect(none.verdict == .passed)
        let verifier = fixture.make(nil)
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
        let server = try fixture.server()
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
        let verifier = fixture.make(old)
        box.withLock { $0 = verifier }
        _ = try await verifier.report(on: TargetList(targets: [server.target("www.example.com")]))
        #expect(record.all == ["old serverTrust"])
    }

    @Test func `A6: every hook is optional`() async throws {
        let server = try fixture.server()
        let handlers = [
            ChallengeHandler(), ChallengeHandler(canHandle: { _ in true }),
            ChallengeHandler(handle: { _ in }), ChallengeHandler(didCancel: { _ in }),
        ]
        for handler in handlers {
            let verification = try await fixture.run(server, handler)
            #expect(verification.verdict == .passed, "\(verification.told)")
            #expect(verification.has("http.unauthorized"))
        }
    }

    @Test func `A7: the predicate is asked first, and no means default handling`() async throws {
        let server = try fixture.server()
        let record = Record()
        let handler = ChallengeHandler(
            canHandle: {
                record.add("can \($0.method)"); return false
            },
            handle: { _ in record.add("handle") }
        )
        let verification = try await fixture.run(
            server,
            handler,
            adjust: { $0.password = Self.secret }
        )
        #expect(record.all.prefix(2) == ["can serverTrust", "can basic"])
        #expect(!record.all.contains("handle"))
        #expect(verification.evidence.response?.status == 200, "the default used the configuration")
    }

    @Test func `A8: challenges are handed out one call at a time`() async throws {
        let servers = try (0..<4).map { _ in try fixture.server() }
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
        let report = try await fixture.make(handler).report(on: list)
        #expect(report.verifications.allSatisfy { $0.evidence.response?.status == 200 })
        #expect(most.withLock { $0 } == 1)
    }

    @Test(arguments: [false, true])
    func `A9: a challenge is resolved at once or later, from any thread`(later: Bool) async throws {
        let server = try fixture.server()
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
        let verification = try await fixture.run(server, handler)
        #expect(verification.evidence.response?.status == 200, "\(verification.told)")
    }
}
