import Configuration
import DNS
import PolicyLoading
import Resolver
import Zones

/// One zone file looked at for itself, record by record.
struct ZoneLint {
    private let records: RecordCollection
    private let file: ZoneFile
    private let report: ScanReport

    init(_ file: ZoneFile) {
        self.file = file
        var records = RecordCollection()
        var report: ScanReport
        let settings = ScanSettings(
            kind: file.source.kind,
            origin: file.source.origin,
            defaultTTL: file.source.ttl
        )
        // A file that cannot be read has been reported by the loader.
        let text = (try? PolicyLoader.octets(at: file.path)) ?? []
        if file.source.kind == .hosts {
            report = HostsFileScanner.scan(
                text.span,
                file: file.path,
                settings: settings,
                into: &records
            )
        } else {
            let folder = file.path.lastIndex(of: "/").map { String(file.path[...$0]) } ?? ""
            report = MasterFileScanner.scan(
                text.span,
                file: file.path,
                settings: settings,
                including: { path throws(IncludeError) in
                    try PolicyLoader.octets(at: folder + path)
                },
                into: &records
            )
        }
        records.check(as: file.source.kind, origin: file.source.origin, into: &report)
        records.lint(as: file.source.kind, into: &report)
        self.records = records
        self.report = report
    }

    /// What was found in the text and about the records.
    var findings: [ZoneFileError] { report.findings }

    /// Aliases that lead in a circle through several layers, for one client of each view.
    func loops(under policy: Policy, _ configuration: Configuration) -> [ZoneFileError] {
        guard file.source.kind != .authoritative else { return [] }
        let networks = [configuration.allow?.first] + configuration.views.map(\.clients.first)
        var found: [ZoneFileError] = []
        for (number, network) in networks.enumerated() {
            let view = number > 0 ? configuration.views[number - 1] : nil
            let loopback = IPAddress(ipv4: 0x7F00_0001)
            let client = Client(
                address: network?.address ?? loopback,
                localAddress: view?.addresses.first ?? loopback,
                transport: .udp,
                returnPath: Client.ReturnPath(0, 0)
            )
            found += records.aliasLoops(in: report, zone: file.source) {
                policy.isEndless($0, from: client)
            }
        }
        return found
    }
}
