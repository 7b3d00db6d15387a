import DNS
import Zones

// What no override zone says: special names, what is cached, and who is asked.

extension DecisionWalk {
    mutating func isSpecial(_ folded: borrowing FoldedName, _ name: Name) -> Bool {
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

    /// The cache and the upstreams; gives the next name where the cache has an alias that leads to
    /// a name which is looked up anew.
    mutating func forward(_ folded: borrowing FoldedName, _ name: Name) -> Name? {
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
            add(.forwarding, "\(name) is not forwarded: REFUSED", isDecisive: true)
            return nil
        }
        if let knowledge {
            let cached = cached(folded, group: group, knowledge)
            noteCached(cached, name, group: group, knowledge)
            if let cached, cached.isServed(at: knowledge.now) {
                return cached.aliases.first { isOwned($0) }
                    ?? (cached.isOpenChain ? cached.aliases.last : nil)
            }
        }
        let members = policy.groups[group].members.map { member in
            let upstream = policy.upstreams[member]
            return upstream.text + (knowledge?.state(of: upstream).map { " (\($0))" } ?? "")
        }
        var order = ""
        if members.count > 1 {
            order =
                switch policy.groups[group].order {
                case .sequential: ", in this order"
                case .fastest: ", the fastest first"
                case .race: ", all at once"
                }
        }
        let list = members.joined(separator: ", ")
        add(.forwarding, "\(name) is forwarded to \(list)\(order)\(reason)", isDecisive: true)
        if sight.hasResponseTriggers {
            add(.forwarding, "policy zones look at the addresses in the answer")
        }
        return nil
    }

    /// The cached answer to the question at hand, as a stub asks it: without DO and CD.
    private func cached(
        _ name: borrowing FoldedName,
        group: Int,
        _ knowledge: ServerKnowledge,
        wantsDNSSEC: Bool = false
    ) -> CachedAnswer? {
        let key = CacheKey(
            type: type,
            class: .in,
            variant: .init(wantsDNSSEC: wantsDNSSEC, isCheckingDisabled: false),
            partition: policy.partitions[group]
        )
        return knowledge.answer(to: key, name: name)
    }

    private mutating func noteCached(
        _ cached: CachedAnswer?,
        _ name: Name,
        group: Int,
        _ knowledge: ServerKnowledge
    ) {
        let now = knowledge.now
        var folded = FoldedName()
        if (try? folded.read(from: name.octets.span, at: 0)) != nil,
            let validated = self.cached(folded, group: group, knowledge, wantsDNSSEC: true),
            validated.secondsLeft(at: now) > 0
        {
            add(
                .cache,
                "\(name) \(type) with DNSSEC data (DO) is cached: \(validated.summary(at: now))"
            )
        }
        guard let cached else { return add(.cache, "\(name) \(type) is not cached") }
        if cached.isFresh(at: now) {
            let summary = cached.summary(at: now)
            add(.cache, "\(name) \(type) is cached: \(summary)", isDecisive: true)
        } else if cached.isStale(at: now, within: policy.settings.staleSeconds) {
            let isServed = cached.isServed(at: now)
            let isDown = policy.groups[group].members.allSatisfy {
                knowledge.isOut(policy.upstreams[$0])
            }
            let when =
                isServed
                ? "served without asking, as nobody could renew it just now"
                : isDown
                    ? "served at once, as all upstreams are down"
                    : "served where no upstream answers within \(Forwarder.freshWait) ms"
            add(
                .cache,
                "\(name) \(type) is stale since \(cached.secondsPast(at: now)) s: \(when)",
                isDecisive: isServed
            )
        } else {
            add(.cache, "\(name) \(type) is cached no more")
        }
    }

    private func isOwned(_ name: Name) -> Bool {
        var folded = FoldedName()
        guard (try? folded.read(from: name.octets.span, at: 0)) != nil else { return false }
        return (sight.lower..<sight.upper).contains {
            policy.horizon.layers[$0].index.lookup(folded, type: .a).kind != .notOwned
        }
    }
}
