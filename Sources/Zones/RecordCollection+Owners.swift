public import DNS

/// A name that a zone has an address or an alias for, and where it says so first.
public struct AddressOwner: Sendable {
    /// The name that is asked for: an owner, in a policy zone without the zone's own labels.
    public let name: Name
    /// What it is an alias of; nil where it has addresses of its own.
    public let alias: Name?
    /// The file's path.
    public let file: String
    /// The line of the first of its records that counts, from 1.
    public let line: UInt32
}

extension RecordCollection {
    /// The names with A, AAAA or CNAME records, each once, in the order of the text; wildcards as
    /// they are written.
    ///
    /// An alias that stands for an action (`CNAME .`) and a trigger that is no name are left out.
    /// Complexity: O(records).
    public func addressOwners(in zone: ZoneSource, _ report: ScanReport) -> [AddressOwner] {
        var owners: [AddressOwner] = []
        var seen: Set<Name> = []
        for entry in entries where [.a, .aaaa, .cname].contains(entry.type) {
            var alias: Name?
            if entry.type == .cname {
                let target = rdata(of: entry)
                if zone.kind != .authoritative, ZoneAction(cnameTarget: target) != .answer {
                    continue
                }
                alias = try? Name(parsing: target)
            }
            guard let name = triggerName(of: entry, zone), seen.insert(name).inserted else {
                continue
            }
            owners.append(
                AddressOwner(
                    name: name,
                    alias: alias,
                    file: report.files[min(Int(entry.file), report.files.count - 1)],
                    line: entry.line
                )
            )
        }
        return owners
    }
}
