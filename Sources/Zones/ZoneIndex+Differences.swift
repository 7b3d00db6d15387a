import DNS

/// How many names are owned now and were not, the other way round, and by other records.
public struct ZoneDifferences: Equatable, Sendable {
    /// Names that are owned now and were not before.
    public var added = 0
    /// Names that were owned before and are not now.
    public var removed = 0
    /// Names that are owned by other records, or another action, than before.
    public var changed = 0

    /// No differences.
    public init() {}

    /// Adds those of another layer.
    public static func += (a: inout ZoneDifferences, b: ZoneDifferences) {
        a.added += b.added
        a.removed += b.removed
        a.changed += b.changed
    }
}

extension ZoneIndex {
    /// What has become of a former state of this layer. Complexity: O(names).
    public func differences(from old: borrowing ZoneIndex) -> ZoneDifferences {
        var differences = ZoneDifferences()
        var name = FoldedName()
        var kept = 0
        for slot in 0..<slotCount {
            guard let node = ownedNode(inSlot: slot),
                (try? name.read(from: self.name(of: node), at: 0)) != nil
            else { continue }
            let isWildcard = flags(of: node).contains(.wildcard)
            if let other = old.node(of: name, fromLabel: 0, isWildcard: isWildcard),
                old.flags(of: other).contains(.owned)
            {
                kept += 1
                if !hasSameContent(node, as: other, of: old) { differences.changed += 1 }
            } else {
                differences.added += 1
            }
        }
        for slot in 0..<old.slotCount where old.ownedNode(inSlot: slot) != nil {
            differences.removed += 1
        }
        differences.removed -= kept
        return differences
    }

    private func ownedNode(inSlot slot: Int) -> Node? {
        let word = store.span.word(at: slot * 8)
        guard word != 0 else { return nil }
        let node = Node(offset: Int(truncatingIfNeeded: word & 0xFFFF_FFFF - 1) * 8)
        return flags(of: node).contains(.owned) ? node : nil
    }

    private func hasSameContent(
        _ node: Node,
        as other: Node,
        of old: borrowing ZoneIndex
    ) -> Bool {
        let count = rrsetCount(of: node)
        guard count == old.rrsetCount(of: other), action(of: node) == old.action(of: other) else {
            return false
        }
        for number in 0..<count {
            guard let rrset = rrset(number: number, at: node),
                let former = old.rrset(number: number, at: other), rrset.type == former.type,
                octets(of: rrset).hasSameOctets(as: old.octets(of: former))
            else { return false }
        }
        return true
    }
}
