import DNS
import FoundationEssentials
import Support
import Testing
import Zones

/// A zone file that other projects' suites judge: all of them agree where `must` is true.
private struct Case: Decodable, CustomTestStringConvertible {
    let id: String
    let file: String
    let origin: String
    let expect: String
    let must: Bool?
    let vectors: [Vector]?

    var testDescription: String { id }

    struct Vector: Decodable {
        let name: String
        let type: UInt16
        let rdata: String
    }

    /// The folder that holds the corpus, or nil where it is not on this machine.
    static let folder: String? = {
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let candidates = [
            ProcessInfo.processInfo.environment["DETOUR_CONFORMANCE"],
            "/\(package)/../shared/conformance",
        ]
        let folder = candidates.compactMap(\.self).map { $0 + "/data/zones/" }.first {
            readFile($0 + "manifest.jsonl") != nil
        }
        if folder == nil { print("SKIPPED: no conformance corpus (set DETOUR_CONFORMANCE)") }
        return folder
    }()

    static let all: [Case] = {
        guard let folder, let manifest = readFile(folder + "manifest.jsonl") else { return [] }
        return manifest.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Case.self, from: Data($0))
        }.filter { $0.must == true && readFile(folder + $0.file) != nil }
    }()
}

/// Records as `owner type octets`.
private struct Octets: RecordSink {
    var lines: Set<String> = []

    mutating func add(
        owner: Span<UInt8>,
        type: RecordType,
        class: RecordClass,
        ttl: UInt32,
        explicitTTL: Bool,
        rdata: Span<UInt8>,
        line: UInt32,
        file: UInt16
    ) {
        let name = (try? Name(parsing: owner))?.description ?? "?"
        lines.insert("\(name) \(type.rawValue) \(hex((0..<rdata.count).map { rdata[$0] }))")
    }
}

@Suite struct ConformanceTests {
    private func text(of zone: Case) throws -> [UInt8] {
        let folder = try #require(Case.folder)
        return try #require(readFile(folder + zone.file))
    }

    @Test(.enabled(if: Case.folder != nil), arguments: Case.all)
    fileprivate func `a zone that all agree on is judged like that`(zone: Case) throws {
        let findings = judge(try text(of: zone), .authoritative, origin: zone.origin)
        let verdict = !findings.contains { $0.severity == .error } ? "accept" : "reject"
        #expect(verdict == zone.expect, "\(findings.first?.description ?? "no finding")")
    }

    @Test(.enabled(if: Case.folder != nil), arguments: Case.all.filter { $0.vectors != nil })
    fileprivate func `its records have the octets that are expected`(zone: Case) throws {
        var octets = Octets()
        let text = try text(of: zone)
        _ = MasterFileScanner.scan(
            text.span,
            file: zone.file,
            settings: ScanSettings(
                kind: .authoritative,
                origin: try Name(scanning: zone.origin)
            ),
            including: { (_) throws(IncludeError) in throw IncludeError(reason: "no file") },
            into: &octets
        )
        for vector in zone.vectors ?? [] {
            #expect(octets.lines.contains("\(vector.name) \(vector.type) \(vector.rdata)"))
        }
    }
}
