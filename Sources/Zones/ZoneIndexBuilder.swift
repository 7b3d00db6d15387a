// Gathers records of one layer of zones by owner name, then lays them out as a ZoneIndex.

public import DNS

/// Compiles records into a `ZoneIndex`.
///
/// Give it the sources of one layer in the order of their precedence, each with `begin` and its
/// records with `add`; the first sparse source that defines a name owns the name whole.
/// Complexity: O(records); memory: about 100 octets a name beside the index while it builds.
public struct ZoneIndexBuilder: ~Copyable, RecordSink {
    /// A name that has been met.
    struct Owner {
        var name: Int
        var nameLength: UInt8
        var flags: ZoneIndex.NodeFlags
        var zone: UInt16
        var file: UInt16 = 0
        var line: UInt32
        var hash: UInt64
        var firstRecord: Int32
        var lastRecord: Int32
        var recordCount: UInt32
        var action: ZoneAction
    }

    /// A record that has been met, in a list with the others of its owner.
    struct Record {
        var next: Int32
        var type: RecordType
        var rdataLength: UInt16
        var ttl: UInt32
        var line: UInt32
        var rdata: Int
    }

    let kind: ZoneKind
    let seed: UInt64
    var zones: [ZoneSource] = []
    var labels: [String] = []
    var names: [UInt8] = []
    var owners: [Owner] = []
    var records: [Record] = []
    var rdata: [UInt8] = []
    /// The hash table of owners: the hash's upper half and the owner's number + 1; 0: empty.
    private var slots: [UInt64] = Array(repeating: 0, count: 1024)
    /// Address blocks of a policy zone and their owners.
    var clientTriggers: [PrefixTable.Entry] = []
    var responseTriggers: [PrefixTable.Entry] = []
    var policySOA: [UInt8] = []
    /// The paths of the files that records came from, as findings show them.
    var files: [String] = []
    /// What was found wrong or remarkable about the layer as a whole; complete after `build`.
    public internal(set) var findings: [ZoneFileError] = []
    /// Findings about records of files whose paths are not known yet.
    private var openFindings: [(check: ZoneCheck, file: Int, line: UInt32, name: Name)] = []

    private var scratch = FoldedName()
    private var origin: (labels: Int, octets: Int) = (0, 1)
    private var lastShadowed = -1

    /// A builder for a layer; `seed` keys its hash table and must not be guessable.
    public init(kind: ZoneKind, seed: UInt64) {
        self.kind = kind == .hosts ? .override : kind
        self.seed = seed
    }

    /// Starts the records of the next source; an authoritative layer or an RPZ has exactly one.
    ///
    /// `size` is how many octets of text there will be, as far as is known: room is made at once.
    public mutating func begin(_ source: ZoneSource, size: Int = 0) {
        precondition(kind == .override || zones.isEmpty, "one zone a policy or authoritative layer")
        reserve(size)
        zones.append(source)
        lastShadowed = -1
        origin = (source.origin.labelCount, source.origin.octets.count)
        if kind == .authoritative {
            // The apex stands even where the file says nothing of it.
            _ = try? scratch.read(from: source.origin.octets.span, at: 0)
            let apex = findOrInsert(fromLabel: 0, isWildcard: false)
            owners[apex].flags.insert(.owned)
        }
    }

    /// Makes room for the records of a text: a line has about 36 octets, and a name two lines.
    private mutating func reserve(_ size: Int) {
        let lines = size / 36
        records.reserveCapacity(records.count + lines)
        owners.reserveCapacity(owners.count + lines / 2)
        names.reserveCapacity(names.count + lines * 12)
        rdata.reserveCapacity(rdata.count + lines * 10)
        var capacity = slots.count
        while capacity < (owners.count + lines / 2) * 2 { capacity *= 2 }
        if capacity > slots.count { grow(to: capacity) }
    }

    /// Names the files that the current source's records came from, its own first: answers show them.
    public mutating func end(files: [String]) {
        self.files += files
        labels += files.map { String($0.split(separator: "/").last ?? "") }
        for (check, file, line, name) in openFindings {
            report(check, .warning, file: file, line: line, name: name)
        }
        openFindings.removeAll()
    }

    mutating func report(
        _ check: ZoneCheck,
        _ severity: ZoneFileError.Severity,
        file: Int,
        line: UInt32,
        name: Name
    ) {
        // Enough to see what is wrong; a million of them help nobody.
        guard findings.count < 200 else { return }
        findings.append(
            ZoneFileError(
                .check(check),
                severity,
                file: files[min(file, files.count - 1)],
                line: line,
                token: name.description
            )
        )
    }

