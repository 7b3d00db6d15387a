// What there is around a name: entries below it, and entries that are about it, for people who ask
// why an answer is what it is.

public import DNS

extension ZoneIndex {
    /// Whether the layer owns names below this one: an upstream's NXDOMAIN must not hide them.
    public func hasNames(below name: borrowing FoldedName) -> Bool {
        guard let node = node(of: name, fromLabel: 0) else {
            return self.node(of: name, fromLabel: 0, isWildcard: true) != nil
        }
        return flags(of: node).contains(.hasDescendants)
    }

    /// All entries of a sparse or policy layer that are about a name: its own, then wildcards, the
    /// nearest first. The first of them that a lookup may use decides; the others are shadowed.
    public func entries(about name: borrowing FoldedName) -> [Node] {
        guard kind != .authoritative else { return [] }
        var nodes: [Node] = []
        if let node = node(of: name, fromLabel: 0), flags(of: node).contains(.owned),
            flags(of: node).isDisjoint(with: .triggers)
        {
            nodes.append(node)
        }
        for label in 1..<max(1, name.labelCount + 1) {
            if let node = node(of: name, fromLabel: label, isWildcard: true),
                flags(of: node).contains(.owned)
            {
                nodes.append(node)
            }
        }
        return nodes
    }

    /// The name that an entry stands under in its file, as far as it is kept: folded, absolute; for a
    /// policy zone without the zone's own name.
    public func entryName(of node: Node) -> Name {
        let name = (try? Name(parsing: self.name(of: node))) ?? .root
        return flags(of: node).contains(.wildcard) ? name.wildcardBelow : name
    }

    /// The name of the node's file, without its folders.
    public func fileName(of node: Node) -> String {
        let label = label(of: node)
        var octets: [UInt8] = []
        for index in label.indices { octets.append(label[index]) }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The target of an alias, filled in with the name asked for where it is a wildcard; nil where
    /// that would be no name.
    public func target(of rrset: RRset, askedFor name: borrowing FoldedName) -> Name? {
        guard rrset.type == .cname else { return nil }
        let octets = octets(of: rrset)
        guard octets.count > 12 else { return nil }
        let data = octets.extracting(12..<octets.count)
        guard let target = try? Name(parsing: data) else { return nil }
        guard leadsToWildcard(rrset) else { return target }
        return Name(folded: name).appending(target.parent)
    }
}
