import CLoopback
import Certificates
import FoundationEssentials
import HTTPSVerifier
import Testing

/// The report in its nine formats, and what others' tools say to them.
@Suite(.serialized) struct ReportTests {
    /// Text that breaks out of every format that lets it.
    static let hostile =
        "\u{1B}[31m<script>alert(1)</script>]]>&amp; | `x` \"'\\ ::error::x %0A \u{202E}\u{0}\u{7F}\nnot ok 1"

    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    /// A good endpoint, one with hostile names, an unreachable one, one accepted by a baseline.
    private func report() async throws -> Report {
        var hostile = Draft.server("other.example.com")
        hostile.commonName = Self.hostile.replacing("\u{0}", with: "\u{1}")
        hostile.days = -9 ... -2
        let good = try Server(Server.Settings(chain: [try root.issue(.server("a.example.com"))]))
        let bad = try Server(Server.Settings(chain: [try root.issue(hostile)]))
        let silent = try Server(
            Server.Settings(chain: [], behaviour: Int(CLOOPBACK_NEVER_ANSWER))
        )
        let accepted = try Server(
            Server.Settings(chain: [try root.issue(.server("x.example.com"))])
        )
        let id = "name.mismatch@d.example.com@127.0.0.1:\(accepted.port)"
        let baseline = try Baseline(
            json: Array(
                """
                [{"id": "\(id)", "reason": "moved next week", "expires": "2999-01-01"},
                 {"id": "time.expired@gone@192.0.2.1:443", "reason": "was old"}]
                """.utf8
            ),
            of: "baseline.json"
        )
        var options = Verifier.Options()
        options.connectTimeout = 0.4
        options.retries = 0
        let verifier = Verifier(
            policy: Policy(general: Requirements(anchors: anchors)),
            options: options,
            baseline: baseline
        )
        let list = TargetList(
            targets: [
                silent.target("c.example.com", line: 3), bad.target("b.example.com", line: 2),
                good.target("a.example.com", line: 1), accepted.target("d.example.com", line: 4),
            ],
            skipped: [
                SkippedTarget(
                    name: "*.example.com",
                    reason: "a wildcard without sample names",
                    source: SourcePlace(file: "zones/test zone,1.zone", line: 9)
                )
            ]
        )
        return try await verifier.report(on: list)
    }

    @Test func `verdicts, order, baseline and exit status`() async throws {
        let report = try await report()
        #expect(report.verifications.map(\.verdict) == [.passed, .failed, .error, .passed])
        #expect(report.verifications.map(\.evidence.source.line) == [1, 2, 3, 4])
        #expect(report.staleEntries.map(\.id) == ["time.expired@gone@192.0.2.1:443"])
        #expect(report.exitStatus() == 1)
        #expect(Report([report.verifications[0]], time: .now).exitStatus() == 0)
        #expect(Report([report.verifications[2]], time: .now).exitStatus() == 2)
    }

    @Test func `no format lets hostile text through`() async throws {
        let report = try await report()
        for format in ReportFormat.allCases {
            let text = report.rendered(as: format)
            let controls = text.unicodeScalars.filter {
                $0.value < 0x20 && $0 != "\n" || $0.value == 0x7F || $0.value == 0x202E
            }
            #expect(controls.isEmpty, "\(format)")
            #expect(!text.contains("<script>"), "\(format)")
            #expect(!text.contains("\nnot ok 1\n"), "\(format)")
            #expect(text.hasSuffix("\n"), "\(format)")
            for line in text.split(separator: "\n") where line.contains("::error::x") {
                #expect(!line.hasPrefix("::error::x"), "\(format)")
            }
        }
    }