    /// Adds one record; names in `rdata` are spelled out.
    ///
    /// Records outside an authoritative zone or an RPZ, and names that an earlier source owns, are
    /// left out and told in `findings`.
    public mutating func add(
        owner: Span<UInt8>,
        type: RecordType,
        class: RecordClass,
        ttl: UInt32,
        explicitTTL: Bool,
        rdata octets: Span<UInt8>,
        line: UInt32,
        file: UInt16
    ) {
        precondition(!zones.isEmpty, "begin() comes first")
        guard (try? scratch.read(from: owner, at: 0)) != nil else { return }
        guard isInside(line: line, file: file) else { return }
        if kind == .rpz {
            scratch.dropLast(labels: origin.labels)
            // The policy zone's own SOA and NS are no triggers.
            if scratch.labelCount == 0 && (type == .soa || type == .ns) {
                if type == .soa && policySOA.isEmpty { keepSOA(ttl: ttl, rdata: octets) }
                return
            }
        }
        let trigger = kind == .rpz ? PolicyTrigger(scratch) : nil
        if trigger == .nameServer {
            return note(.nameServerTrigger, file: file, line: line)
        } else if trigger == .malformed {
            return note(.badTrigger, file: file, line: line)
        }
        let isWildcard = scratch.isWildcard
        let index = findOrInsert(fromLabel: isWildcard ? 1 : 0, isWildcard: isWildcard)
        if let trigger { enter(trigger, owner: index) }
        let zone = UInt16(truncatingIfNeeded: zones.count - 1)
        if !owners[index].flags.contains(.owned) || owners[index].recordCount == 0 {
            owners[index].flags.insert(.owned)
            owners[index].zone = zone
            owners[index].file = UInt16(truncatingIfNeeded: labels.count + Int(file))
            owners[index].line = line
        } else if owners[index].zone != zone {
            if index != lastShadowed, openFindings.count < 200 {
                let owner = labels[Int(owners[index].file)] + ":\(owners[index].line)"
                note(.shadowed(by: owner), file: file, line: line)
                lastShadowed = index
            }
            return
        }
        if type == .svcb || type == .https, ServiceBinding(octets)?.hasIdleParameters == true {
            note(.aliasWithParameters(type), file: file, line: line)
        }
        append(type: type, ttl: ttl, rdata: octets, line: line, to: index)
    }

    /// Lets an address block lead to an owner, once.
    private mutating func enter(_ trigger: PolicyTrigger, owner index: Int) {
        guard owners[index].flags.isDisjoint(with: .triggers) else { return }
        let value = UInt32(truncatingIfNeeded: index)
        switch trigger {
        case .client(let prefix):
            owners[index].flags.insert(.clientTrigger)
            clientTriggers.append(PrefixTable.Entry(prefix: prefix, value: value))
        case .response(let prefix):
            owners[index].flags.insert(.responseTrigger)
            responseTriggers.append(PrefixTable.Entry(prefix: prefix, value: value))
        case .nameServer, .malformed: break
        }
    }

    /// Keeps a policy zone's SOA as it goes into the additional section.
    private mutating func keepSOA(ttl: UInt32, rdata octets: Span<UInt8>) {
        policySOA = zones[zones.count - 1].origin.octets
        for value in [UInt32(RecordType.soa.rawValue) << 16 | 1, ttl] {
            for shift in stride(from: 24, through: 0, by: -8) {
                policySOA.append(UInt8(truncatingIfNeeded: value >> UInt32(shift)))
            }
        }
        policySOA.append(UInt8(truncatingIfNeeded: octets.count >> 8))
        policySOA.append(UInt8(truncatingIfNeeded: octets.count))
        policySOA.append(octets)
    }

    private mutating func append(
        type: RecordType,
        ttl: UInt32,
        rdata octets: Span<UInt8>,
        line: UInt32,
        to index: Int
    ) {
        let record = Int32(truncatingIfNeeded: records.count)
        records.append(
            Record(
                next: -1,
                type: type,
                rdataLength: UInt16(truncatingIfNeeded: octets.count),
                ttl: ttl,
                line: line,
                rdata: rdata.count
            )
        )
        rdata.append(octets)
        if owners[index].lastRecord >= 0 {
            records[Int(owners[index].lastRecord)].next = record
        } else {
            owners[index].firstRecord = record
        }
        owners[index].lastRecord = record
        owners[index].recordCount += 1
    }

    /// Whether the name in `scratch` lies within the zone's origin, where the kind has one.
    private mutating func isInside(line: UInt32, file: UInt16) -> Bool {
        guard kind != .override else { return true }
        let origin = zones[zones.count - 1].origin
        let label = scratch.labelCount - self.origin.labels
        if label >= 0,
            scratch.suffix(fromLabel: label).hasSameOctets(as: origin.foldedOctets.span)
        {
            return true
        }
        note(.outOfZone, file: file, line: line)
        return false
    }

