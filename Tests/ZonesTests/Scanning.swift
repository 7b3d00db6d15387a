import DNS
import Zones

/// Records as lines of text, with the line and file they start in.
struct Listing: RecordSink {
    var lines: [String] = []
    var places: [String] = []
    var explicit: [Bool] = []

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
        lines.append("\(name) \(ttl) \(`class`) \(type) \(RData.text(rdata, type: type))")
        places.append("\(file):\(line)")
        explicit.append(explicitTTL)
    }
}

/// What scanning a text gave.
struct Scanned {
    var listing = Listing()
    var report: ScanReport

    /// The records, one a line.
    var records: [String] { listing.lines }
    /// The findings' first lines.
    var findings: [String] {
        report.findings.map { String($0.description.split(separator: "\n")[0]) }
    }
}

/// Scans a master file named `test.zone` with origin `example.`; `files` can be included.
func scan(
    _ text: String,
    kind: ZoneKind = .override,
    origin: String = "example.",
    file: String = "test.zone",
    files: [String: String] = [:]
) -> Scanned {
    scan(Array(text.utf8), kind: kind, origin: origin, file: file, files: files)
}

func scan(
    _ octets: [UInt8],
    kind: ZoneKind = .override,
    origin: String = "example.",
    file: String = "test.zone",
    files: [String: String] = [:]
) -> Scanned {
    let name = (try? Name(scanning: origin)) ?? .root
    var listing = Listing()
    let report = MasterFileScanner.scan(
        octets.span,
        file: file,
        settings: ScanSettings(kind: kind, origin: name),
        including: { (path) throws(IncludeError) in
            guard let text = files[path] else { throw IncludeError(reason: "no such file") }
            return Array(text.utf8)
        },
        into: &listing
    )
    return Scanned(listing: listing, report: report)
}

/// Scans a hosts file named `hosts`.
func scanHosts(_ text: String) -> Scanned {
    let octets = Array(text.utf8)
    var listing = Listing()
    let report = HostsFileScanner.scan(
        octets.span,
        file: "hosts",
        settings: ScanSettings(kind: .hosts),
        into: &listing
    )
    return Scanned(listing: listing, report: report)
}

/// All that is found in a zone named `z`: what keeps it from being served, and what else is odd.
func judge(_ text: [UInt8], _ kind: ZoneKind, origin: String) -> [ZoneFileError] {
    let name = (try? Name(scanning: origin)) ?? .root
    let source = ZoneSource(kind: kind, label: "z", origin: name)
    let layer = ZoneCompiler.compile([ZoneFile(path: "z", source: source)], seed: 1) {
        (path) throws(IncludeError) in
        guard path == "z" else { throw IncludeError(reason: "none") }
        return text
    }
    var records = RecordCollection()
    var report = MasterFileScanner.scan(
        text.span,
        file: "z",
        settings: ScanSettings(kind: kind, origin: name),
        including: { (_) throws(IncludeError) in throw IncludeError(reason: "none") },
        into: &records
    )
    let known = report.findings
    records.check(as: kind, origin: name, into: &report)
    let all = layer.findings + report.findings.dropFirst(known.count)
    return all.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        .map(\.element)
}
