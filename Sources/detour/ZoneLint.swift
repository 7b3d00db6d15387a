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
        // A file that cannot be read has been reported by the loader.
        let text = (try? PolicyLoader.octets(at: file.path)) ?? []
        var report = file.scan(
            text.span,
            reader: { path throws(IncludeError) in try PolicyLoader.octets(at: path) },
            into: &records
        )
        records.check(as: file.source.kind, origin: file.source.origin, into: &report)
        records.lint(as: file.source.kind, into: &report)
        self.records = records
        self.report = report
    }

    /// The names that the file has addresses or aliases for.
    var addressOwners: [AddressOwner] { records.addressOwners(in: file.source, report) }

    /// What was found in the text and about the records.
    var findings: [ZoneFileError] { report.findings }

    /// Entries that a client of a view never sees, because another layer has the name, and aliases
    /// that lead it in a circle; the base where no view is given.
    func findings(under policy: Policy, in view: Configuration.View?) -> [ZoneFileError] {
        guard let client = policy.client(of: view?.name) else { return [] }
        return records.findings(about: file.source, in: report) { name, type in
            if type == .cname, policy.isEndless(name, from: client) { return (.aliasLoop, .error) }
            guard let owner = policy.owner(of: name, from: client),
                owner.file != file.source.label, !report.files.contains(where: owner.isIn)
            else { return nil }
            return (.shadowed(by: "\(owner.file):\(owner.line)"), .warning)
        }
    }
}

extension Policy.Step.Place {
    /// Whether a path's last part is this place's file.
    fileprivate func isIn(_ path: String) -> Bool {
        path == file || path.hasSuffix("/" + file)
    }
}
