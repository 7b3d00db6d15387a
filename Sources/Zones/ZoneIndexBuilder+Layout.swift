// The builder's second half: from lists of records to the arena and the table.

import DNS

extension ZoneIndexBuilder {
    /// Lays all that was added out as an index. The builder's `findings` are complete afterwards.
    public mutating func build() -> ZoneIndex {
        decideActions()
        findLoops()
        insertAncestors()
        var layout = Layout(slots: slotCount, arena: arenaSize)
        var nodes = [UInt32](repeating: 0, count: hasTriggers ? owners.count : 0)
        for index in owners.indices {
            if hasTriggers { nodes[index] = UInt32(truncatingIfNeeded: layout.position / 8) }
            lay(index, into: &layout)
        }
        let pointers = pointerTable(layout)
        let (wildcards, cuts, names) = (layout.wildcardDepths, layout.cutDepths, layout.nameCount)
        var labelEnds: [UInt32] = []
        var text: [UInt8] = []
        for label in labels {
            text += label.utf8
            labelEnds.append(UInt32(truncatingIfNeeded: text.count))
        }
        var labelStore = OctetStore(count: text.count)
        labelStore.copy(text.span, at: 0)
        return ZoneIndex(
            store: layout.finish(),
            slotCount: slotCount,
            pointers: pointers,
            seed: seed,
            clientTriggers: PrefixTable(clientTriggers.map { $0.leading(to: nodes) }),
            responseTriggers: PrefixTable(responseTriggers.map { $0.leading(to: nodes) }),
            policySOA: policySOA,
            wildcardDepths: wildcards,
            cutDepths: cuts,
            zones: zones,
            labels: labelStore,
            labelEnds: labelEnds,
            kind: kind,
            apexLabelCount: kind == .authoritative ? zones[0].origin.labelCount : 0,
            nameCount: names
        )
    }

    private var hasTriggers: Bool { !clientTriggers.isEmpty || !responseTriggers.isEmpty }

    /// A power of two that keeps the table at most half full.
    private var slotCount: Int {
        var count = 16
        while count < owners.count * 2 { count *= 2 }
        return count
    }

    /// How many octets all nodes take at most.
    private var arenaSize: Int {
        // Each record at most opens an RRset; each node and each RRset rounds up to eight octets.
        names.count + owners.count * (ZoneIndex.nodeHeaderSize + 8)
            + records.count * (ZoneIndex.rrsetHeaderSize + ZoneIndexBuilder.recordHeaderSize)
            + rdata.count + 64
    }

    /// Pointer, TYPE, CLASS, TTL and RDLENGTH.
    static let recordHeaderSize = 12

    mutating func report(
        _ check: ZoneCheck,
        _ severity: ZoneFileError.Severity,
        owner: Int,
        record: Int
    ) {
        report(
            check,
            severity,
            file: Int(owners[owner].file),
            line: records[record].line,
            name: ownerName(owner)
        )
    }

    private func ownerName(_ index: Int) -> Name {
        let owner = owners[index]
        let octets = names.span.extracting(owner.name..<(owner.name + Int(owner.nameLength)))
        let name = (try? Name(parsing: octets)) ?? .root
        return owner.flags.contains(.wildcard) ? name.wildcardBelow : name
    }

    private func isName(_ type: RecordType) -> Bool {
        type == .cname || type == .dname || type == .ns || type == .ptr
    }

    func sameRData(_ a: Int, _ b: Int) -> Bool {
        let first = records[a]
        let second = records[b]
        let octets = rdata.span
        let one = octets.extracting(first.rdata..<(first.rdata + Int(first.rdataLength)))
        let other = octets.extracting(second.rdata..<(second.rdata + Int(second.rdataLength)))
        // Data that are a name are the same name in any case.
        guard isName(first.type) else {
            return one.hasSameOctets(as: other)
        }
        return one.count == other.count
            && one.indices.allSatisfy { asciiLowercased(one[$0]) == asciiLowercased(other[$0]) }
    }

