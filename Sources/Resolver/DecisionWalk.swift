import DNS
import Zones

/// The stages of a query walked once more, with everything that they see written down: shadowed
/// entries, wildcards that do not match, what the cache has.
///
/// Here is the order of the stages and what the override zones say; +Forwarding has the rest.
struct DecisionWalk {
    let policy: Policy
    let client: Client
    let type: RecordType
    let knowledge: ServerKnowledge?
    let sight: Horizon.Sight
    private(set) var steps: [Policy.Step] = []
    private(set) var isEndless = false
    /// Policy zones from this layer on have let the client pass.
    private var policyEnd: Int

    init(
        policy: Policy,
        client: Client,
        type: RecordType,
        knowledge: ServerKnowledge? = nil
    ) {
        self.knowledge = knowledge
        self.policy = policy
        self.client = client
        self.type = type
        sight = policy.horizon.sight(for: client)
        policyEnd = sight.upper
    }

    mutating func add(
        _ stage: Policy.Stage,
        _ sentence: String,
        _ place: Policy.Step.Place? = nil,
        isDecisive: Bool = false
    ) {
        steps.append(
            Policy.Step(stage: stage, sentence: sentence, place: place, isDecisive: isDecisive)
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
    private mutating func decide(
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
            if passes(lookup.kind), isFirst, layer.index.hasTrigger(for: client.address) {
                policyEnd = number
            }
            add(
                .overrides,
                "\(name) " + layer.index.sentence(of: lookup, name: folded, type: type),
                place(layer, layer.index.place(of: lookup)),
                isDecisive: !passes(lookup.kind)
            )
            noteShadowed(layer, folded, besides: lookup.node)
            if lookup.kind == .cname || lookup.kind == .dname {
                next = layer.index.target(of: lookup, folded)
            }
        }
        if let next { return next }
        if let owner, !passes(owner) { return nil }
        if owner == nil {
            add(.overrides, "\(name) is not owned")
            if isSpecial(folded, name) { return nil }
        }
        return forward(folded, name)
    }

    /// Whether what a lookup came to lets the question go upstream.
    private func passes(_ kind: Lookup.Kind) -> Bool {
        switch kind {
        case .forward: true
        case .tcpOnly: client.transport == .tcp
        // A stub can do nothing with a referral.
        case .referral: sight.forwards && !policy.upstreams.isEmpty
        default: false
        }
    }

    private func place(_ layer: Policy.Layer, _ place: Policy.Step.Place?) -> Policy.Step.Place? {
        var place = place
        place?.isRuntime = policy.runtime.contains(layer)
        return place
    }

    private mutating func noteShadowed(
        _ layer: Policy.Layer,
        _ name: borrowing FoldedName,
        besides node: ZoneIndex.Node?
    ) {
        for other in layer.index.entries(about: name) where other != node {
            add(
                .overrides,
                "\(layer.index.entryName(of: other)) is shadowed",
                place(layer, layer.index.place(of: other))
            )
        }
    }

    /// Wildcards that are above a name and yet do not match it.
    private mutating func noteMisses(_ layer: Policy.Layer, _ name: borrowing FoldedName) {
        let reason =
            layer.index.kind == .rpz
            ? "a nearer name exists" : "a label begins with an underscore"
        for entry in layer.index.entries(about: name) {
            add(
                .overrides,
                "\(layer.index.entryName(of: entry)) does not match: \(reason)",
                place(layer, layer.index.place(of: entry))
            )
        }
    }
}

extension ZoneIndex {
    func place(of node: Node) -> Policy.Step.Place {
        Policy.Step.Place(file: fileName(of: node), line: line(of: node))
    }

    func place(of lookup: Lookup) -> Policy.Step.Place? {
        guard let node = lookup.node else {
            return zones.first.map { Policy.Step.Place(file: $0.label, line: 0) }
        }
        return Policy.Step.Place(
            file: fileName(of: node),
            line: lookup.rrset?.line ?? line(of: node)
        )
    }

    /// What a lookup of `name` came to, in words that stand behind the name.
    func sentence(
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
        case .dname:
            "\(means)\(owner): it is below a DNAME"
                + (target(of: lookup, name).map { ", an alias of \($0)" } ?? ": YXDOMAIN")
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

    func target(of lookup: Lookup, _ name: borrowing FoldedName) -> Name? {
        guard lookup.kind == .dname else {
            return lookup.rrset.flatMap { target(of: $0, askedFor: name) }
        }
        guard let node = lookup.node, let rrset = rrset(.dname, at: node) else { return nil }
        var octets: [UInt8] = []
        octets.append(name.octets.extracting(0..<name.start(ofLabel: lookup.label)))
        let record = self.octets(of: rrset)
        octets.append(record.extracting(min(12, record.count)..<record.count))
        // One that is too long for a name is answered YXDOMAIN.
        return try? Name(parsing: octets.span)
    }
}
