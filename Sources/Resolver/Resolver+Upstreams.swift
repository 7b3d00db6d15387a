// Upstream messages in, their failures, and time.

import DNS

extension Resolver {
    /// Takes the next query that has to go upstream, or nil when all have been taken.
    ///
    /// To be drained after each batch of `handle`, `receive`, `expire` and `nextReply`. `message`
    /// must have room for 512 octets.
    public mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? {
        forwarder.nextSend(into: &message)
    }

    /// Whether `nextSend` has something: `nextReply` may have found that more must be asked.
    public var hasUnsent: Bool { forwarder.sent < forwarder.outbox.count }

    /// Takes one message that came from an upstream; anything that does not match is dropped.
    public mutating func receive(
        _ response: Span<UInt8>,
        over path: UpstreamPath,
        at now: Instant
    ) {
        guard let header = Header(parsing: response),
            let match = forwarder.match(response, header, over: path)
        else { return }
        let options = ResponseOptions(parsing: response, header: header)
        let attempt = match.attempt
        switch forwarder.judge(match, options, of: response, at: now) {
        case .genuine: break
        case .doubtful:
            forwarder.doubt(attempt, at: now)
            return
        case .forged:
            forwarder.counts.mismatches &+= 1
            return
        }
        guard forwarder.heard(attempt, at: now) else { return }
        if header.flags.isTruncated, case .datagram = path {
            forwarder.exchanges[attempt.exchange].isTruncated = true
            forwarder.askOverStream(attempt, at: now)
            return
        }
        if let failure = take(response, options, for: attempt, at: now) {
            settle(attempt, failure, at: now)
        }
    }

    /// Takes what an upstream says; gives why it is no answer, if so and nothing else was begun.
    private mutating func take(
        _ response: Span<UInt8>,
        _ options: ResponseOptions,
        for attempt: AttemptID,
        at now: Instant
    ) -> Exchange.Failure? {
        let facts = forwarder.exchanges[attempt: attempt]
        let failure = Exchange.Failure.code(options.code, options.error)
        switch options.code {
        case .noError, .nxDomain, .yxDomain:
            if let failure = keep(response, options, for: attempt.exchange, at: now) {
                return failure
            }
            forwarder.answered(attempt, hasEDNS: options.hasEDNS, at: now)
            return nil
        case .badCookie:
            // The new cookie has been learned; over a stream none is needed (RFC 7873, 5.3).
            let isAgain =
                forwarder.exchanges.attempts(of: attempt.exchange, at: Int(facts.upstream)) > 1
            let isAsked = forwarder.askAgain(attempt, level: .full, isStream: isAgain, at: now)
            return isAsked ? nil : failure
        case .formatError, .notImplemented, .badVersion:
            let level: UpstreamDialect.Level = facts.hasCookie ? .plain : .none
            guard facts.level < .none,
                forwarder.askAgain(attempt, level: level, isStream: facts.isStream, at: now)
            else { return failure }
            return nil
        default:
            return failure
        }
    }

    /// An attempt came to nothing: the next upstream is asked, or all who wait are told.
    private mutating func settle(
        _ attempt: AttemptID,
        _ failure: Exchange.Failure,
        at now: Instant
    ) {
        if forwarder.failed(attempt, failure, at: now) { giveUp(attempt.exchange, at: now) }
    }

    /// Tells that a path broke: ICMP unreachable on a socket, or a connection that failed or ended.
    /// `reason` is for the clients that get no answer; where there is none, it is unreachable.
    public mutating func pathFailed(
        _ path: UpstreamPath,
        _ failure: PathFailure = .unreachable,
        reason: String? = nil,
        at now: Instant
    ) {
        if forwarder.troubles.indices.contains(path.upstream) {
            forwarder.troubles[path.upstream] = reason
        }
        for exchange in forwarder.broke(path, failure, at: now) { giveUp(exchange, at: now) }
    }

    /// How many attempts wait on a path; a socket with none can be given a new port.
    public func exchangesInFlight(on path: UpstreamPath) -> Int {
        forwarder.pending.count(on: path)
    }

    /// Does what is due: retransmits, asks the next upstream, gives up.
    public mutating func expire(at now: Instant) {
        while let exchange = forwarder.expire(at: now) { giveUp(exchange, at: now) }
    }

    /// When `expire` is next due, or nil while nothing waits.
    public var nextDeadline: Instant? { forwarder.nextDeadline }

    /// How many clients wait for their answer.
    public var waitingCount: Int { forwarder.waiters.count }

    /// Takes the next finished reply: its client, and how many octets stand in `reply`; none where a
    /// policy has the client get no answer.
    ///
    /// To be drained after each batch of `receive`, `pathFailed`, `expire` and `adopt`, and
    /// `nextSend` after it, until neither has anything. `reply` must have
    /// room for 65 535 octets.
    public mutating func nextReply(
        into reply: inout MutableSpan<UInt8>,
        at now: Instant
    ) -> (client: Client, count: Int)? {
        var question = InlineArray<264, UInt8>(repeating: 0)
        while true {
            var octets = question.mutableSpan
            guard let waiter = forwarder.waiters.nextReady(question: &octets) else { return nil }
            limiter.endWaiting(waiter.key)
            let asked = question.span.extracting(0..<waiter.query.questionSize)
            guard (try? target.read(from: asked, at: 0)) != nil else { continue }
            let disposition = respond(to: waiter, question: asked, at: now, into: &reply)
            if log.interval > 0 { note(disposition, of: waiter, asked, reply.span, at: now) }
            switch disposition {
            case .respond(let count):
                latencies.add(from: waiter.arrivedAt, to: now)
                return (waiter.client, count)
            case .drop: return (waiter.client, 0)
            case .wait: continue
            }
        }
    }

