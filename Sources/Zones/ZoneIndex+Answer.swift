// How an index's records get into an answer. Owner names become pointers to where the name asked
// for (or the alias that led here) stands in the message, spelled out.

public import DNS

extension ZoneIndex {
    /// How many records were appended, and whether that was all of them.
    @frozen
    public struct Appended: BitwiseCopyable, Sendable {
        /// How many records were appended.
        public var count: UInt16
        /// Whether the message had room for all of them.
        public var isComplete: Bool
    }

    /// Appends an RRset, as many of its records as fit; their owner stands at `owner`.
    public func append(
        _ rrset: RRset,
        owner: Int,
        ttl: UInt32? = nil,
        to writer: inout MessageWriter
    ) -> Appended {
        let records = store.span.extracting(rrset.start..<rrset.end)
        let start = writer.count
        if owner == Header.size, ttl == nil, (try? writer.append(records)) != nil {
            return Appended(count: UInt16(truncatingIfNeeded: rrset.count), isComplete: true)
        }
        writer.rewind(to: start)
        var appended = Appended(count: 0, isComplete: true)
        var position = 0
        while position < records.count {
            let size = 12 &+ Int(records.uint16(at: position &+ 10))
            let mark = writer.count
            let record = records.extracting(position..<(position &+ size))
            guard (try? writer.append(record)) != nil else {
                appended.isComplete = false
                break
            }
            writer.overwrite(0xC000 | UInt16(truncatingIfNeeded: owner), at: mark)
            if let ttl {
                writer.overwrite(min(ttl, records.uint32(at: position &+ 6)), at: mark &+ 6)
            }
            appended.count &+= 1
            position &+= size
        }
        return appended
    }

    /// Whether an RRset is a CNAME to a wildcard: its asterisk stands for the name asked for.
    public func leadsToWildcard(_ rrset: RRset) -> Bool {
        let octets = store.span
        let target = rrset.start &+ 12
        return rrset.type == .cname && kind != .authoritative && rrset.end &- target > 3
            && octets[target] == 1 && octets[target &+ 1] == UInt8(ascii: "*")
    }

    /// Appends a CNAME to a wildcard, filled in with the name asked for, and gives where its target
    /// stands.
    ///
    /// `name` stands at `owner`. Throws `nameTooLong` where the target would be no name.
    public func appendFilledCNAME(
        _ rrset: RRset,
        name: borrowing FoldedName,
        owner: Int,
        to writer: inout MessageWriter
    ) throws(WireError) -> Int {
        let suffix = (rrset.start &+ 14)..<rrset.end
        let prefix = name.count &- 1
        guard prefix &+ suffix.count <= 255 else { throw WireError(.nameTooLong, at: owner) }
        try writer.append(0xC000 | UInt16(truncatingIfNeeded: owner))
        try writer.append(RecordType.cname.rawValue)
        try writer.append(RecordClass.in.rawValue)
        try writer.append(store.span.uint32(at: rrset.start &+ 6))
        try writer.append(UInt16(truncatingIfNeeded: prefix &+ suffix.count))
        let target = writer.count
        try writer.append(again: owner..<(owner &+ prefix))
        try writer.append(store.span.extracting(suffix))
        return target
    }

    /// Appends the policy zone's own SOA, which tells whose policy an answer is; false where there
    /// is none, or no room.
    public func appendPolicySOA(to writer: inout MessageWriter) -> Bool {
        let mark = writer.count
        guard !policySOA.isEmpty, (try? writer.append(policySOA.span)) != nil else {
            writer.rewind(to: mark)
            return false
        }
        return true
    }

    /// Appends a PTR record that leads to the node's name; false where there is no room.
    public func appendPointer(
        to node: Node,
        owner: Int,
        writer: inout MessageWriter
    ) -> Bool {
        let mark = writer.count
        do throws(WireError) {
            try writer.append(0xC000 | UInt16(truncatingIfNeeded: owner))
            try writer.append(RecordType.ptr.rawValue)
            try writer.append(RecordClass.in.rawValue)
            try writer.append(zones[zone(of: node)].ttl)
            try writer.append(UInt16(store.span[node.offset]))
            try writer.append(name(of: node))
            return true
        } catch {
            writer.rewind(to: mark)
            return false
        }
    }

