public import DNS
import Zones

// Why an answer is what it is: the stages of a query walked once more, with everything that they see
// written down. The answer itself is made by the resolver alone.

extension Policy {
    /// One thing that was looked at on the way to an answer.
    public struct Step: Sendable, Equatable {
        /// What was looked at.
        public let stage: Stage
        /// What came of it, in one clause.
        public let sentence: String
        /// The file, without its folders, and the line that say so; nil where no file does.
        public let place: Place?
        /// Whether it decides about the answer; else it fell through, or is shadowed.
        public let isDecisive: Bool

        /// Where an entry is.
        public struct Place: Sendable, Equatable {
            /// The file's name without its folders.
            public let file: String
            /// The line, from 1; 0 where nothing in the file stands for it.
            public let line: UInt32
        }
    }

    /// The stages of a query, in their order.
    public enum Stage: String, Sendable {
        /// Whether the client is served.
        case client
        /// Which view it has.
        case view
        /// Who owns the name.
        case overrides
        /// Names that never leave this machine.
        case special
        /// The cache and the upstreams.
        case forwarding
    }

    /// What decides about a question that a client asks, step by step.
    public func steps(
        for name: Name,
        type: RecordType,
        from client: Client
    ) -> [Step] {
        guard allowed.contains(where: { $0.contains(client.address) }) else {
            let sentence = "\(client.address) is not served: REFUSED"
            return [Step(stage: .client, sentence: sentence, place: nil, isDecisive: true)]
        }
        var walk = Walk(policy: self, client: client, type: type)
        walk.add(.client, "\(client.address) is served")
        if !views.isEmpty {
            walk.add(.view, view(of: client).map { "the view \($0.name)" } ?? "the base, no view")
        }
        walk.follow(name)
        return walk.steps
    }

    /// The entry that owns a name, in the first layer that has one for it.
    public func owner(of name: Name, from client: Client) -> Step.Place? {
        let sight = horizon.sight(for: client)
        var folded = FoldedName()
        guard (try? folded.read(from: name.octets.span, at: 0)) != nil else { return nil }
        for number in sight.lower..<sight.upper {
            let lookup = horizon.layers[number].index.lookup(folded, type: .any)
            if lookup.kind != .notOwned { return horizon.layers[number].index.place(of: lookup) }
        }
        return nil
    }

    /// Whether an alias that is owned leads in a circle, or through more names than are followed.
    public func isEndless(_ name: Name, from client: Client) -> Bool {
        var walk = Walk(policy: self, client: client, type: .a)
        walk.follow(name)
        return walk.isEndless
    }

    private struct Walk {
        let policy: Policy
        let client: Client
        let type: RecordType
        let sight: Horizon.Sight
        var steps: [Step] = []
        var isEndless = false
        /// Policy zones from this layer on have let the client pass.
        var policyEnd: Int

        init(policy: Policy, client: Client, type: RecordType) {
            self.policy = policy
            self.client = client
            self.type = type
            sight = policy.horizon.sight(for: client)
            policyEnd = sight.upper
        }

        mutating func add(
            _ stage: Stage,
            _ sentence: String,
            _ place: Step.Place? = nil,
            isDecisive: Bool = false
        ) {
            steps.append(
                Step(stage: stage, sentence: sentence, place: place, isDecisive: isDecisive)
            )
        }

        mutating func follow(_ first: Name) {
            var name = first
            var folded = FoldedName()
            for link in 0...Resolver.mostAliases {
                guard (try? folded.read(from: name.octets.span, at: 0)) != nil else { return }
                guard let next = decide(folded, name, isFirst: link == 0) else { return }
                name = next
            }
            isEndless = true
            add(.overrides, "the alias leads in a circle: SERVFAIL", isDecisive: true)
        }

        /// Walks the stages for one name; gives the next one where it is an alias.
        mutating func decide(
            _ folded: borrowing FoldedName,
            _ name: Name,
            isFirst: Bool
        ) -> Name? {
            var owner: Lookup.Kind?
            var next: Name?
            for number in sight.lower..<sight.upper {
                let layer = policy.horizon.layers[number]
                if owner != nil {
                    noteShadowed(layer, folded, besides: nil)
                    continue
                }
                if number >= policyEnd, layer.index.kind == .rpz { continue }
                let lookup = layer.index.lookup(
                    folded,
                    type: type,
                    client: isFirst ? client.address : nil
                )
                guard lookup.kind != .notOwned else {
                    noteMisses(layer, folded)
                    continue
                }
                owner = lookup.kind
                if lookup.kind == .forward, isFirst, layer.index.hasTrigger(for: client.address) {
                    policyEnd = number
                }
                add(
                    .overrides,
                    "\(name) " + layer.index.sentence(of: lookup, name: folded, type: type),
                    layer.index.place(of: lookup),
                    isDecisive: lookup.kind != .forward
                )
                noteShadowed(layer, folded, besides: lookup.node)
                if lookup.kind == .cname { next = layer.index.target(of: lookup, folded) }
            }
            if let next { return next }
            if let owner, owner != .forward, owner != .referral { return nil }
            if owner == nil {
                add(.overrides, "\(name) is not owned")
                if isSpecial(folded, name) { return nil }
            }
            noteForwarding(folded, name)
            return nil
        }

