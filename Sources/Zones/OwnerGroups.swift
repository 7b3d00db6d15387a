import DNS

/// Records by owner: runs of indices whose owners are the same name.
struct OwnerGroups {
    private var sorted: [(hash: UInt64, index: Int)] = []
    private var indices: [Int] = []
    private var starts: [Int] = []
    /// Whether a DNAME is among the records.
    let hasDNAME: Bool

    init(_ records: borrowing RecordCollection) {
        hasDNAME = records.entries.contains { $0.type == .dname }
        sorted.reserveCapacity(records.count)
        for index in records.entries.indices {
            sorted.append(
                (OwnerGroups.hash(records.ownerOctets(of: records.entries[index])), index)
            )
        }
        let copy = copy records
        sorted.sort { a, b in
            if a.hash != b.hash { return a.hash < b.hash }
            let order = OwnerGroups.order(
                copy.ownerOctets(of: copy.entries[a.index]),
                copy.ownerOctets(of: copy.entries[b.index])
            )
            return order == 0 ? a.index < b.index : order < 0
        }
        indices = sorted.map(\.index)
        for place in sorted.indices {
            if place > 0, sorted[place].hash == sorted[place - 1].hash,
                OwnerGroups.order(
                    copy.ownerOctets(of: copy.entries[indices[place]]),
                    copy.ownerOctets(of: copy.entries[indices[place - 1]])
                ) == 0
            {
                continue
            }
            starts.append(place)
        }
        starts.append(sorted.count)
    }

    func forEach(_ body: (ArraySlice<Int>) -> Void) {
        for place in 0..<(starts.count - 1) { body(indices[starts[place]..<starts[place + 1]]) }
    }

    /// The records of a name. Complexity: O(log n).
    func group(of name: Name, in records: RecordCollection) -> ArraySlice<Int>? {
        let hash = OwnerGroups.hash(name.octets.span)
        var (low, high) = (0, starts.count - 1)
        while low < high {
            let middle = (low + high) / 2
            let entry = sorted[starts[middle]]
            let order =
                entry.hash == hash
                ? OwnerGroups.order(
                    records.ownerOctets(of: records.entries[entry.index]),
                    name.octets.span
                )
                : entry.hash < hash ? -1 : 1
            if order == 0 { return indices[starts[middle]..<starts[middle + 1]] }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// FNV-1a of the name without its case. Collisions cost a comparison, never a wrong group.
    private static func hash(_ name: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<name.count {
            hash = (hash ^ UInt64(asciiLowercased(name[index]))) &* 0x100_0000_01B3
        }
        return hash
    }

    private static func order(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Int {
        guard a.count == b.count else { return a.count < b.count ? -1 : 1 }
        for index in 0..<a.count {
            let (x, y) = (asciiLowercased(a[index]), asciiLowercased(b[index]))
            if x != y { return x < y ? -1 : 1 }
        }
        return 0
    }
}
