import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// What server trust against own anchors does (C1 to C11 of the notes), and what its faults were:
/// anchors that counted only where invalid certificates were allowed, and failing open.
@Suite(.serialized) struct TrustBehaviourTests {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    private func server(_ issuer: Identity? = nil, _ name: String = "www.example.com") throws
        -> Server
    {
        try Server(Server.Settings(chain: [try (issuer ?? root).issue(.server(name))]))
    }

    @Test func `C1: allowing invalid certificates is off by default and never hides a finding`()
        async throws
    {
        let stranger = try Draft.authority("Stranger").selfSigned()
        let server = try server(stranger)
        let strict = try await verify(server, as: "www.example.com", anchors: anchors)
        let waived = try await verify(server, as: "www.example.com", anchors: anchors) {
            $0.allowsInvalid = true
        }
        #expect(strict.findings == waived.findings)
        #expect(strict.verdict == .failed)
        #expect(waived.verdict == .failed)
        #expect(Report([strict], time: .now).exitStatus() == 1)
        let report = Report([waived], time: .now)
        #expect(report.exitStatus() == 0)
        for format in ReportFormat.allCases where format != .prometheus {
            let text = report.rendered(as: format)
            #expect(text.lowercased().contains("waived"), "\(format)")
            #expect(text.contains("chain.unknown-issuer"), "\(format)")
        }
        // Anchors count with and without it.
        let good = try await verify(try self.server(), as: "www.example.com", anchors: anchors)
        #expect(good.verdict == .passed)
    }

    @Test func `C2: server trust is a challenge of its own kind`() async throws {
        let seen = Mutex<[AuthenticationMethod]>([])
        let handler = ChallengeHandler(
            canHandle: { space in
                seen.withLock { $0.append(space.method) }
                return false
            },
            handle: { _ in Issue.record("nobody said yes") }
        )
        _ = try await verify(
            try server(),
            as: "www.example.com",
            anchors: anchors,
            handler: handler
        )
        #expect(seen.withLock { $0 } == [.serverTrust])
    }

    @Test func `C3: several anchors count, each with its file and line`() async throws {
        let other = try Draft.authority("Other Root").selfSigned()
        var both = Anchors()
        let bundle = "# two roots\n" + other.certificate + "\n" + root.certificate
        try both.add(contents: Array(bundle.utf8), of: "bundle.pem")
        for (issuer, line) in [
            (other, 2), (root, 2 + other.certificate.split(separator: "\n").count + 1),
        ] {
            let server = try server(issuer)
            let verification = try await verify(server, as: "www.example.com", anchors: both)
            #expect(verification.verdict == .passed, "\(verification.told)")
            #expect(verification.judgement?.path?.anchor?.place == "bundle.pem:\(line)")
        }
    }