    /// Writes one node and its RRsets to the arena, and its slot to the table.
    private mutating func lay(_ index: Int, into layout: inout Layout) {
        let node = layout.position
        let owner = owners[index]
        layout.append(owner.nameLength)
        layout.append(0)
        layout.append(uint16: 0)
        layout.append(uint32: owner.line)
        layout.append(uint16: owner.zone)
        layout.append(owner.action.rawValue)
        layout.append(0)
        layout.append(uint16: owner.file)
        layout.append(uint16: 0)
        let name = owner.name..<(owner.name + (Int(owner.nameLength) + 7) & ~7)
        layout.append(names.span.extracting(name))
        if owner.action == .answer { layRRsets(of: index, node: node, into: &layout) }
        layout.align()
        let flags = owners[index].flags
        layout.set(flags.rawValue, at: node + 1)
        if flags.contains(.owned) { layout.nameCount += 1 }
        if !flags.isDisjoint(with: [.wildcard, .zoneCut, .dname]) {
            let depth = labelCount(of: index)
            if flags.contains(.wildcard) { layout.wildcardDepths.insert(depth) }
            if !flags.isDisjoint(with: [.zoneCut, .dname]) { layout.cutDepths.insert(depth) }
        }
        layout.enter(node, hash: owner.hash)
    }

    private mutating func layRRsets(of index: Int, node: Int, into layout: inout Layout) {
        var rrsets: UInt16 = 0
        var record = Int(owners[index].firstRecord)
        while record >= 0 {
            let type = records[record].type
            if !isEarlier(type, than: record, of: index) {
                let isLaid = layRRset(type, from: record, of: index, node: node, into: &layout)
                if isLaid { rrsets += 1 }
                noteFlags(type, owner: index)
            }
            record = Int(records[record].next)
        }
        layout.set(uint16: rrsets, at: node + 2)
    }

    /// Whether a record before this one at the same owner has the type: its RRset is laid already.
    private func isEarlier(_ type: RecordType, than record: Int, of index: Int) -> Bool {
        var earlier = Int(owners[index].firstRecord)
        while earlier != record {
            if records[earlier].type == type { return true }
            earlier = Int(records[earlier].next)
        }
        return false
    }

    private mutating func noteFlags(_ type: RecordType, owner index: Int) {
        guard kind == .authoritative else { return }
        let isApex = Int(owners[index].nameLength) == zones[0].origin.octets.count
        if type == .ns && !isApex { owners[index].flags.insert(.zoneCut) }
        if type == .dname { owners[index].flags.insert(.dname) }
    }

    /// Writes the records of one type; false where they fit no message.
    private mutating func layRRset(
        _ type: RecordType,
        from first: Int,
        of index: Int,
        node: Int,
        into layout: inout Layout
    ) -> Bool {
        let header = layout.position
        let line = records[first].line
        let delta = line >= owners[index].line ? min(line - owners[index].line, 0xFFFF) : 0
        layout.append(uint16: type.rawValue)
        layout.append(uint32: 0)
        layout.append(uint16: UInt16(delta))
        let start = layout.position
        let ttl = lowestTTL(type, from: first)
        var count = 0
        var last = first
        var record = first
        var steps = 0
        var laid: [Int: Int] = [:]
        while record >= 0 {
            steps += 1
            if records[record].type == type {
                if steps <= ZoneIndexBuilder.fewRecords
                    ? isDuplicate(record, from: first)
                    : isDuplicate(record, from: first, among: &laid)
                {
                    report(.duplicate(type), .warning, owner: index, record: record)
                } else {
                    lay(record, ttl: ttl, into: &layout)
                    count += 1
                    last = record
                    noteAddress(record, owner: index, node: node, in: &layout)
                }
            }
            record = Int(records[record].next)
        }
        if type == .dname && count > 1 {
            report(.severalDNAMEs, .error, owner: index, record: last)
        }
        let size = layout.position - start
        guard size <= 0xFFFF - 1024 else {
            report(.rrsetTooLarge(type), .error, owner: index, record: first)
            layout.rewind(to: header)
            return false
        }
        layout.set(uint16: UInt16(truncatingIfNeeded: count), at: header + 2)
        layout.set(uint16: UInt16(truncatingIfNeeded: size), at: header + 4)
        return true
    }

    /// An RRset has one TTL (RFC 2181, 5.2): the lowest that was given.
    private func lowestTTL(_ type: RecordType, from first: Int) -> UInt32 {
        var ttl = records[first].ttl
        var record = first
        while record >= 0 {
            if records[record].type == type { ttl = min(ttl, records[record].ttl) }
            record = Int(records[record].next)
        }
        return ttl
    }