        private mutating func noteShadowed(
            _ layer: Layer,
            _ name: borrowing FoldedName,
            besides node: ZoneIndex.Node?
        ) {
            for other in layer.index.entries(about: name) where other != node {
                add(
                    .overrides,
                    "\(layer.index.entryName(of: other)) is shadowed",
                    layer.index.place(of: other)
                )
            }
        }

        /// Wildcards that are above a name and yet do not match it.
        private mutating func noteMisses(_ layer: Layer, _ name: borrowing FoldedName) {
            let reason =
                layer.index.kind == .rpz
                ? "a nearer name exists" : "a label begins with an underscore"
            for entry in layer.index.entries(about: name) {
                add(
                    .overrides,
                    "\(layer.index.entryName(of: entry)) does not match: \(reason)",
                    layer.index.place(of: entry)
                )
            }
        }

        private mutating func isSpecial(_ folded: borrowing FoldedName, _ name: Name) -> Bool {
            let special = SpecialName(folded, type: type, policy: policy)
            if case .group = policy.forwardRules.match(folded) { return false }
            let sentence: String
            switch special {
            case .none: return false
            case .nxDomain: sentence = "is a special name that does not exist: NXDOMAIN"
            case .noData: sentence = "is a special name without records: NODATA"
            case .loopback: sentence = "is a special name: the loopback addresses"
            }
            add(.special, "\(name) \(sentence)", isDecisive: true)
            return true
        }

        private mutating func noteForwarding(_ folded: borrowing FoldedName, _ name: Name) {
            var group = sight.group
            var reason = ""
            switch policy.forwardRules.match(folded) {
            case .none: break
            case .group(let index):
                group = index
                reason = " by a forward rule"
            case .local: group = -1
            }
            guard sight.forwards, policy.groups.indices.contains(group) else {
                return add(.forwarding, "\(name) is not forwarded: REFUSED", isDecisive: true)
            }
            let members = policy.groups[group].members.map { member in
                let upstream = policy.upstreams[member]
                return upstream.address.isIPv4
                    ? "\(upstream.address):\(upstream.port)"
                    : "[\(upstream.address)]:\(upstream.port)"
            }
            let list = members.joined(separator: ", ")
            add(.forwarding, "\(name) is forwarded to \(list)\(reason)", isDecisive: true)
            if sight.hasResponseTriggers {
                add(.forwarding, "policy zones look at the addresses in the answer")
            }
        }
    }
}

extension ZoneIndex {
    fileprivate func place(of node: Node) -> Policy.Step.Place {
        Policy.Step.Place(file: fileName(of: node), line: line(of: node))
    }

    fileprivate func place(of lookup: Lookup) -> Policy.Step.Place? {
        guard let node = lookup.node else {
            return zones.first.map { Policy.Step.Place(file: $0.label, line: 0) }
        }
        return Policy.Step.Place(
            file: fileName(of: node),
            line: lookup.rrset?.line ?? line(of: node)
        )
    }

    /// What a lookup of `name` came to, in words that stand behind the name.
    fileprivate func sentence(
        of lookup: Lookup,
        name: borrowing FoldedName,
        type: RecordType
    ) -> String {
        let entry = lookup.node.map { entryName(of: $0) }
        var owner = ""
        if let entry, entry != Name(folded: name) { owner = " by \(entry)" }
        let means = kind == .rpz ? "is rewritten" : "is owned"
        return switch lookup.kind {
        case .answer where type == .any: "\(means)\(owner): it has records"
        case .answer: "\(means)\(owner): it has \(type) records"
        case .cname:
            "\(means)\(owner): it is an alias"
                + (target(of: lookup, name).map { " of \($0)" } ?? "")
        case .dname: "\(means)\(owner): it is below a DNAME"
        case .referral: "\(means)\(owner): it is delegated"
        case .noData: "\(means)\(owner): it has no \(type) records: NODATA"
        case .nxDomain: "\(means)\(owner): it does not exist: NXDOMAIN"
        case .forward: "is let pass\(owner)"
        case .drop: "\(means)\(owner): there is no answer"
        case .tcpOnly: "\(means)\(owner): it is truncated over UDP"
        case .pointer: "\(means): it has a PTR record made from the address\(owner)"
        case .notOwned: "is not owned"
        }
    }

    fileprivate func target(of lookup: Lookup, _ name: borrowing FoldedName) -> Name? {
        guard let rrset = lookup.rrset else { return nil }
        return target(of: rrset, askedFor: name)
    }
}