    @Test func `without times, two runs give the same octets`() async throws {
        let report = try await report()
        var options = RenderOptions()
        options.includesTimes = false
        for format in ReportFormat.allCases {
            let again = Report(
                report.verifications.shuffled(),
                skipped: report.skipped.reversed(),
                time: report.time.advanced(bySeconds: 5),
                duration: 77
            )
            let first = Report(
                report.verifications,
                skipped: report.skipped,
                time: report.time,
                duration: 1
            )
            #expect(
                first.rendered(as: format, options: options)
                    == again.rendered(as: format, options: options),
                "\(format)"
            )
        }
    }

    @Test func `JSON keeps to its published schema`() async throws {
        let json = try await report().rendered(as: .json)
        let schema = ConformanceData.package + "/packaging/verify.schema.json"
        try check(
            json,
            "report.json",
            [
                "python3", "-c",
                "import json,sys,jsonschema; s=json.load(open(sys.argv[1])); jsonschema.Draft202012Validator.check_schema(s); jsonschema.Draft202012Validator(s).validate(json.load(open(sys.argv[2])))",
                schema,
            ],
            needs: ["python3", "-c", "import jsonschema"]
        )
    }

    @Test func `JUnit keeps to the schema that Jenkins publishes`() async throws {
        let xml = try await report().rendered(as: .junit)
        try check(xml, "report.xml", ["xmllint", "--noout"], needs: ["xmllint", "--version"])
        let cases = xml.split(separator: "<testcase ").dropFirst().map { $0.prefix { $0 != ">" } }
        #expect(Set(cases).count == cases.count, "class and case names are unique")
        #expect(cases.allSatisfy { $0.contains("classname=\"") && !$0.contains(" name=\"\"") })
        guard let schema = Self.schema("junit-10.xsd") else { return }
        try check(
            xml,
            "report.xml",
            ["xmllint", "--noout", "--schema", schema],
            needs: ["xmllint", "--version"]
        )
    }

    @Test func `SARIF keeps to its schema and to what GitHub wants`() async throws {
        let json = try await report().rendered(as: .sarif)
        struct Log: Decodable {
            struct Run: Decodable { let results: [Result] }
            struct Result: Decodable {
                struct Location: Decodable {
                    struct Physical: Decodable {
                        struct Artifact: Decodable { let uri: String }
                        struct Region: Decodable { let startLine: Int }
                        let artifactLocation: Artifact
                        let region: Region
                    }
                    let physicalLocation: Physical
                }
                let ruleId: String
                let locations: [Location]
                let partialFingerprints: [String: String]
            }
            let runs: [Run]
        }
        let results = try JSONDecoder().decode(Log.self, from: Data(json.utf8)).runs[0].results
        #expect(!results.isEmpty)
        #expect(results.allSatisfy { $0.locations.count == 1 })
        let expired = try #require(results.first { $0.ruleId == "time.expired" })
        #expect(expired.locations[0].physicalLocation.artifactLocation.uri == "zones/test.zone")
        #expect(expired.locations[0].physicalLocation.region.startLine == 2)
        let prints = results.flatMap(\.partialFingerprints.values)
        #expect(Set(prints).count == prints.count)
        guard let schema = Self.schema("sarif-2.1.0.json") else { return }
        try check(
            json,
            "report.sarif",
            [
                "python3", "-c",
                "import json,sys,jsonschema; s=json.load(open(sys.argv[1])); jsonschema.validators.validator_for(s)(s).validate(json.load(open(sys.argv[2])))",
                schema,
            ],
            needs: ["python3", "-c", "import jsonschema"]
        )
    }

    @Test func `TAP is read by prove`() async throws {
        let report = try await report()
        let good = Report([report.verifications[0]], skipped: report.skipped, time: .now)
        // prove knows version 13; what is used here is the same in both.
        func older(_ report: Report) -> String {
            report.rendered(as: .tap).replacing("TAP version 14", with: "TAP version 13")
        }
        let path = try Self.write(older(good), "good.tap")
        let bad = try Self.write(older(report), "bad.tap")
        guard Self.run(["prove", "--version"]) == 0 else {
            print("SKIPPED: prove is absent")
            return
        }
        #expect(Self.run(["prove", "-Q", "--exec", "cat", path]) == 0)
        #expect(Self.run(["prove", "-Q", "--exec", "cat", bad]) == 1)
    }

    @Test func `Prometheus text is what promtool and the client's parser read`() async throws {
        let text = try await report().rendered(as: .prometheus)
        #expect(!text.contains("-62135596800"))
        let path = try Self.write(text, "report.prom")
        if Self.run(["promtool", "--version"]) == 0 {
            #expect(Self.run(["sh", "-c", "promtool check metrics < " + path]) == 0)
        } else {
            print("SKIPPED: promtool is absent")
        }
        let series = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let names = series.map { $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)] }
        #expect(Set(names).count == names.count, "each series once")
    }

    @Test func `HTML is well-formed and needs nothing else`() async throws {
        let html = try await report().rendered(as: .html)
        #expect(!html.contains("src=") && !html.contains("href="))
        #expect(html.contains("class=\"anchor\""))
        try check(
            html,
            "report.html",
            ["xmllint", "--noout", "--html"],
            needs: ["xmllint", "--version"]
        )
    }

    @Test func `an empty run is a report too`() {
        let report = Report([], time: .now)
        #expect(report.rendered(as: .junit).contains("<testcase"))
        #expect(report.rendered(as: .tap).contains("1..0 # SKIP"))
        for format in ReportFormat.allCases { #expect(!report.rendered(as: format).isEmpty) }
    }

    // Others' tools.

    /// Schemas of others are not part of the package: DETOUR_SCHEMAS names their folder.
    private static func schema(_ name: String) -> String? {
        let folder =
            ProcessInfo.processInfo.environment["DETOUR_SCHEMAS"]
            ?? ConformanceData.package + "/../shared/schemas"
        let path = folder + "/" + name
        if FileManager.default.fileExists(atPath: path) { return path }
        print("SKIPPED: \(path) is absent; set DETOUR_SCHEMAS to judge against it")
        return nil
    }

    private func check(_ text: String, _ name: String, _ command: [String], needs: [String]) throws
    {
        guard Self.run(needs) == 0 else {
            print("SKIPPED: \(needs.joined(separator: " ")) does not run here")
            return
        }
        let path = try Self.write(text, name)
        let log = path + ".log"
        let status = Self.run(command + [path], output: log)
        let said = (try? String(contentsOf: URL(filePath: log), encoding: .utf8)) ?? ""
        #expect(status == 0, "\(said.prefix(2_000))")
    }

    static func write(_ text: String, _ name: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "detour-reports")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file, options: .atomic)
        return file.path
    }

    static func run(_ command: [String], output: String? = nil, interruptAfter: Int32 = 0) -> Int32
    {
        // Safe: the texts live until the program has ended.
        unsafe withTexts(command.map(Optional.some) + [nil, output]) { texts in
            let list = unsafe Array(texts[...command.count])
            let output = unsafe texts[command.count + 1]
            return unsafe list.withUnsafeBufferPointer {
                unsafe cloopback_run($0.baseAddress, output, interruptAfter)
            }
        }
    }
}