    private func isDuplicate(_ record: Int, from first: Int) -> Bool {
        var earlier = first
        while earlier != record {
            if records[earlier].type == records[record].type, sameRData(earlier, record) {
                return true
            }
            earlier = Int(records[earlier].next)
        }
        return false
    }

    /// So many records are compared one with another; more are looked up by their data's hash.
    private static var fewRecords: Int { 16 }

    /// The same for an RRset of many records; `laid` has those before this one, by their data's hash,
    /// once it has been filled here.
    private func isDuplicate(
        _ record: Int,
        from first: Int,
        among laid: inout [Int: Int]
    ) -> Bool {
        if laid.isEmpty {
            var earlier = first
            while earlier != record {
                if records[earlier].type == records[record].type {
                    laid[hash(ofData: earlier)] = earlier
                }
                earlier = Int(records[earlier].next)
            }
        }
        let hash = hash(ofData: record)
        guard let same = laid[hash] else {
            laid[hash] = record
            return false
        }
        return sameRData(same, record) || isDuplicate(record, from: first)
    }

    /// A hash that is the same for data that `sameRData` finds the same.
    private func hash(ofData record: Int) -> Int {
        let record = records[record]
        let isName = isName(record.type)
        var hasher = Hasher()
        for index in 0..<Int(record.rdataLength) {
            let octet = rdata.span[record.rdata + index]
            hasher.combine(isName ? asciiLowercased(octet) : octet)
        }
        return hasher.finalize()
    }

    private func lay(_ record: Int, ttl: UInt32, into layout: inout Layout) {
        let record = records[record]
        layout.append(uint16: 0xC00C)
        layout.append(uint16: record.type.rawValue)
        layout.append(uint16: RecordClass.in.rawValue)
        layout.append(uint32: ttl)
        layout.append(uint16: record.rdataLength)
        let octets = record.rdata..<(record.rdata + Int(record.rdataLength))
        layout.append(rdata.span.extracting(octets))
    }

    private func noteAddress(_ record: Int, owner: Int, node: Int, in layout: inout Layout) {
        guard kind == .override, !owners[owner].flags.contains(.wildcard),
            zones[Int(owners[owner].zone)].makesPointers
        else { return }
        let record = records[record]
        let octets = rdata.span.extracting(
            record.rdata..<(record.rdata + Int(record.rdataLength))
        )
        let address: IPAddress
        switch record.type {
        case .a where octets.count == 4: address = IPAddress(ipv4: octets.uint32(at: 0))
        case .aaaa where octets.count == 16:
            address = IPAddress(
                high: UInt64(bigEndian: octets.word(at: 0)),
                low: UInt64(bigEndian: octets.word(at: 8))
            )
        default: return
        }
        guard address.isPrivate else { return }
        layout.addresses.append((address, UInt32(truncatingIfNeeded: node / 8 + 1)))
    }

    /// The table of PTR synthesis: the first name that has an address keeps it.
    private func pointerTable(_ layout: borrowing Layout) -> [UInt32] {
        guard !layout.addresses.isEmpty else { return [] }
        // Two thirds full at most; any size will do. Until all are in, a slot holds the number of the
        // entry: a million names can share one address, and it takes one slot.
        let capacity = layout.addresses.count * 3 / 2 + 16
        var table = [UInt32](repeating: 0, count: capacity)
        for entry in layout.addresses.indices {
            let address = layout.addresses[entry].address
            var position = ZoneIndex.pointerSlot(address, seed: seed, of: capacity)
            while table[position] != 0,
                layout.addresses[Int(table[position]) - 1].address != address
            {
                position += 1
                if position == capacity { position = 0 }
            }
            if table[position] == 0 { table[position] = UInt32(truncatingIfNeeded: entry + 1) }
        }
        for position in table.indices where table[position] != 0 {
            table[position] = layout.addresses[Int(table[position]) - 1].node
        }
        return table
    }
}

extension PrefixTable.Entry {
    /// The same block, leading to its owner's node.
    fileprivate func leading(to nodes: [UInt32]) -> PrefixTable.Entry {
        PrefixTable.Entry(prefix: prefix, value: nodes[Int(value)])
    }
}
