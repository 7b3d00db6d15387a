import CLoopback
import Certificates
import HTTPSVerifier
import Testing

/// Pins, expiry limits, profiles and levels.
@Suite(.serialized) struct RequirementTests {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    private func verify(
        _ draft: Draft,
        more: [Identity] = [],
        _ adjust: (inout Requirements) -> Void = { _ in }
    ) async throws -> Verification {
        let server = try Server(Server.Settings(chain: [try root.issue(draft)] + more))
        var requirements = Requirements(anchors: anchors)
        adjust(&requirements)
        let verifier = Verifier(policy: Policy(general: requirements))
        let list = TargetList(targets: [server.target("www.example.com")])
        return try await verifier.report(on: list).verifications[0]
    }

    @Test func `a pin must be on the validated path, not just in what was sent`() async throws {
        let pin = try #require(anchors.all.first).certificate.publicKey.pin
        let stranger = try Draft.authority("Stranger").selfSigned()
        let other = try #require(stranger.anchors.all.first).certificate.publicKey.pin
        let draft = Draft.server("www.example.com")
        let held = try await verify(draft) { $0.pins = [other, pin] }
        #expect(held.has("key.pin-matched", .information), "\(held.told)")
        #expect(held.verdict == .passed)
        #expect(held.trustResult == .proceed)
        let appended = try await verify(draft, more: [stranger]) { $0.pins = [other] }
        #expect(appended.has("key.pin-mismatch", .failure), "\(appended.told)")
    }

    @Test func `days and percent warn, days fail`() async throws {
        var draft = Draft.server("www.example.com")
        draft.days = -70...30
        let plain = try await verify(draft)
        #expect(plain.verdict == .passed, "\(plain.told)")
        let warned = try await verify(draft) { $0.warnDays = 31 }
        #expect(warned.has("time.expires-soon", .warning))
        let share = try await verify(draft) { $0.warnBelowPercent = 33 }
        #expect(share.has("time.expires-soon", .warning))
        let enough = try await verify(draft) { $0.warnBelowPercent = 20 }
        #expect(enough.verdict == .passed)
        let failed = try await verify(draft) { $0.failDays = 31 }
        #expect(failed.has("time.expires-soon", .failure))
    }

    @Test func `expiry is told apart for what was sent and for the path`() async throws {
        var short = Draft.authority("Unused")
        short.days = -5...1
        let unused = try short.selfSigned()
        let verification = try await verify(.server("www.example.com"), more: [unused])
        let earliest = try #require(verification.earliestExpiry)
        let path = try #require(verification.pathExpiry)
        #expect(Moment.now.seconds(until: earliest) / 86_400 <= 1)
        #expect(Moment.now.seconds(until: path) / 86_400 >= 89)
    }

    @Test func `the profile decides over form, and the level over strength`() async throws {
        var draft = Draft.server("www.example.com")
        draft.namesIssuerKey = false
        let standard = try await verify(draft)
        #expect(standard.has("extension.key-identifier", .warning), "\(standard.told)")
        #expect(standard.has("compatibility.strict", .warning))
        #expect(standard.clients.first { $0.client == "Python 3.13" }?.accepts == false)
        #expect(standard.clients.first { $0.client == "OpenSSL, curl" }?.accepts == true)
        let strict = try await verify(draft) { $0.profile = .webPKI }
        #expect(strict.has("extension.key-identifier", .failure))
        var weak = Draft.server("www.example.com")
        weak.keyKind = "RSA-1024"
        let lowered = try await verify(weak) { $0.securityLevel = 0 }
        #expect(lowered.judgement?.isAccepted == true, "\(lowered.told)")
        #expect(lowered.clients.first { $0.client == "Apple" }?.accepts == false)
    }

    @Test func `Apple's lines say what only Apple refuses`() async throws {
        func reason(_ change: (inout Draft) -> Void) async throws -> String? {
            var draft = Draft.server("www.example.com")
            change(&draft)
            let verification = try await verify(draft)
            #expect(verification.judgement?.isAccepted == true, "\(verification.told)")
            #expect(verification.clients.first { $0.client == "OpenSSL, curl" }?.accepts == true)
            let apple = verification.clients.first { $0.client == "Apple" }
            return apple?.accepts == true ? nil : apple?.reason
        }
        #expect(try await reason { $0.days = -1...823 } == nil)
        #expect(try await reason { $0.days = -1...900 }?.contains("825") == true)
        #expect(try await reason { $0.usage = nil }?.contains("serverAuth") == true)
    }

    @Test func `the first rule whose pattern fits decides`() {
        var strict = Requirements(anchors: anchors)
        strict.warnDays = 99
        let policy = Policy(
            general: Requirements(anchors: Anchors()),
            rules: [
                Policy.Rule(pattern: NamePattern("*.staging.example.com"), requirements: strict)
            ]
        )
        #expect(policy.requirements(for: "A.Staging.example.com.").warnDays == 99)
        #expect(policy.requirements(for: "staging.example.com").anchors.isEmpty)
    }

    @Test func `no password goes out in the clear`() async throws {
        let server = try Server(Server.Settings(behaviour: Int(CLOOPBACK_PLAIN_HTTP))) { _ in
            Server.answer(401, "WWW-Authenticate: Basic realm=\"x\"")
        }
        var requirements = Requirements(anchors: anchors)
        requirements.password = .password(user: "ci", password: "secret")
        var target = server.target("www.example.com")
        target.scheme = .http
        let verifier = Verifier(policy: Policy(general: requirements))
        let report = try await verifier.report(on: TargetList(targets: [target]))
        #expect(report.verifications[0].has("http.credential-withheld", .warning))
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
    }
}