    /// Appends the SOA of a negative answer to the name that stands at `owner`, and says whether
    /// there was room.
    ///
    /// An authoritative zone's own SOA, its TTL cut to its MINIMUM (RFC 2308, 3); for a sparse
    /// entry one of our making, at the entry's name, with `generation` as its serial.
    public func appendSOA(
        for lookup: Lookup,
        name: borrowing FoldedName,
        owner: Int,
        generation: UInt32,
        to writer: inout MessageWriter
    ) -> Bool {
        if kind == .authoritative {
            let label = name.labelCount &- apexLabelCount
            guard let apex = node(of: name, fromLabel: label) else { return true }
            let apexOwner = owner &+ name.start(ofLabel: label)
            if let soa = rrset(.soa, at: apex) {
                let minimum = store.span.uint32(at: soa.end &- 4)
                return append(soa, owner: apexOwner, ttl: minimum, to: &writer).isComplete
            }
            return ZoneIndex.appendSOA(
                owner: apexOwner,
                ttl: zones[0].negativeTTL,
                serial: generation,
                to: &writer
            )
        }
        var zone = 0
        if let node = lookup.node { zone = self.zone(of: node) }
        return ZoneIndex.appendSOA(
            owner: owner &+ name.start(ofLabel: lookup.label),
            ttl: zones[zone].negativeTTL,
            serial: generation,
            to: &writer
        )
    }

    /// Appends a SOA of our making at the name that stands at `owner`: TTL and MINIMUM are `ttl`.
    public static func appendSOA(
        owner: Int,
        ttl: UInt32,
        serial: UInt32,
        to writer: inout MessageWriter
    ) -> Bool {
        let mark = writer.count
        do throws(WireError) {
            let pointer = 0xC000 | UInt16(truncatingIfNeeded: owner)
            try writer.append(pointer)
            try writer.append(RecordType.soa.rawValue)
            try writer.append(RecordClass.in.rawValue)
            try writer.append(ttl)
            try writer.append(UInt16(2 + 16 + 20))
            try writer.append(pointer)  // MNAME: the name itself
            try writer.append(0x066E_6F62 as UInt32)  // RNAME: nobody.invalid.
            try writer.append(0x6F64_7907 as UInt32)
            try writer.append(0x696E_7661 as UInt32)
            try writer.append(0x6C69_6400 as UInt32)
            try writer.append(serial)
            try writer.append(3600 as UInt32)  // REFRESH, RETRY, EXPIRE: nobody transfers this zone
            try writer.append(600 as UInt32)
            try writer.append(86_400 as UInt32)
            try writer.append(ttl)
            return true
        } catch {
            writer.rewind(to: mark)
            return false
        }
    }

    /// Appends the CNAME that a DNAME stands for, and gives where its target stands (RFC 6672, 2.2).
    ///
    /// The DNAME record has just been written with its RDATA at `target`; `name` stands at `owner`
    /// and the DNAME's own name begins at its label `label`. Throws `nameTooLong` for YXDOMAIN.
    public func appendSynthesizedCNAME(
        name: borrowing FoldedName,
        owner: Int,
        label: Int,
        target: Int,
        ttl: UInt32,
        to writer: inout MessageWriter
    ) throws(WireError) -> Int {
        let prefix = name.start(ofLabel: label)
        let targetSize = try Name.length(in: writer.message, at: target)
        guard prefix + targetSize <= 255 else { throw WireError(.nameTooLong, at: target) }
        try writer.append(0xC000 | UInt16(truncatingIfNeeded: owner))
        try writer.append(RecordType.cname.rawValue)
        try writer.append(RecordClass.in.rawValue)
        try writer.append(ttl)
        try writer.append(UInt16(truncatingIfNeeded: prefix + targetSize))
        let start = writer.count
        try writer.append(again: owner..<(owner + prefix))
        try writer.append(again: target..<(target + targetSize))
        return start
    }

    /// Appends the addresses, in this zone, of the hosts that an RRset just written names.
    ///
    /// `records` is where its records stand in the message. Gives how many were appended; what
    /// does not fit is left out, glue of a referral apart: then `isComplete` is false.
    public func appendAddresses(
        forRecordsIn records: Range<Int>,
        scratch: inout FoldedName,
        to writer: inout MessageWriter
    ) -> Appended {
        var appended = Appended(count: 0, isComplete: true)
        var position = records.lowerBound
        while position < records.upperBound {
            guard let record = try? ResourceRecord(parsing: writer.message, at: position) else {
                break
            }
            position = record.end
            let target: Int
            switch record.type {
            case .ns: target = record.rdata
            case .mx, .svcb, .https: target = record.rdata + 2
            case .srv: target = record.rdata + 6
            default: continue
            }
            guard target < record.end,
                (try? scratch.read(from: writer.message, at: target)) != nil,
                let node = scratch.isWildcard
                    ? node(of: scratch, fromLabel: 1, isWildcard: true)
                    : node(of: scratch, fromLabel: 0)
            else { continue }
            for type in [RecordType.a, .aaaa] {
                guard let addresses = rrset(type, at: node) else { continue }
                let mark = writer.count
                let added = append(addresses, owner: target, to: &writer)
                if added.isComplete {
                    appended.count &+= added.count
                } else {
                    writer.rewind(to: mark)
                    appended.isComplete = false
                }
            }
        }
        return appended
    }
}