    /// Rebuilds an upstream's answer and puts it into the cache; gives why it is no answer, if so.
    private mutating func keep(
        _ response: Span<UInt8>,
        _ options: ResponseOptions,
        for exchange: Int,
        at now: Instant
    ) -> Exchange.Failure? {
        guard forwarder.copyName(of: exchange, to: &scratch) else { return .unusable }
        var key = forwarder.exchanges[exchange].key
        let start = Header.size + scratch.count + 4
        var end = start
        var description: CacheEntry.Description
        do throws(UpstreamAnswer.Rejection) {
            description = try upstreamAnswer.rebuild(
                response,
                name: scratch,
                key: key,
                policy: policy,
                into: &message,
                end: &end
            )
        } catch {
            return error == .aliasLoop ? .aliasLoop : .unusable
        }
        if let asked = forwarder.exchanges[exchange].subnet {
            if let answered = options.subnet {
                guard asked.isAnswered(by: answered) else { return .unusable }
                description.scope = answered.scope
            }
            // An upstream that says nothing of networks answers for all (RFC 7871, 7.3).
            key = self.key(keeping: &description, askedFor: asked, under: key)
        }
        store(description, key: key, body: start..<end, at: now)
        return nil
    }

    /// Puts an entry for the name in `scratch` into the cache; its body stands in `message`.
    mutating func store(
        _ description: CacheEntry.Description,
        key: CacheKey,
        body: Range<Int>,
        at now: Instant
    ) {
        let hash = key.hash(scratch, seed: cache.seed)
        let size = CacheEntry.compose(
            description,
            key: key,
            name: scratch,
            hash: hash,
            storedAt: now,
            body: message,
            body,
            into: &entry
        )
        cache.insert(
            entry.span.extracting(0..<size),
            key: key,
            name: scratch,
            hash: hash,
            staleSeconds: policy.settings.staleSeconds,
            at: now
        )
    }

    /// For how long a failure is kept (RFC 9520, 3.2), in seconds: one, and twice as long as the last
    /// time where it is the name that fails again and again. What an outage does to a name is over when
    /// the outage is.
    private mutating func failureLifetime(of exchange: Int, at now: Instant) -> UInt32 {
        let key = forwarder.exchanges[exchange].key
        guard !forwarder.isDown(group: forwarder.exchanges[exchange].group),
            cache.find(key, name: scratch, isHit: false, at: now, copy: &entry) != .nothing
        else { return 1 }
        let former = CacheEntry(entry.span, at: 0)
        let forgotten = (UInt64(former.lifetime) + Resolver.failureMemory) * 1_000_000_000
        guard former.flags.contains(.isFailure), former.age(at: now) < forgotten else { return 1 }
        return min(former.lifetime * 2, Resolver.longestFailure)
    }

    private static let longestFailure: UInt32 = 5
    /// For how many seconds a failure that is over still makes the next one last longer.
    private static let failureMemory: UInt64 = 60

    /// Nobody gave an answer: keeps that for a moment, and wakes all who wait.
    mutating func giveUp(_ exchange: Int, at now: Instant) {
        let failure = forwarder.exchanges[exchange].failure
        let upstream = forwarder.exchanges[exchange].failedUpstream
        var description = CacheEntry.Description()
        description.flags = .isFailure
        description.code = .serverFailure
        description.error = failure == .unreachable ? .networkError : .noReachableAuthority
        var reason = Explanation()
        reason.append(forwarder.labels[upstream])
        switch failure {
        case .silence: reason.append(" did not answer in time")
        case .unreachable:
            if let trouble = forwarder.troubles[upstream] {
                reason.append(": ")
                reason.append(trouble)
            } else {
                reason.append(" is unreachable")
            }
        case .unusable: reason.append(" sent what is no answer")
        case .aliasLoop: reason.append(" sent an alias chain that is a loop")
        case .code(let code, let error):
            reason.append(" answered with code ")
            reason.append(decimal: UInt64(code.rawValue))
            if let error { description.error = error }
        }
        let group = forwarder.exchanges[exchange].group
        if forwarder.groups.indices.contains(group), forwarder.groups[group].members.count > 1 {
            reason.append(", nor did others give an answer")
        }
        if forwarder.copyName(of: exchange, to: &scratch) {
            description.lifetime = failureLifetime(of: exchange, at: now)
            message.copy(reason.text, at: 0)
            let body = 0..<reason.text.count
            store(description, key: forwarder.exchanges[exchange].key, body: body, at: now)
        }
        forwarder.finish(exchange, acceptingStale: true, at: now)
    }
}