    @Test func `C4: only the configured anchors count`() async throws {
        let stranger = try Draft.authority("Stranger").selfSigned()
        let chain = [try stranger.issue(.server("www.example.com")), stranger]
        let server = try Server(Server.Settings(chain: chain))
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has("chain.untrusted-root", .failure), "\(verification.told)")
    }

    @Test func `C5: the endpoint's own certificate can be the anchor`() async throws {
        let leaf = try root.issue(.server("www.example.com"))
        let server = try Server(Server.Settings(chain: [leaf]))
        let verification = try await verify(
            server,
            as: "www.example.com",
            anchors: try leaf.anchors
        )
        #expect(verification.verdict == .passed, "\(verification.told)")
        #expect(verification.has("chain.leaf-is-anchor", .information))
    }

    @Test func `C6: the eight kinds of result, by their numbers`() async throws {
        #expect(
            (0...7).map { TrustResult(rawValue: $0)?.name } == [
                "Invalid", "Proceed", "Confirm", "Deny", "Unspecified", "RecoverableTrustFailure",
                "FatalTrustFailure", "OtherError",
            ]
        )
        var expired = Draft.server("www.example.com")
        expired.days = -9 ... -2
        var weak = Draft.server("www.example.com")
        weak.keyKind = "RSA-1024"
        let leaf = try root.issue(.server("www.example.com"))
        let cases: [(Identity, Anchors, TrustResult)] = [
            (leaf, anchors, .unspecified), (leaf, try leaf.anchors, .proceed),
            (try root.issue(expired), anchors, .recoverableTrustFailure),
            (try root.issue(.server("other.example.com")), anchors, .recoverableTrustFailure),
            (try root.issue(weak), anchors, .fatalTrustFailure),
        ]
        for (leaf, anchors, result) in cases {
            let server = try Server(Server.Settings(chain: [leaf]))
            let verification = try await verify(server, as: "www.example.com", anchors: anchors)
            #expect(verification.trustResult == result, "\(verification.told)")
        }
        let silent = try Server(
            Server.Settings(chain: [], behaviour: Int(CLOOPBACK_CLOSE_IN_HANDSHAKE))
        )
        let nothing = try await verify(silent, as: "www.example.com", anchors: anchors)
        #expect(nothing.trustResult == .invalid)
    }

    @Test func `C7: lenient turns what is recoverable into warnings, and nothing else`()
        async throws
    {
        var expired = Draft.server("www.example.com")
        expired.days = -9 ... -2
        let old = try Server(Server.Settings(chain: [try root.issue(expired)]))
        let lenient = try await verify(old, as: "www.example.com", anchors: anchors) {
            $0.isLenient = true
        }
        #expect(lenient.has("time.expired", .warning), "\(lenient.told)")
        var weak = Draft.server("www.example.com")
        weak.keyKind = "RSA-1024"
        let fatal = try Server(Server.Settings(chain: [try root.issue(weak)]))
        let still = try await verify(fatal, as: "www.example.com", anchors: anchors) {
            $0.isLenient = true
        }
        #expect(still.verdict == .failed)
        let never = try await verify(old, as: "www.example.com", anchors: anchors)
        #expect(never.verdict == .failed, "not the default")
    }

    @Test func `C8: a handler can trust the server, and the report says that it was waived`()
        async throws
    {
        let stranger = try Draft.authority("Stranger").selfSigned()
        let server = try server(stranger)
        let handler = ChallengeHandler(
            canHandle: { $0.method == .serverTrust },
            handle: { challenge in
                #expect(challenge.protectionSpace.serverTrust?.isAccepted == false)
                try? challenge.resolve(.use(.serverTrust))
            }
        )
        let verification = try await verify(
            server,
            as: "www.example.com",
            anchors: anchors,
            handler: handler
        )
        #expect(verification.verdict == .failed)
        #expect(verification.isWaived)
        #expect(verification.countedVerdict == .passedWithWarnings)
    }

    @Test func `C9: a credential is used where nothing failed before, and once`() async throws {
        let failures = Mutex<[Int]>([])
        let leaf = try root.issue(.server("www.example.com"))
        let server = try Server(Server.Settings(chain: [leaf])) { _ in
            Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
        }
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in
                failures.withLock { $0.append(challenge.previousFailureCount) }
                try? challenge.resolve(.performDefault)
            }
        )
        let verification = try await verify(
            server,
            as: "www.example.com",
            anchors: anchors,
            handler: handler
        ) { $0.password = .password(user: "ci", password: "wrong") }
        #expect(failures.withLock { $0 } == [0, 1])
        #expect(server.requests.count { $0.headers["authorization"] != nil } == 1)
        #expect(verification.has("http.credential-refused", .failure), "\(verification.told)")
    }

    @Test func `C10: of two threads that resolve, exactly one does`() async throws {
        let leaf = try root.issue(.server("www.example.com"))
        let server = try Server(Server.Settings(chain: [leaf])) { _ in
            Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
        }
        let tally = Tally()
        let handler = ChallengeHandler(
            canHandle: { $0.method == .basic },
            handle: { challenge in
                for _ in 0..<4 {
                    Task.detached {
                        do throws(ChallengeError) {
                            try challenge.resolve(.use(nil))
                            tally.good.add(1, ordering: .relaxed)
                        } catch {
                            tally.bad.add(1, ordering: .relaxed)
                        }
                    }
                }
            }
        )
        _ = try await verify(server, as: "www.example.com", anchors: anchors, handler: handler)
        while tally.good.load(ordering: .relaxed) + tally.bad.load(ordering: .relaxed) < 4 {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(tally.good.load(ordering: .relaxed) == 1)
    }

    private final class Tally: Sendable {
        let good = Atomic(0)
        let bad = Atomic(0)
    }

    @Test func `C11: each step leaves a finding with its evidence and its advice`() async throws {
        var draft = Draft.server("other.example.com")
        draft.days = -9 ... -2
        let server = try Server(Server.Settings(chain: [try root.issue(draft)])) { _ in
            Server.answer(421)
        }
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        let failures = verification.findings.filter { $0.severity == .failure }
        #expect(failures.map(\.kind.id) == ["name.mismatch", "time.expired", "http.misdirected"])
        #expect(failures.allSatisfy { !$0.evidence.isEmpty && !$0.kind.advice.isEmpty })
        #expect(failures.allSatisfy { $0.kind.id.hasPrefix($0.kind.stage.rawValue + ".") })
    }
}
