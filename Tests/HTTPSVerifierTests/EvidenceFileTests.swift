import Certificates
import FoundationEssentials
import HTTPSVerifier
import Testing

/// Evidence that is stored and judged again; baselines.
@Suite(.serialized) struct EvidenceFileTests {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    private func collect() async throws -> (Report, Policy) {
        let middle = try root.issue(.authority("Middle"))
        let leaf = try middle.issue(.server("www.example.com"))
        let staple = try Mint.staple(for: leaf, of: middle)
        let server = try Server(Server.Settings(chain: [leaf, middle], staple: staple)) { _ in
            Server.answer(200, "X-Env: staging")
        }
        var requirements = Requirements(anchors: anchors)
        requirements.statuses = [200]
        requirements.headers = [HeaderRequirement(name: "x-env", text: "staging")]
        requirements.password = .password(user: "ci", password: "hunter2")
        let policy = Policy(general: requirements)
        let verifier = Verifier(policy: policy)
        let list = TargetList(targets: [server.target("www.example.com")])
        return (try await verifier.report(on: list), policy)
    }

    @Test func `stored evidence gives the same report, and no credential is in it`() async throws {
        let (report, policy) = try await collect()
        let file = EvidenceFile(report, policy: policy)
        let text = String(decoding: file.json, as: UTF8.self)
        #expect(!text.contains("hunter2"))
        let read = try EvidenceFile(json: file.json, of: "f.json")
        #expect(read.json == file.json)
        let again = read.report(at: report.time, baseline: Baseline())
        var options = RenderOptions()
        options.includesTimes = false
        for format in ReportFormat.allCases {
            #expect(
                again.rendered(as: format, options: options)
                    == report.rendered(as: format, options: options)
            )
        }
    }

    @Test func `at another time the verdict is another`() async throws {
        let (report, policy) = try await collect()
        #expect(report.verifications.map(\.verdict) == [.passed])
        let file = try EvidenceFile(
            json: EvidenceFile(report, policy: policy).json,
            of: "f.json"
        )
        func verdict(days: Int64) -> Verification {
            let time = report.time.advanced(bySeconds: days * 86_400)
            return file.report(at: time, baseline: Baseline()).verifications[0]
        }
        #expect(verdict(days: 3).verdict == .passed)
        #expect(verdict(days: 8).has("revocation.staple-expired", .failure))
        #expect(verdict(days: 80).has("time.expires-soon", .warning))
        #expect(verdict(days: 100).has("time.expired", .failure))
        #expect(verdict(days: -3).has("time.not-yet-valid", .failure))
        let other = try Draft.authority("Other Root").selfSigned()
        let elsewhere = file.report(
            at: report.time,
            anchors: try other.anchors,
            baseline: Baseline()
        )
        #expect(elsewhere.verifications[0].has("chain.unknown-issuer", .failure))
    }

    @Test(arguments: [
        "", "{}", "[]", "{\"schema\":2,\"anchors\":[],\"requirements\":[],\"endpoints\":[]}",
    ])
    func `what is no evidence file is an error`(text: String) {
        #expect(throws: ConfigurationError.self) {
            try EvidenceFile(json: Array(text.utf8), of: "f.json")
        }
    }

    @Test func `a baseline accepts until its day, and a stale entry fails`() async throws {
        var draft = Draft.server("other.example.com")
        draft.days = -30...60
        let server = try Server(Server.Settings(chain: [try root.issue(draft)]))
        let id = "name.mismatch@www.example.com@127.0.0.1:\(server.port)"
        func exit(_ entries: String, days: Int64 = 0) async throws -> (Int32, [String]) {
            var options = Verifier.Options()
            options.time = Moment.now.advanced(bySeconds: days * 86_400)
            let verifier = Verifier(
                policy: Policy(general: Requirements(anchors: anchors)),
                options: options,
                baseline: try Baseline(json: Array(entries.utf8), of: "b.json")
            )
            let list = TargetList(targets: [server.target("www.example.com")])
            let report = try await verifier.report(on: list)
            return (report.exitStatus(), report.staleEntries.map(\.id))
        }
        let day = Moment.now.advanced(bySeconds: 5 * 86_400).description.prefix(10)
        let entry = "{\"id\": \"\(id)\", \"reason\": \"moving\", \"expires\": \"\(day)\"}"
        #expect(try await exit("[]") == (1, []))
        #expect(try await exit("[\(entry)]") == (0, []))
        #expect(try await exit("[\(entry)]", days: 5) == (0, []))
        #expect(try await exit("[\(entry)]", days: 6) == (1, [id]))
        let stale = "{\"id\": \"time.expired@x@y\", \"reason\": \"old\"}"
        #expect(try await exit("[\(entry), \(stale)]") == (1, ["time.expired@x@y"]))
        for bad in ["{}", "[{\"id\": \"x\"}]", "[{\"id\":\"x\",\"reason\":\"\"}]"] {
            #expect(throws: ConfigurationError.self) {
                try Baseline(json: Array(bad.utf8), of: "b.json")
            }
        }
    }
}
