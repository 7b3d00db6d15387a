// Which entry of a layer of zones decides about a name: all of it.

public import DNS

/// What a layer of zones says about a name and a type, and the entry that says it.
@frozen
public struct Lookup: BitwiseCopyable, Sendable {
    /// What is to be done.
    @frozen
    public enum Kind: UInt8, BitwiseCopyable, Sendable {
        /// The layer does not own the name: the next layer decides, and at the end forwarding.
        case notOwned
        /// The node has the RRset that was asked for (for ANY: at least one).
        case answer
        /// The node has a CNAME, and something else was asked for.
        case cname
        /// The node, above the name, has a DNAME (RFC 6672).
        case dname
        /// The node, at or above the name, is a zone cut: the answer is a referral.
        case referral
        /// The name exists and has nothing of that type.
        case noData
        /// The name does not exist.
        case nxDomain
        /// A policy entry, or a type listed under `passthrough`: forward, asking no further layer.
        case forward
        /// A policy entry: no answer at all.
        case drop
        /// A policy entry: truncate over UDP, forward over TCP.
        case tcpOnly
        /// A PTR record is made of the node's name.
        case pointer
    }

    /// What is to be done.
    public let kind: Kind
    /// The entry that decides; for `nxDomain` and `noData` without an entry of its own, nil.
    public let node: ZoneIndex.Node?
    /// The label of the name asked for at which the deciding entry's name begins.
    public let label: Int
    /// The records of the type asked for, or the CNAME; nil for ANY, and where there are none.
    public let rrset: ZoneIndex.RRset?

    init(
        _ kind: Kind,
        _ node: ZoneIndex.Node? = nil,
        label: Int = 0,
        rrset: ZoneIndex.RRset? = nil
    ) {
        self.kind = kind
        self.node = node
        self.label = label
        self.rrset = rrset
    }
}

extension ZoneIndex {
    /// What this layer says about `type` at `name`, asked by `client` where its address counts.
    ///
    /// Allocates and locks nothing.
    ///
    /// Complexity: one probe, and one for each label depth at which there are wildcards or cuts.
    public func lookup(
        _ name: borrowing FoldedName,
        type: RecordType,
        client: IPAddress? = nil
    ) -> Lookup {
        if let client, let lookup = lookup(client: client, type: type) { return lookup }
        return switch kind {
        case .override, .hosts: sparseLookup(name, type: type)
        case .rpz: policyLookup(name, type: type)
        case .authoritative: authoritativeLookup(name, type: type)
        }
    }

    // MARK: Override zones: the exact name, else the longest wildcard

    private func sparseLookup(_ name: borrowing FoldedName, type: RecordType) -> Lookup {
        if let node = node(of: name, fromLabel: 0), flags(of: node).contains(.owned) {
            return decide(node, type: type, label: 0)
        }
        if let (node, label) = longestWildcard(for: name, fromLabel: 0) {
            return decide(node, type: type, label: label)
        }
        if type == .https || type == .svcb, let lookup = bindingHint(name) { return lookup }
        if type == .ptr, !pointers.isEmpty, let node = addressNode(for: name) {
            return Lookup(.pointer, node)
        }
        return Lookup(.notOwned)
    }

    /// The deepest wildcard above the name, not counting labels before `first`; an extra label that
    /// begins with an underscore is no host's name, and is left alone (SEMANTICS 1).
    private func longestWildcard(
        for name: borrowing FoldedName,
        fromLabel first: Int
    ) -> (Node, label: Int)? {
        guard !wildcardDepths.isEmpty else { return nil }
        var label = first
        while label < name.labelCount {
            if name.firstOctet(ofLabel: label) == UInt8(ascii: "_") { return nil }
            label &+= 1
            if wildcardDepths.contains(name.labelCount &- label),
                let node = node(of: name, fromLabel: label, isWildcard: true),
                flags(of: node).contains(.owned)
            {
                return (node, label)
            }
        }
        return nil
    }

    /// `_8443._https.` and the like below an owned name: forwarding it would leak the public hints.
    private func bindingHint(_ name: borrowing FoldedName) -> Lookup? {
        var label = 0
        while label < name.labelCount, name.firstOctet(ofLabel: label) == UInt8(ascii: "_") {
            label &+= 1
        }
        guard label > 0, label < name.labelCount else { return nil }
        if let node = node(of: name, fromLabel: label), flags(of: node).contains(.owned) {
            return action(of: node) == .pass ? nil : Lookup(.noData, node, label: label)
        }
        guard let (node, at) = longestWildcard(for: name, fromLabel: label) else { return nil }
        return action(of: node) == .pass ? nil : Lookup(.noData, node, label: at)
    }

