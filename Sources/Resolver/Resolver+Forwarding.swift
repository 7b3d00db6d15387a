// Stage 5: a query that nobody here can answer waits for upstreams.

import DNS

extension Resolver {
    /// The question that a query leads to for the name in `target`, or nil where such names are not
    /// forwarded.
    // Inlined: a call that borrows the resolver copies it whole, as the compiler is now.
    @inline(__always)
    func asked(by query: Query) -> Forwarder.Question? {
        var group = sight.group
        switch policy.forwardRules.match(target) {
        case .none: break
        case .group(let index): group = index
        case .local: return nil
        }
        guard policy.groups.indices.contains(group) else { return nil }
        var asked = Forwarder.Question(key: key(of: query), group: group, subnet: query.subnet)
        asked.key.partition = policy.partitions[group] ^ (query.subnet?.fingerprint ?? 0)
        return asked
    }

    func key(of query: Query) -> CacheKey {
        CacheKey(
            type: query.type,
            class: query.class,
            variant: .init(
                wantsDNSSEC: query.wantsDNSSEC,
                isCheckingDisabled: query.flags.isCheckingDisabled
            )
        )
    }

    mutating func forward(
        _ waiter: Waiter,
        _ asked: Forwarder.Question,
        _ question: Span<UInt8>,
        at now: Instant,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Decision {
        guard waiter.query.flags.wantsRecursion else {
            response.code = .refused
            response.error = .notAuthoritative
            explanation.append("recursion was not asked for, and the answer is not at hand")
            return .respond
        }
        guard waiter.exchanges < Forwarder.mostExchanges else {
            return fail(
                "too many queries in flight, or too long a chain",
                &response,
                &writer,
                question
            )
        }
        guard !waiter.acceptsStale else {
            return fail("no upstream gave an answer", &response, &writer, question)
        }
        let address = waiter.client.address
        let key = limiter.key(of: address)
        guard limiter.beginWaiting(key, from: address, at: now) else {
            counts.tooManyWaiting &+= 1
            return fail(
                "too many queries of this client wait for an answer",
                &response,
                &writer,
                question
            )
        }
        var waiter = waiter
        waiter.key = key
        waiter.exchanges += 1
        var asked = asked
        asked.hasStale = hasStale
        let joining = forwarder.wait(
            for: target,
            asked,
            waiter: waiter,
            question: question,
            at: now
        )
        if joining != .waits { limiter.endWaiting(key) }
        switch joining {
        case .waits:
            if waiter.exchanges == 1 { counts.waited &+= 1 }
            return .wait
        case .full:
            return fail("too many clients are waiting", &response, &writer, question)
        case .loop:
            return fail("an upstream sends our queries back to us", &response, &writer, question)
        }
    }
}
