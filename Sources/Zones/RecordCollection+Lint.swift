public import DNS

// What is allowed in a zone and yet seldom meant.

extension RecordCollection {
    /// Looks for what surprises people about a sparse zone, and adds it to `report` as warnings.
    ///
    /// Complexity: O(n log n) in the records.
    public func lint(as kind: ZoneKind, into report: inout ScanReport) {
        guard kind == .override || kind == .hosts else { return }
        let groups = OwnerGroups(self)
        var found: [(index: Int, check: ZoneCheck)] = []
        groups.forEach { group in
            lintSizes(group, &found)
            lintTypes(group, &found)
            if let first = group.first, owner(of: entries[first]).isWildcard {
                lintWildcard(group, groups, &found)
            }
        }
        for (index, check) in found.sorted(by: { $0.index < $1.index }) {
            let entry = entries[index]
            report.add(
                ZoneFileError(
                    .check(check),
                    .warning,
                    file: report.files[min(Int(entry.file), report.files.count - 1)],
                    line: entry.line,
                    token: "\(owner(of: entry))"
                )
            )
        }
    }

    /// RRsets that a datagram does not hold: header, question and OPT go along with them.
    private func lintSizes(
        _ group: ArraySlice<Int>,
        _ found: inout [(index: Int, check: ZoneCheck)]
    ) {
        var sizes: [RecordType: (size: Int, first: Int)] = [:]
        for index in group {
            let entry = entries[index]
            let base = 12 + Int(entry.ownerLength) + 4 + EDNS.emptySize
            sizes[entry.type, default: (base, index)].size += 12 + Int(entry.dataLength)
        }
        for (type, set) in sizes where set.size > RecordCollection.largestDatagram {
            found.append((set.first, .overDatagram(type, octets: set.size)))
        }
    }

    /// The most octets of a response over UDP (DNS Flag Day 2020).
    private static let largestDatagram = 1232

    /// Types that mean something in a signed zone only, which an override is not.
    private func lintTypes(
        _ group: ArraySlice<Int>,
        _ found: inout [(index: Int, check: ZoneCheck)]
    ) {
        var reported: Set<RecordType> = []
        for index in group
        where RecordCollection.signedTypes.contains(entries[index].type)
            && reported.insert(entries[index].type).inserted
        {
            found.append((index, .needsSignedZone(entries[index].type)))
        }
    }

    private static let signedTypes: [RecordType] = [
        .ds, .rrsig, .nsec, .dnskey, .nsec3, .nsec3param,
    ]

    private func lintWildcard(
        _ group: ArraySlice<Int>,
        _ groups: OwnerGroups,
        _ found: inout [(index: Int, check: ZoneCheck)]
    ) {
        guard let first = group.first else { return }
        let above = owner(of: entries[first]).parent
        if groups.group(of: above, in: self) == nil, !above.isRoot {
            found.append((first, .wildcardAlone(above)))
        }
        for index in group where RecordCollection.serviceTypes.contains(entries[index].type) {
            found.append((index, .serviceAtWildcard(entries[index].type)))
            break
        }
    }

    /// Types that are asked for at names with an underscore: SRV, TLSA.
    private static let serviceTypes: [RecordType] = [.srv, RecordType(rawValue: 52)]
}

extension RecordCollection {
    /// Reports as an error each alias for whose owner `isFound` is true. A wildcard is tried with a
    /// name below it; a policy zone's names are those that are asked for.
    public func aliasLoops(
        in report: ScanReport,
        zone: ZoneSource,
        where isFound: (Name) -> Bool
    ) -> [ZoneFileError] {
        var findings: [ZoneFileError] = []
        for entry in entries where entry.type == .cname {
            var name = owner(of: entry)
            if zone.kind == .rpz {
                guard let trigger = name.removing(zone.origin) else { continue }
                name = trigger
            }
            if name.isWildcard {
                guard let label = try? Name(scanning: "x"),
                    let sample = label.appending(name.parent)
                else { continue }
                name = sample
            }
            guard isFound(name) else { continue }
            findings.append(
                ZoneFileError(
                    .check(.aliasLoop),
                    .error,
                    file: report.files[min(Int(entry.file), report.files.count - 1)],
                    line: entry.line,
                    token: "\(owner(of: entry))"
                )
            )
        }
        return findings
    }
}

extension Name {
    /// This name without a suffix that it ends in; nil where it does not.
    fileprivate func removing(_ suffix: Name) -> Name? {
        guard isWithin(suffix) else { return nil }
        return try? Name(parsing: (Array(octets.dropLast(suffix.octets.count)) + [0]).span)
    }
}