    private mutating func note(_ check: ZoneCheck, file: UInt16, line: UInt32) {
        guard openFindings.count < 200 else { return }
        openFindings.append((check, files.count + Int(file), line, Name(folded: scratch)))
    }

    /// The owner with the name in `scratch` without its first labels; new ones own nothing yet.
    mutating func findOrInsert(fromLabel label: Int, isWildcard: Bool) -> Int {
        let hash =
            scratch.hash(fromLabel: label, seed: seed)
            ^ (isWildcard ? ZoneIndex.wildcardSalt : 0)
        let mask = slots.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while slots[position] != 0 {
            if slots[position] >> 32 == hash >> 32 {
                let index = Int(truncatingIfNeeded: slots[position] & 0xFFFF_FFFF) - 1
                if owners[index].flags.contains(.wildcard) == isWildcard,
                    Int(owners[index].nameLength) == scratch.count - scratch.start(ofLabel: label),
                    scratch.matches(names.span, at: owners[index].name, fromLabel: label)
                {
                    return index
                }
            }
            position = (position + 1) & mask
        }
        let index = owners.count
        slots[position] = hash & ~0xFFFF_FFFF | UInt64(index + 1)
        let length = scratch.count - scratch.start(ofLabel: label)
        owners.append(
            Owner(
                name: names.count,
                nameLength: UInt8(truncatingIfNeeded: length),
                flags: isWildcard ? .wildcard : [],
                zone: UInt16(truncatingIfNeeded: max(0, zones.count - 1)),
                line: 0,
                hash: hash,
                firstRecord: -1,
                lastRecord: -1,
                recordCount: 0,
                action: .answer
            )
        )
        scratch.appendSuffix(fromLabel: label, to: &names)
        while names.count % 8 != 0 { names.append(0) }
        if owners.count * 2 > slots.count { grow(to: slots.count * 2) }
        return index
    }

    /// The owner with a name (without its first labels), if it has been met and owns something.
    func find(
        _ name: borrowing FoldedName,
        fromLabel label: Int = 0,
        isWildcard: Bool = false
    ) -> Int? {
        let hash =
            name.hash(fromLabel: label, seed: seed) ^ (isWildcard ? ZoneIndex.wildcardSalt : 0)
        let mask = slots.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while slots[position] != 0 {
            if slots[position] >> 32 == hash >> 32 {
                let index = Int(truncatingIfNeeded: slots[position] & 0xFFFF_FFFF) - 1
                if owners[index].flags.contains(.wildcard) == isWildcard,
                    Int(owners[index].nameLength) == name.count - name.start(ofLabel: label),
                    name.matches(names.span, at: owners[index].name, fromLabel: label)
                {
                    return owners[index].flags.contains(.owned) ? index : nil
                }
            }
            position = (position + 1) & mask
        }
        return nil
    }

    /// How many labels an owner's name has (a wildcard's without its asterisk).
    func labelCount(of index: Int) -> Int {
        var position = owners[index].name
        var count = 0
        while names[position] != 0 {
            position += Int(names[position]) + 1
            count += 1
        }
        return count
    }

    /// Marks all ancestors of every owned name, so that empty non-terminals are known.
    mutating func insertAncestors() {
        let apexLabels = kind == .authoritative ? origin.labels : 0
        // Neighbours in a file have mostly one parent: its ancestors need no second look.
        var lastParent: UInt64 = 0
        // New owners are appended behind those that are walked: they have nothing of their own.
        for index in 0..<owners.count where owners[index].flags.isDisjoint(with: .triggers) {
            guard scratch.read(from: names, at: owners[index].name) else { continue }
            // A wildcard is a child of its own name; other names are children of their parent.
            var label = owners[index].flags.contains(.wildcard) ? 0 : 1
            if label == 1, scratch.labelCount > 0 {
                let parent = scratch.hash(fromLabel: 1, seed: seed)
                if parent == lastParent { continue }
                lastParent = parent
            }
            while label <= scratch.labelCount - apexLabels {
                let isWildcard = scratch.isWildcard(atLabel: label)
                let ancestor = findOrInsert(
                    fromLabel: isWildcard ? label + 1 : label,
                    isWildcard: isWildcard
                )
                if owners[ancestor].flags.contains(.hasDescendants) { break }
                owners[ancestor].flags.insert(.hasDescendants)
                label += 1
            }
        }
    }

    private mutating func grow(to capacity: Int) {
        slots = Array(repeating: 0, count: capacity)
        let mask = capacity - 1
        for index in owners.indices {
            let hash = owners[index].hash
            var position = Int(truncatingIfNeeded: hash) & mask
            while slots[position] != 0 { position = (position + 1) & mask }
            slots[position] = hash & ~0xFFFF_FFFF | UInt64(index + 1)
        }
    }
}
