// What CNAME records mean, before anything is laid out: aliases, actions, loops.

import DNS

extension ZoneIndexBuilder {
    /// Turns CNAMEs to the special targets into actions, and finds CNAMEs that stand beside others.
    mutating func decideActions() {
        for index in owners.indices where owners[index].recordCount > 0 {
            var cname = -1
            var others = -1
            var record = Int(owners[index].firstRecord)
            while record >= 0 {
                switch records[record].type {
                case .cname:
                    if cname >= 0 && !sameRData(cname, record) {
                        report(.severalCNAMEs, .error, owner: index, record: record)
                    }
                    cname = cname < 0 ? record : cname
                // Signatures and denials stand beside a CNAME in a signed zone (RFC 4034, 2.3, 3 and 4),
                // as SIG and KEY did before (RFC 2535, 2.3.5).
                case .rrsig, .nsec, RecordType(rawValue: 24), RecordType(rawValue: 25): break
                default:
                    others = others < 0 ? record : others
                }
                record = Int(records[record].next)
            }
            guard cname >= 0 else { continue }
            if others >= 0 {
                let type = records[others].type
                report(.besideCNAME(type), .error, owner: index, record: others)
            }
            if kind != .authoritative {
                let start = records[cname].rdata
                let target = start..<(start + Int(records[cname].rdataLength))
                var action = ZoneAction(cnameTarget: rdata.span.extracting(target))
                // A name that leads to itself is an old spelling of rpz-passthru.
                if kind == .rpz, self.target(of: index, at: cname) == index { action = .pass }
                owners[index].action = action
            }
            if owners[index].action == .answer { owners[index].flags.insert(.cname) }
        }
    }

    /// Finds CNAMEs of a sparse layer that lead back to themselves: no answer could ever be made.
    mutating func findLoops() {
        guard kind != .authoritative else { return }
        for index in owners.indices where owners[index].flags.contains(.cname) {
            var current = index
            for _ in 0..<64 {
                guard let next = target(of: current) else { break }
                current = next
                if current == index {
                    let record = Int(owners[index].firstRecord)
                    report(.aliasLoop, .error, owner: index, record: record)
                    break
                }
                // A loop that this name only leads into is reported at the names within it.
                if current < index && owners[current].flags.contains(.cname) { break }
            }
        }
    }

    /// The owner that an owner's CNAME leads to within the layer, as a query would find it.
    private func target(of index: Int) -> Int? {
        guard owners[index].flags.contains(.cname) else { return nil }
        var record = Int(owners[index].firstRecord)
        while record >= 0, records[record].type != .cname { record = Int(records[record].next) }
        return record >= 0 ? target(of: index, at: record) : nil
    }

    private func target(of index: Int, at record: Int) -> Int? {
        var name = FoldedName()
        guard name.read(from: rdata, at: records[record].rdata) else { return nil }
        // A wildcard as the target is filled in with the name that was asked for: it has no loop
        // that can be seen here.
        guard !name.isWildcard else { return nil }
        if let exact = find(name) { return exact }
        guard kind == .override else { return nil }
        var label = 0
        while label < name.labelCount {
            if name.firstOctet(ofLabel: label) == UInt8(ascii: "_") { return nil }
            label += 1
            if let wildcard = find(name, fromLabel: label, isWildcard: true) { return wildcard }
        }
        return nil
    }
}
