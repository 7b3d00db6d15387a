import Certificates
import FoundationEssentials
import HTTPSVerifier
import Testing

/// `detour verify` as it is called: forms, reports and exit statuses.
@Suite(.serialized) struct CommandTests {
    let root: Identity
    let anchors: String
    let chain: String

    init() throws {
        root = try FleetTests.root.get()
        let middle = try root.issue(.authority("Middle"))
        let leaf = try middle.issue(.server("www.example.com"))
        anchors = try ReportTests.write(root.certificate, "root.pem")
        chain = try ReportTests.write(leaf.certificate + middle.certificate, "chain.pem")
    }

    /// The built command lies beside the tests.
    private static let program: String? = {
        #if DEBUG
            let folder = "debug"
        #else
            let folder = "release"
        #endif
        let path =
            ProcessInfo.processInfo.environment["DETOUR"]
            ?? ConformanceData.package + "/.build/\(folder)/detour"
        if FileManager.default.isExecutableFile(atPath: path) { return path }
        print("SKIPPED: \(path) is absent; build it, or name it in DETOUR")
        return nil
    }()

    private func detour(_ arguments: String...) throws -> (status: Int32, output: String)? {
        guard let program = Self.program else { return nil }
        let log = try ReportTests.write("", "output.txt")
        let status = ReportTests.run([program, "verify"] + arguments, output: log)
        return (status, try String(contentsOf: URL(filePath: log), encoding: .utf8))
    }

    private func status(_ arguments: String...) throws -> Int32? {
        guard let program = Self.program else { return nil }
        return ReportTests.run([program, "verify"] + arguments)
    }

    @Test func `a chain out of a file is judged like a live one`() throws {
        guard
            let good = try detour(
                "--chain",
                chain,
                "--anchors",
                anchors,
                "--name",
                "www.example.com"
            )
        else { return }
        #expect(good.status == 0, "\(good.output)")
        #expect(good.output.contains("[anchor \(anchors):1]"))
        #expect(try status("--chain", chain, "--anchors", anchors, "--name", "x.example.com") == 1)
        #expect(try status("--chain", chain, "--anchors", anchors, "--name", "a b") == 1)
        #expect(try status("--chain", chain, "--anchors", anchors, "--at", "+365d") == 1)
        #expect(try status("--chain", chain, "--anchors", anchors, "--at", "+80d") == 0)
        #expect(
            try status(
                "--chain",
                chain,
                "--anchors",
                anchors,
                "--at",
                "+80d",
                "--warnings-as-errors"
            )
                == 3
        )
    }

    @Test func `usage is 64, configuration and anchors are 78`() throws {
        let empty = try ReportTests.write("", "empty.pem")
        guard let first = try status("--chain", chain) else { return }
        #expect(first == 64)
        #expect(try status("--at", "yesterday") == 64)
        #expect(try status("--report", "junit") == 64)
        #expect(try status("--report", "yaml=x") == 64)
        #expect(try status("--nonsense") == 64)
        #expect(try status("--chain", chain, "--evidence", "x") == 64)
        #expect(try status("--help") == 0)
        #expect(try status("--chain", chain, "--anchors", empty) == 78)
        #expect(try status("--chain", chain, "--anchors", "/nowhere") == 78)
        #expect(try status("--chain", "/nowhere", "--anchors", anchors) == 78)
        #expect(try status("--evidence", empty) == 78)
        #expect(try status("--limbo", empty) == 78)
        #expect(try status("--chain", chain, "--anchors", anchors, "--baseline", empty) == 78)
        #expect(
            try status("--chain", chain, "--anchors", anchors, "--report", "json=/nowhere/x") == 78
        )
    }

    @Test func `several reports are written in one run`() throws {
        guard Self.program != nil else { return }
        var arguments = ["--chain", chain, "--anchors", anchors, "--name", "www.example.com"]
        var paths: [String] = []
        for format in ReportFormat.allCases {
            let path = try ReportTests.write("old", "several.\(format)")
            arguments += ["--report", "\(format)=\(path)"]
            paths.append(path)
        }
        #expect(ReportTests.run([try #require(Self.program), "verify"] + arguments) == 0)
        for path in paths {
            let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            #expect(text != "old" && text.hasSuffix("\n"), "\(path)")
        }
    }

    @Test func `the program links neither Foundation nor ICU`() throws {
        guard let program = Self.program else { return }
        let log = try ReportTests.write("", "ldd.txt")
        #expect(ReportTests.run(["ldd", program], output: log) == 0)
        let libraries = try String(contentsOf: URL(filePath: log), encoding: .utf8)
        #expect(libraries.contains("libssl"))
        #expect(!libraries.contains("libFoundation.so"))
        #expect(!libraries.lowercased().contains("icu"))
    }
}
