// Who there is to ask: the upstreams and groups of the policy at hand.

import DNS

extension Forwarder {
    /// Most upstreams that there are at a time, those of former policies included.
    static let mostUpstreams = 1_024

    /// Asks the upstreams of another policy from now on.
    ///
    /// Nothing is lost: an upstream that is in both policies keeps its number and what is known of
    /// it, one that is gone keeps its number until nothing is pending on it; an exchange goes on
    /// with the group of equal upstreams, and where there is none its clients are decided about anew.
    mutating func adopt(_ policy: Policy, at now: Instant) {
        let numbers = number(policy.upstreams)
        let former = groups.map(\.partition)
        groups = zip(policy.groups, policy.partitions).map { group, partition in
            Group(
                members: group.members.compactMap {
                    numbers.indices.contains($0) ? numbers[$0] : nil
                },
                order: group.order,
                partition: partition
            )
        }
        guard former != groups.map(\.partition) else { return }
        let moved = former.map { partition in
            groups.firstIndex { $0.partition == partition } ?? -1
        }
        for index in exchanges.slots where !exchanges[index].isFree {
            let group = exchanges[index].group
            exchanges[index].group = moved.indices.contains(group) ? moved[group] : -1
            if exchanges[index].group < 0, !exchanges[index].isFinished { finish(index, at: now) }
        }
    }

    /// A number for each upstream: its former one, or one that is free.
    private mutating func number(_ wanted: [Policy.Upstream]) -> [Int?] {
        var numbers = wanted.map { upstream in upstreams.firstIndex(of: upstream) }
        for index in upstreams.indices
        where !numbers.contains(index) && pending.isIdle(upstream: index) {
            upstreams[index] = nil
        }
        for index in wanted.indices where numbers[index] == nil {
            // Two equal ones are one.
            if let known = upstreams.firstIndex(of: wanted[index]) {
                numbers[index] = known
                continue
            }
            var number = upstreams.firstIndex { $0 == nil }
            if number == nil, upstreams.count < Forwarder.mostUpstreams {
                number = upstreams.count
                upstreams.append(nil)
                health.append(UpstreamHealth())
                labels.append("")
                troubles.append(nil)
                dialects.append(UpstreamDialect(clientCookie: 0))
                isEncrypted.append(false)
                batchSockets.append(-1)
                pending.grow(toUpstreams: upstreams.count)
            }
            guard let number else { continue }
            upstreams[number] = wanted[index]
            health[number] = UpstreamHealth()
            labels[number] = wanted[index].label
            troubles[number] = nil
            isEncrypted[number] = wanted[index].identity != nil
            dialects[number] = UpstreamDialect(clientCookie: random.word())
            numbers[index] = number
        }
        return numbers
    }

    /// Whether all of a group are known to be down.
    func isDown(group: Int) -> Bool {
        guard groups.indices.contains(group) else { return true }
        for upstream in groups[group].members where !health[upstream].isDown { return false }
        return true
    }

    /// Whether a query is one that we sent for an exchange: an upstream is ourselves, or forwards to
    /// us. It has our id, or where somebody between has drawn another, our letters' case in a name
    /// of so many capitals that nobody hits upon them by chance.
    func isOurs(_ question: Span<UInt8>, id: UInt16, exchange: Int) -> Bool {
        var capitals = 0
        for index in question.indices where question[index] &- 0x41 < 26 { capitals += 1 }
        for index in 0..<exchanges[exchange].attemptCount {
            let attempt = exchanges[exchange, attempt: index]
            if attempt.isPending, attempt.id == id || capitals >= 12,
                isSpelled(question, at: 0, as: attempt, of: exchange)
            {
                return true
            }
        }
        return false
    }

    /// Whether the name at `offset` of a message is an exchange's, its letters in an attempt's case.
    func isSpelled(
        _ message: Span<UInt8>,
        at offset: Int,
        as attempt: Exchange.Attempt,
        of exchange: Int
    ) -> Bool {
        let name = exchanges.name(of: exchange)
        guard offset + name.count <= message.count else { return false }
        let spelled = message.extracting(offset..<(offset + name.count))
        var index = 0
        while index < name.count {
            let word = name.paddedWord(at: index)
            guard spelled.paddedWord(at: index) == attempt.spelled(word, at: index) else {
                return false
            }
            index &+= 8
        }
        return true
    }
}