    /// What a sparse or policy entry says once it has been chosen.
    func decide(_ node: Node, type: RecordType, label: Int) -> Lookup {
        switch action(of: node) {
        case .answer: break
        case .nxDomain: return Lookup(.nxDomain, node, label: label)
        case .noData: return Lookup(.noData, node, label: label)
        case .pass: return Lookup(.forward, node, label: label)
        case .drop: return Lookup(.drop, node, label: label)
        case .tcpOnly: return Lookup(.tcpOnly, node, label: label)
        }
        if type == .any { return Lookup(.answer, node, label: label) }
        if let rrset = rrset(type, at: node) {
            return Lookup(.answer, node, label: label, rrset: rrset)
        }
        let passthrough = zones[zone(of: node)].passthrough
        if !passthrough.isEmpty, passthrough.contains(type) {
            return Lookup(.forward, node, label: label)
        }
        // The parent's side of a delegation: a validating stub must be able to prove the name insecure.
        if type == .ds, label == 0, isTopmost(node) { return Lookup(.forward, node) }
        if flags(of: node).contains(.cname) {
            return Lookup(.cname, node, label: label, rrset: rrset(.cname, at: node))
        }
        return Lookup(.noData, node, label: label)
    }

    /// Whether no owned name lies above the node's.
    private func isTopmost(_ node: Node) -> Bool {
        var name = FoldedName()
        guard (try? name.read(from: self.name(of: node), at: 0)) != nil else { return false }
        var label = 1
        while label < name.labelCount {
            if let above = self.node(of: name, fromLabel: label),
                flags(of: above).contains(.owned)
            {
                return false
            }
            label &+= 1
        }
        return true
    }

    // MARK: Policy zones: the exact name, else the wildcard at the closest encloser

    private func policyLookup(_ name: borrowing FoldedName, type: RecordType) -> Lookup {
        var label = 0
        while label <= name.labelCount {
            if let node = ownNode(of: name, fromLabel: label) {
                if label == 0 {
                    return flags(of: node).contains(.owned)
                        && flags(of: node).isDisjoint(with: .triggers)
                        ? decide(node, type: type, label: 0) : Lookup(.notOwned)
                }
                guard let wildcard = self.node(of: name, fromLabel: label, isWildcard: true) else {
                    return Lookup(.notOwned)
                }
                guard flags(of: wildcard).contains(.owned) else { return Lookup(.notOwned) }
                return decide(wildcard, type: type, label: label)
            }
            label &+= 1
        }
        return Lookup(.notOwned)
    }

    // MARK: Authoritative zones: RFC 1034 4.3.2 with RFC 4592 and RFC 6672

    private func authoritativeLookup(_ name: borrowing FoldedName, type: RecordType) -> Lookup {
        let apex = name.labelCount &- apexLabelCount
        guard apex >= 0, node(of: name, fromLabel: apex) != nil else { return Lookup(.notOwned) }
        if !cutDepths.isEmpty, let lookup = cut(above: name, apex: apex, type: type) {
            return lookup
        }
        if let node = ownNode(of: name, fromLabel: 0) {
            return authority(node, type: type, label: 0)
        }
        var label = 1
        while label <= apex {
            if ownNode(of: name, fromLabel: label) != nil {
                guard let wildcard = node(of: name, fromLabel: label, isWildcard: true) else {
                    return Lookup(.nxDomain)
                }
                return authority(wildcard, type: type, label: label)
            }
            label &+= 1
        }
        return Lookup(.nxDomain)
    }

    /// The topmost zone cut or DNAME on the way from the apex down to the name.
    private func cut(above name: borrowing FoldedName, apex: Int, type: RecordType) -> Lookup? {
        var label = apex
        while label >= 0 {
            if cutDepths.contains(name.labelCount &- label),
                let node = ownNode(of: name, fromLabel: label)
            {
                let flags = flags(of: node)
                // DS belongs to the parent's side of the cut (RFC 4035, 3.1.4.1).
                if flags.contains(.zoneCut), label > 0 || type != .ds {
                    return Lookup(.referral, node, label: label)
                }
                if flags.contains(.dname), label > 0 { return Lookup(.dname, node, label: label) }
            }
            label &-= 1
        }
        return nil
    }

    private func authority(_ node: Node, type: RecordType, label: Int) -> Lookup {
        guard flags(of: node).contains(.owned) else { return Lookup(.noData, node, label: label) }
        if type == .any { return Lookup(.answer, node, label: label) }
        if let rrset = rrset(type, at: node) {
            return Lookup(.answer, node, label: label, rrset: rrset)
        }
        if flags(of: node).contains(.cname) {
            return Lookup(.cname, node, label: label, rrset: rrset(.cname, at: node))
        }
        return Lookup(.noData, node, label: label)
    }
}
