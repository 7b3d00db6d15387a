import Certificates
import FoundationEssentials
import HTTPSVerifier
import Testing

/// The x509-limbo suite: offline, and live on loopback wherever it has the leaf's key.
@Suite(.serialized) struct LimboTests {
    private func suite() throws -> LimboSuite? {
        try ConformanceData.contents("limbo.json").map { try LimboSuite(json: $0, now: .now) }
    }

    @Test func `every verdict is as expected, or an exception with its reason`() throws {
        guard let suite = try suite() else { return }
        var wrong: [String] = []
        var falseAccepts = 0
        for one in suite.cases {
            let judgement = one.judge()
            let isException = limboExceptions[one.id] != nil
            let isExpected = judgement.isAccepted == one.expectsSuccess
            if !isExpected, judgement.isAccepted { falseAccepts += 1 }
            if isExpected && isException { wrong.append("stale exception: \(one.id)") }
            if !isExpected && !isException {
                let reasons = judgement.findings.filter { $0.severity == .failure }
                wrong.append("\(one.id): \(reasons.map(\.kind.id))")
            }
        }
        let used = suite.cases.filter { limboExceptions[$0.id] != nil }.count
        print(
            "limbo: \(suite.cases.count) cases, \(used) exceptions, \(falseAccepts) false accepts"
        )
        #expect(wrong == [])
        #expect(Double(used) <= 0.05 * Double(suite.cases.count))
        #expect(limboExceptions.values.allSatisfy { $0.count > 40 })
    }

    @Test func `path building is right in every case of BetterTLS`() throws {
        guard let suite = try suite() else { return }
        let cases = suite.cases.filter { $0.id.hasPrefix("bettertls::") }
        let wrong = cases.filter { $0.judge().isAccepted != $0.expectsSuccess }.map(\.id)
        print("BetterTLS path building: \(cases.count) cases, \(wrong.count) wrong")
        #expect(!cases.isEmpty)
        #expect(wrong == [])
    }

    @Test func `no search goes beyond its budget`() throws {
        guard let suite = try suite() else { return }
        let cases = suite.cases.filter { $0.id.hasPrefix("pathological::") }
        #expect(!cases.isEmpty)
        for one in cases {
            let judgement = one.judge()
            #expect(judgement.signatureChecks <= 100, "\(one.id)")
        }
    }

    @Test func `the results have the suite's own format`() throws {
        guard let suite = try suite() else { return }
        struct Results: Decodable {
            struct One: Decodable {
                let id: String
                let actual_result: String
            }
            let version: Int
            let harness: String
            let results: [One]
        }
        let json = suite.results(harness: "detour")
        let results = try JSONDecoder().decode(Results.self, from: Data(json))
        #expect(results.version == 1)
        #expect(results.results.map(\.id) == suite.cases.map(\.id))
        #expect(Set(results.results.map(\.actual_result)) == ["SUCCESS", "FAILURE"])
    }

    @Test func `a live endpoint gets the verdict that its chain gets offline`() async throws {
        guard let suite = try suite() else { return }
        var compared = 0
        var unservable: [String] = []
        var differing: [String] = []
        for one in suite.cases {
            guard let key = one.leafKey, one.question.purpose == .server,
                let name = one.question.name
            else { continue }
            let identities = one.chain.map { Identity(key: key, certificate: PEM.text($0)) }
            guard let server = try? Server(Server.Settings(chain: identities)) else {
                unservable.append(one.id)
                continue
            }
            let verification = try await Self.verify(server, as: name.description, one)
            let isServed = verification.evidence.handshake?.chain.isEmpty == false
            guard isServed else {
                unservable.append(one.id)
                continue
            }
            compared += 1
            #expect(verification.evidence.handshake?.certificates == one.chain, "\(one.id)")
            // A handshake that ends in an error is a failure of its own beside the chain's.
            let offline = one.judge()
            let live = verification.judgement
            if live?.isAccepted != offline.isAccepted
                || live?.findings.map(\.kind.id) != offline.findings.map(\.kind.id)
            {
                differing.append(one.id)
            }
            if verification.verdict == .failed { continue }
            if verification.evidence.handshake?.isComplete != true { differing.append(one.id) }
            if !offline.isAccepted { differing.append(one.id) }
        }
        print(
            "live limbo: \(compared) compared, \(differing.count) differ, not servable: \(unservable)"
        )
        #expect(compared > 90)
        #expect(differing == [])
        #expect(unservable.count <= 4)
    }

    /// The case's own question, asked of a live endpoint.
    private static func verify(
        _ server: Server,
        as name: String,
        _ one: LimboSuite.Case
    ) async throws -> Verification {
        var requirements = Requirements(anchors: one.anchors)
        requirements.profile = one.question.profile
        requirements.revocationLists = one.question.revocationLists
        requirements.maximumDepth = one.question.maximumDepth
        var options = Verifier.Options()
        options.time = one.question.time
        options.retries = 0
        let verifier = Verifier(policy: Policy(general: requirements), options: options)
        let report = try await verifier.report(on: TargetList(targets: [server.target(name)]))
        return report.verifications[0]
    }
}
