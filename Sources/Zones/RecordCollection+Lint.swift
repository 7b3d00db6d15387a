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
        if !above.isRoot, !isOwned(above, groups) {
            found.append((first, .wildcardAlone(above)))
        }
        for index in group where RecordCollection.serviceTypes.contains(entries[index].type) {
            found.append((index, .serviceAtWildcard(entries[index].type)))
            break
        }
    }

    /// Whether a name has records here, or a wildcard here matches it.
    private func isOwned(_ name: Name, _ groups: OwnerGroups) -> Bool {
        if groups.group(of: name, in: self) != nil { return true }
        guard let star = try? Name(scanning: "*") else { return false }
        var ancestor = name
        // A label that begins with an underscore is matched by no wildcard.
        while !ancestor.isRoot, ancestor.octets[1] != UInt8(ascii: "_") {
            ancestor = ancestor.parent
            if let wildcard = star.appending(ancestor), groups.group(of: wildcard, in: self) != nil
            {
                return true
            }
        }
        return false
    }

    /// Types that are asked for at names with an underscore: SRV, TLSA.
    private static let serviceTypes: [RecordType] = [.srv, RecordType(rawValue: 52)]
}

extension RecordCollection {
    /// Asks about each owner of a sparse or policy zone, once for each type of its records, and
    /// reports what `verdict` says against it.
    ///
    /// A wildcard is asked about by a name below it; the names of a policy zone are those that it is
    /// about, and its address triggers are left out.
    public func findings(
        about zone: ZoneSource,
        in report: ScanReport,
        _ verdict: (_ name: Name, _ type: RecordType) -> (ZoneCheck, ZoneFileError.Severity)?
    ) -> [ZoneFileError] {
        guard zone.kind != .authoritative else { return [] }
        var findings: [ZoneFileError] = []
        var told: Set<Name> = []
        for entry in entries where findings.count < 200 {
            guard let name = questionName(of: entry, zone),
                let (check, severity) = verdict(name, entry.type),
                told.insert(name).inserted
            else { continue }
            findings.append(
                ZoneFileError(
                    .check(check),
                    severity,
                    file: report.files[min(Int(entry.file), report.files.count - 1)],
                    line: entry.line,
                    token: "\(owner(of: entry))"
                )
            )
        }
        return findings
    }

    /// A name that a query must have for an entry to be about it.
    private func questionName(of entry: Entry, _ zone: ZoneSource) -> Name? {
        guard let name = triggerName(of: entry, zone) else { return nil }
        guard name.isWildcard else { return name }
        return (try? Name(scanning: "x"))?.appending(name.parent)
    }

    /// The name or wildcard that an entry is about; nil for an address trigger of a policy zone.
    func triggerName(of entry: Entry, _ zone: ZoneSource) -> Name? {
        let name = owner(of: entry)
        guard zone.kind == .rpz else { return name }
        guard let trigger = name.removing(zone.origin), !trigger.isRoot else { return nil }
        var folded = FoldedName()
        guard (try? folded.read(from: trigger.octets.span, at: 0)) != nil,
            PolicyTrigger(folded) == nil
        else { return nil }
        return trigger
    }
}

extension Name {
    /// This name without a suffix that it ends in; nil where it does not.
    fileprivate func removing(_ suffix: Name) -> Name? {
        guard isWithin(suffix) else { return nil }
        return try? Name(parsing: (Array(octets.dropLast(suffix.octets.count)) + [0]).span)
    }
}
