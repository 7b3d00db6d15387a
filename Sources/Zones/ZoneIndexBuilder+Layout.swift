// The builder's second half: from lists of records to the arena and the table.

import DNS

extension ZoneIndexBuilder {
    /// Lays all that was added out as an index. The builder's `findings` are complete afterwards.
    public mutating func build() -> ZoneIndex {
        decideActions()
        findLoops()
        insertAncestors()
        var layout = Layout(slots: slotCount, arena: arenaSize)
        for index in owners.indices { lay(index, into: &layout) }
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

    /// The index's memory while it is being filled.
    struct Layout: ~Copyable {
        private var store: OctetStore
        /// Where the next octet of the arena goes.
        private(set) var position: Int
        private let slots: Int
        var wildcardDepths = DepthSet()
        var cutDepths = DepthSet()
        var nameCount = 0
        /// Private addresses and the nodes that have them, in the order of the files.
        var addresses: [(address: IPAddress, node: UInt32)] = []

        init(slots: Int, arena: Int) {
            self.slots = slots
            store = OctetStore(count: slots * 8 + arena)
            position = slots * 8
            var octets = store.mutableSpan
            for slot in 0..<slots { octets.store(word: 0, at: slot * 8) }
        }

        consuming func finish() -> OctetStore { store }

        mutating func append(_ value: UInt8) {
            let end = position
            var octets = store.mutableSpan
            octets[end] = value
            position = end + 1
        }

        mutating func append(uint16 value: UInt16) {
            set(uint16: value, at: position)
            position += 2
        }

        mutating func append(uint32 value: UInt32) {
            let end = position
            var octets = store.mutableSpan
            octets.store(value, at: end)
            position = end + 4
        }

        mutating func append(_ source: Span<UInt8>) {
            let end = position
            var octets = store.mutableSpan
            octets.copy(source, at: end)
            position = end + source.count
        }

        mutating func set(uint16 value: UInt16, at offset: Int) {
            var octets = store.mutableSpan
            octets.store(value, at: offset)
        }

        mutating func set(_ value: UInt8, at offset: Int) {
            var octets = store.mutableSpan
            octets[offset] = value
        }

        mutating func rewind(to offset: Int) { position = offset }

        mutating func align() {
            while position % 8 != 0 { append(0) }
        }

        /// Enters a node into the table.
        mutating func enter(_ node: Int, hash: UInt64) {
            let mask = slots - 1
            var octets = store.mutableSpan
            var slot = Int(truncatingIfNeeded: hash) & mask
            while octets.span.word(at: slot * 8) != 0 { slot = (slot + 1) & mask }
            octets.store(word: hash & ~0xFFFF_FFFF | UInt64(node / 8 + 1), at: slot * 8)
        }
    }

    /// Turns CNAMEs to the special targets into actions, and finds CNAMEs that stand beside others.
    private mutating func decideActions() {
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
                // Signatures and denials stand beside a CNAME in a signed zone (RFC 4034, 2.3, 3 and 4).
                case .rrsig, .nsec: break
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
                let action = ZoneAction(cnameTarget: rdata.span.extracting(target))
                owners[index].action = action
            }
            if owners[index].action == .answer { owners[index].flags.insert(.cname) }
        }
    }

    /// Finds CNAMEs of a sparse layer that lead back to themselves: no answer could ever be made.
    private mutating func findLoops() {
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

    /// The owner that an owner's CNAME leads to within the layer, by an exact name.
    private func target(of index: Int) -> Int? {
        guard owners[index].flags.contains(.cname) else { return nil }
        var record = Int(owners[index].firstRecord)
        while record >= 0, records[record].type != .cname { record = Int(records[record].next) }
        guard record >= 0 else { return nil }
        var name = FoldedName()
        guard name.read(from: rdata, at: records[record].rdata) else { return nil }
        return find(name)
    }

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

    private func sameRData(_ a: Int, _ b: Int) -> Bool {
        let first = records[a]
        let second = records[b]
        let octets = rdata.span
        return octets.extracting(first.rdata..<(first.rdata + Int(first.rdataLength)))
            .hasSameOctets(
                as: octets.extracting(second.rdata..<(second.rdata + Int(second.rdataLength)))
            )
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
        var record = first
        while record >= 0 {
            if records[record].type == type {
                if isDuplicate(record, from: first) {
                    report(.duplicate(type), .warning, owner: index, record: record)
                } else {
                    lay(record, ttl: ttl, into: &layout)
                    count += 1
                    noteAddress(record, owner: index, node: node, in: &layout)
                }
            }
            record = Int(records[record].next)
        }
        if type == .dname && count > 1 {
            report(.severalDNAMEs, .error, owner: index, record: first)
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
