public import DNS

// A zone judged as a whole, over records that were collected. What decides whether it can be served
// is the index builder's to say (CNAMEs beside other data, names outside the zone); here is the rest.

extension ZoneCheck {
    /// An order among findings about one record, so that reports are the same each time.
    fileprivate var rank: Int {
        switch self {
        case .dnameAtCut, .severalSOA, .dsAtApex: 1
        case .belowDNAME: 2
        case .noSOA: 3
        case .noNS, .noAddress, .dsWithoutDelegation: 4
        case .differentTTLs, .noDoHPath, .noProtocol: 5
        default: 6
        }
    }
}

extension RecordCollection {
    /// Judges the records as one zone named `origin`, and adds what was found to `report`.
    ///
    /// Which rules hold depends on the kind: only an authoritative zone must be complete and keep to
    /// its own names. Complexity: O(n log n) in the records.
    public func check(as kind: ZoneKind, origin: Name, into report: inout ScanReport) {
        let groups = OwnerGroups(self)
        var found: [Finding] = []
        groups.forEach { group in
            if kind != .hosts {
                checkTTLs(group, &found)
                checkResolverService(group, &found)
            }
            if kind == .override || kind == .hosts { checkClients(group, &found) }
            if kind == .authoritative { checkPlace(group, groups, origin, &found) }
        }
        if kind == .authoritative { checkApex(groups, origin, &found) }
        found.sort { ($0.index ?? .max, $0.check.rank) < ($1.index ?? .max, $1.check.rank) }
        for finding in found {
            guard report.keeps(finding.severity) else {
                report.count(finding.severity)
                continue
            }
            let entry = finding.index.map { entries[$0] }
            let name = finding.name ?? entry.map { owner(of: $0) } ?? origin
            report.add(
                ZoneFileError(
                    .check(finding.check),
                    finding.severity,
                    file: report.files[min(Int(entry?.file ?? 0), report.files.count - 1)],
                    line: entry?.line ?? 0,
                    token: "\(name)"
                )
            )
        }
    }

    /// A check's outcome at a record, or about the zone.
    struct Finding {
        let check: ZoneCheck
        let severity: ZoneFileError.Severity
        let index: Int?
        var name: Name?

        init(
            _ check: ZoneCheck,
            _ severity: ZoneFileError.Severity,
            _ index: Int?,
            name: Name? = nil
        ) {
            self.check = check
            self.severity = severity
            self.index = index
            self.name = name
        }
    }

    private func checkTTLs(_ group: ArraySlice<Int>, _ found: inout [Finding]) {
        var ttls: [RecordType: UInt32] = [:]
        var reported: Set<RecordType> = []
        for index in group where entries[index].type != .rrsig {
            let entry = entries[index]
            if let ttl = ttls[entry.type], ttl != entry.ttl, reported.insert(entry.type).inserted {
                found.append(Finding(.differentTTLs(entry.type), .warning, index))
            }
            ttls[entry.type] = entry.ttl
        }
    }

    /// Warnings about names that clients do not ask the server for, or do more with.
    private func checkClients(_ group: ArraySlice<Int>, _ found: inout [Finding]) {
        guard let first = group.first else { return }
        let name = ownerOctets(of: entries[first])
        var start = 0
        var position = 0
        while name[position] != 0 {
            start = position
            position += Int(name[position]) + 1
        }
        let label = name.extracting((start + 1)..<max(position, start + 1))
        if label.isSameLabel(as: "local") { found.append(Finding(.multicastName, .warning, first)) }
        for domain in RecordCollection.preloadedDomains where label.isSameLabel(as: domain) {
            found.append(Finding(.preloadedDomain, .warning, first))
        }
    }

    /// Rules about where a name stands in its zone.
    private func checkPlace(
        _ group: ArraySlice<Int>,
        _ groups: OwnerGroups,
        _ origin: Name,
        _ found: inout [Finding]
    ) {
        guard let first = group.first else { return }
        let name = owner(of: entries[first])
        guard name.isWithin(origin) else { return }
        if let ds = group.first(where: { entries[$0].type == .ds }) {
            if name == origin {
                found.append(Finding(.dsAtApex, .error, ds))
            } else if !group.contains(where: { entries[$0].type == .ns }) {
                found.append(Finding(.dsWithoutDelegation, .warning, ds))
            }
        }
        if let dname = group.first(where: { entries[$0].type == .dname }), name != origin,
            group.contains(where: { entries[$0].type == .ns })
        {
            found.append(Finding(.dnameAtCut, .error, dname))
        }
        // NSEC3 records stand below the apex, whatever is there (RFC 5155, 1.3).
        let isHashed = group.allSatisfy { [.nsec3, .rrsig].contains(entries[$0].type) }
        if groups.hasDNAME && !isHashed {
            var ancestor = name
            while ancestor != origin {
                ancestor = ancestor.parent
                guard let above = groups.group(of: ancestor, in: self),
                    above.contains(where: { entries[$0].type == .dname })
                else { continue }
                return found.append(Finding(.belowDNAME, .error, first))
            }
        }
        for index in group where entries[index].type == .ns {
            guard let server = try? Name(parsing: rdata(of: entries[index])),
                server.isWithin(name) || name == origin && server.isWithin(origin)
            else { continue }
            let addresses = groups.group(of: server, in: self) ?? []
            if !addresses.contains(where: { [.a, .aaaa].contains(entries[$0].type) }) {
                found.append(Finding(.noAddress, .warning, index, name: server))
            }
        }
    }

    /// Rules about the zone's own name.
    private func checkApex(
        _ groups: OwnerGroups,
        _ origin: Name,
        _ found: inout [Finding]
    ) {
        let apex = groups.group(of: origin, in: self) ?? []
        guard let soa = apex.first(where: { entries[$0].type == .soa }) else {
            return found.append(Finding(.noSOA, .error, nil))
        }
        if !apex.contains(where: { entries[$0].type == .ns }) {
            found.append(Finding(.noNS, .warning, nil))
        }
        for index in entries.indices where entries[index].type == .soa {
            let name = owner(of: entries[index])
            if name.isWithin(origin), name != origin || !hasSameData(soa, index) {
                found.append(Finding(.severalSOA, .error, index))
            }
        }
    }

    private func hasSameData(_ a: Int, _ b: Int) -> Bool {
        let (first, second) = (entries[a], entries[b])
        return rdata(of: first).isSameText(as: rdata(of: second))
    }

    /// Top-level domains that are preloaded for HTTP Strict Transport Security as a whole.
    private static let preloadedDomains: [StaticString] = [
        "app", "bank", "boo", "channel", "dad", "day", "dev", "esq", "foo", "gle", "gmail",
        "google", "hangout", "hotmail", "ing", "insurance", "meet", "meme", "mov", "new", "nexus",
        "page", "phd", "play", "prof", "rsvp", "search", "windows", "xbox", "youtube", "zip",
    ]
}

extension Span where Element == UInt8 {
    fileprivate func isSameText(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count
        where asciiLowercased(self[index]) != asciiLowercased(other[index]) {
            return false
        }
        return true
    }

    fileprivate func isSameLabel(as text: StaticString) -> Bool { isDirective(text) }
}
