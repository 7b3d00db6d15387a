import CLoopback
import Certificates
import HTTPSVerifier
import Testing

/// Endpoints of every kind on loopback, with certificates made for the occasion.
@Suite(.serialized) struct FleetTests {
    static let root = Result { try Draft.authority("Test Root").selfSigned() }
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try Self.root.get()
        anchors = try root.anchors
    }

    private func server(_ draft: Draft, more: [Identity] = []) throws -> Server {
        try Server(Server.Settings(chain: [try root.issue(draft)] + more))
    }

    @Test func `a good endpoint passes, and the report has its facts`() async throws {
        let server = try server(.server("www.example.com"))
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        let handshake = try #require(verification.evidence.handshake)
        #expect(handshake.version == "TLSv1.3")
        #expect(handshake.isComplete)
        #expect(handshake.chain.count == 1)
        #expect(handshake.group == "x25519")
        #expect(verification.evidence.response?.status == 200)
        #expect(verification.evidence.phases.tls != nil)
        #expect(verification.trustResult == .unspecified)
        #expect(verification.judgement?.path?.anchor?.place == "test.pem:1")
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let draft: Draft
        let finding: String
        let severity: Finding.Severity
    }

    static let bad: [Bad] = [
        Bad("expired", "time.expired") { $0.days = -30 ... -2 },
        Bad("not yet valid", "time.not-yet-valid") { $0.days = 2...30 },
        Bad("expires soon", "time.expires-soon", .warning) { $0.days = -30...5 },
        Bad("wrong name", "name.mismatch") { $0.names = ["DNS:other.example.com"] },
        Bad("no SAN", "name.no-alternative-name") {
            $0.names = []
            $0.commonName = "www.example.com"
        },
        Bad("weak key", "key.weak") { $0.keyKind = "RSA-1024" },
        Bad("SHA-1", "key.weak-signature") { $0.digest = "SHA1" },
        Bad("version 1", "extension.version") {
            $0.version = 1
            $0.commonName = "www.example.com"
        },
        Bad("client usage only", "extension.extended-key-usage") { $0.usage = "clientAuth" },
        Bad("unknown critical extension", "extension.unknown-critical") {
            $0.extra = ["1.2.3.4=critical,DER:0500"]
        },
        Bad("a wildcard inside of a label", "name.mismatch") { $0.names = ["DNS:w*.example.com"] },
        Bad("authority as leaf", "chain.authority-as-leaf", .warning) {
            $0.extra = ["basicConstraints=critical,CA:TRUE"]
        },
    ]

    @Test(arguments: bad)
    func `a bad certificate is told by its finding`(bad: Bad) async throws {
        let server = try server(bad.draft)
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has(bad.finding, bad.severity), "\(verification.told)")
        #expect((verification.verdict == .failed) == (bad.severity == .failure))
    }

    @Test func `a missing intermediate is an unknown issuer, and its URL is named`() async throws {
        let middle = try root.issue(.authority("Middle"))
        var draft = Draft.server("www.example.com")
        draft.extra = ["authorityInfoAccess=caIssuers;URI:http://ca.test/middle.der"]
        let leaf = try middle.issue(draft)
        let without = try Server(Server.Settings(chain: [leaf]))
        let failed = try await verify(without, as: "www.example.com", anchors: anchors)
        #expect(failed.has("chain.unknown-issuer", .failure), "\(failed.told)")
        #expect(failed.told.contains("http://ca.test/middle.der"))
        let with = try Server(Server.Settings(chain: [leaf, middle]))
        let passed = try await verify(with, as: "www.example.com", anchors: anchors)
        #expect(passed.verdict == .passed, "\(passed.told)")
    }

    @Test func `a wrong order, extra certificates and the root are tolerated and told`()
        async throws
    {
        let first = try root.issue(.authority("First"))
        let second = try first.issue(.authority("Second"))
        let stranger = try Draft.authority("Stranger").selfSigned()
        let leaf = try second.issue(.server("www.example.com"))
        let chain = [leaf, first, stranger, root, second]
        let server = try Server(Server.Settings(chain: chain))
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.verdict.isGood, "\(verification.told)")
        for id in ["chain.order", "chain.extra-certificate", "chain.anchor-sent"] {
            #expect(verification.has(id), "\(id): \(verification.told)")
        }
        #expect(verification.evidence.handshake?.chain.count == 5)
    }

    @Test func `a cross-signed issuer leads to the anchor, whatever is sent first`() async throws {
        let other = try Draft.authority("Other Root").selfSigned()
        let key = try Mint.key("P-256")
        var draft = Draft.authority("Crossed")
        draft.key = key
        let byOther = try other.issue(draft)
        let byRoot = try root.issue(draft)
        let leaf = try byRoot.issue(.server("www.example.com"))
        for chain in [[leaf, byOther, byRoot], [leaf, byRoot, byOther]] {
            let server = try Server(Server.Settings(chain: chain))
            let verification = try await verify(server, as: "www.example.com", anchors: anchors)
            #expect(verification.verdict.isGood, "\(verification.told)")
        }
        var expired = draft
        expired.days = -200 ... -100
        let old = try root.issue(expired)
        let server = try Server(Server.Settings(chain: [leaf, old, byRoot]))
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.verdict == .passedWithWarnings, "\(verification.told)")
        #expect(verification.has("chain.unused-expired", .warning))
    }

    @Test func `a self-signed endpoint fails, unless it is the anchor itself`() async throws {
        var draft = Draft.server("www.example.com")
        draft.commonName = "www.example.com"
        let leaf = try draft.selfSigned()
        let server = try Server(Server.Settings(chain: [leaf]))
        let failed = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(failed.has("chain.untrusted-root", .failure), "\(failed.told)")
        #expect(failed.trustResult == .recoverableTrustFailure)
        let passed = try await verify(server, as: "www.example.com", anchors: try leaf.anchors)
        #expect(passed.verdict == .passed, "\(passed.told)")
        #expect(passed.trustResult == .proceed)
        // An anchor for one name is no anchor for another.
        let other = try await verify(server, as: "other.example.com", anchors: try leaf.anchors)
        #expect(other.has("name.mismatch", .failure), "\(other.told)")
    }

    @Test func `an intermediate is an anchor`() async throws {
        let middle = try root.issue(.authority("Middle"))
        let leaf = try middle.issue(.server("www.example.com"))
        let server = try Server(Server.Settings(chain: [leaf]))
        let verification = try await verify(
            server,
            as: "www.example.com",
            anchors: try middle.anchors
        )
        #expect(verification.verdict == .passed, "\(verification.told)")
    }

    @Test func `ten thousand names are judged, and the report is capped`() async throws {
        var draft = Draft.server()
        draft.names = (0..<10_000).map { "DNS:host\($0).example.com" } + ["DNS:www.example.com"]
        let server = try server(draft)
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.verdict == .passed, "\(verification.told)")
        let report = Report([verification], time: .now)
        for format in ReportFormat.allCases {
            #expect(report.rendered(as: format).utf8.count < 50_000, "\(format)")
        }
    }

    @Test func `stapled responses are verified`() async throws {
        let leaf = try root.issue(.server("www.example.com"))
        let stranger = try Draft.authority("Stranger").selfSigned()
        let other = try root.issue(.server("other.example.com"))
        let cases: [(String, [UInt8])] = [
            ("revocation.staple-good", try Mint.staple(for: leaf, of: root)),
            (
                "revocation.staple-invalid",
                try Mint.staple(for: leaf, of: root, signedBy: stranger)
            ),
            ("revocation.staple-invalid", try Mint.staple(for: other, of: root)),
            ("revocation.staple-invalid", [1, 2, 3]),
            ("revocation.staple-expired", try Mint.staple(for: leaf, of: root, days: -9 ... -2)),
            ("revocation.revoked", try Mint.staple(for: leaf, of: root, status: 1)),
        ]
        for (finding, staple) in cases {
            let server = try Server(Server.Settings(chain: [leaf], staple: staple))
            let verification = try await verify(server, as: "www.example.com", anchors: anchors)
            #expect(verification.has(finding), "\(finding): \(verification.told)")
            #expect(verification.verdict.isGood == (finding == "revocation.staple-good"))
        }
    }

    @Test func `must-staple without a staple fails`() async throws {
        var draft = Draft.server("www.example.com")
        draft.extra = ["tlsfeature=status_request"]
        let leaf = try root.issue(draft)
        let without = try Server(Server.Settings(chain: [leaf]))
        let failed = try await verify(without, as: "www.example.com", anchors: anchors)
        #expect(failed.has("revocation.staple-missing", .failure), "\(failed.told)")
        let staple = try Mint.staple(for: leaf, of: root)
        let with = try Server(Server.Settings(chain: [leaf], staple: staple))
        let passed = try await verify(with, as: "www.example.com", anchors: anchors)
        #expect(passed.verdict == .passed, "\(passed.told)")
    }

    @Test func `TLS 1.1 only is told, with the chain`() async throws {
        let leaf = try root.issue(.server("www.example.com"))
        let server = try Server(
            Server.Settings(chain: [leaf], versions: (minimum: 0x0301, maximum: 0x0302))
        )
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has("protocol.old-version", .failure), "\(verification.told)")
        #expect(verification.judgement?.isAccepted == true)
    }

    @Test func `no forward secrecy warns, and Apple refuses`() async throws {
        var draft = Draft.server("www.example.com")
        draft.keyKind = "RSA-2048"
        let leaf = try root.issue(draft)
        let server = try Server(
            Server.Settings(
                chain: [leaf],
                versions: (minimum: 0x0303, maximum: 0x0303),
                ciphers: "AES128-GCM-SHA256"
            )
        )
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has("protocol.no-forward-secrecy", .warning), "\(verification.told)")
        #expect(verification.clients.first { $0.client == "Apple" }?.accepts == false)
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let behaviour: Int
        let finding: String
        let verdict: Verdict
    }

    static let broken = [
        Broken("closes", CLOOPBACK_CLOSE_IN_HANDSHAKE, "tls.handshake", .failed),
        Broken("never answers", CLOOPBACK_NEVER_ANSWER, "tls.timeout", .error),
        Broken("HTTP on the TLS port", CLOOPBACK_PLAIN_HTTP, "tls.not-tls", .failed),
    ]

    @Test(arguments: broken)
    func `what does not speak TLS is told by its stage`(broken: Broken) async throws {
        let leaf = try root.issue(.server("www.example.com"))
        let server = try Server(
            Server.Settings(chain: [leaf], behaviour: Int(broken.behaviour))
        )
        let verification = try await verify(server, as: "www.example.com", anchors: anchors)
        #expect(verification.has(broken.finding), "\(verification.told)")
        #expect(verification.verdict == broken.verdict)
        #expect(verification.trustResult == .invalid)
    }

    @Test func `nobody at the port is an error, retried and counted`() async throws {
        let port = try {
            try Server(Server.Settings(behaviour: CLOOPBACK_PLAIN_HTTP)).port
        }()
        let target = Target(
            name: "www.example.com",
            addresses: [try #require(InternetAddress("127.0.0.1"))],
            ports: [port],
            source: SourcePlace(file: "a", line: 1)
        )
        var options = Verifier.Options()
        options.retries = 2
        let verifier = Verifier(
            policy: Policy(general: Requirements(anchors: anchors)),
            options: options
        )
        let report = try await verifier.report(on: TargetList(targets: [target]))
        let verification = report.verifications[0]
        #expect(verification.has("connect.failed", .error), "\(verification.told)")
        #expect(verification.evidence.attempts == 3)
        #expect(report.exitStatus() == 2)
    }
}

extension FleetTests.Bad {
    init(
        _ description: String,
        _ finding: String,
        _ severity: Finding.Severity = .failure,
        _ change: (inout Draft) -> Void
    ) {
        var draft = Draft.server("www.example.com")
        change(&draft)
        self.init(
            testDescription: description,
            draft: draft,
            finding: finding,
            severity: severity
        )
    }
}

extension FleetTests.Broken {
    init(_ description: String, _ behaviour: Int, _ finding: String, _ verdict: Verdict) {
        self.init(
            testDescription: description,
            behaviour: behaviour,
            finding: finding,
            verdict: verdict
        )
    }
}
