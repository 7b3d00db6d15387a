// Stage 5: upstream messages in, their failures, and time.

import DNS

extension Resolver {
    /// Takes the next query that has to go upstream, or nil when all have been taken.
    ///
    /// To be drained after each batch of `handle`, `receive`, `expire` and `nextReply`. `message`
    /// must have room for 512 octets.
    public mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? {
        forwarder.nextSend(into: &message)
    }

    /// Takes one message that came from an upstream; anything that does not match is dropped.
    public mutating func receive(
        _ response: Span<UInt8>,
        over path: UpstreamPath,
        at now: Instant
    ) {
        guard let match = forwarder.match(response, over: path),
            let header = Header(parsing: response)
        else { return }
        let hadEDNS = forwarder.hadEDNS(match)
        guard forwarder.answered(match, at: now) else { return }
        if header.flags.isTruncated, case .datagram = path {
            forwarder.askOverStream(match, at: now)
            return
        }
        switch header.flags.responseCode {
        case .noError, .nxDomain, .yxDomain:
            let failure = keep(response, for: match.exchange, at: now)
            guard let failure else {
                forwarder.learnEDNS(from: match, at: now)
                forwarder.finish(match.exchange, at: now)
                return
            }
            settle(match, failure, at: now)
        case .formatError, .notImplemented, .badVersion:
            if hadEDNS {
                forwarder.askWithoutEDNS(match, at: now)
            } else {
                settle(match, .code(header.flags.responseCode), at: now)
            }
        default:
            settle(match, .code(header.flags.responseCode), at: now)
        }
    }

    /// An attempt came to nothing: the next upstream is asked, or all who wait are told.
    mutating func settle(
        _ match: AttemptID,
        _ failure: Exchange.Failure,
        at now: Instant
    ) {
        if forwarder.failed(match, failure, at: now) { giveUp(match.exchange, at: now) }
    }

    /// Tells that a path broke: ICMP unreachable on a socket, or a connection that failed or closed.
    public mutating func pathFailed(_ path: UpstreamPath, at now: Instant) {
        for exchange in forwarder.pathFailed(path, at: now) { giveUp(exchange, at: now) }
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

    /// Takes the next finished reply: its client, and how many octets stand in `reply`.
    ///
    /// To be drained after each batch of `receive`, `pathFailed` and `expire`. `reply` must have
    /// room for 65 535 octets.
    public mutating func nextReply(
        into reply: inout MutableSpan<UInt8>,
        at now: Instant
    ) -> (client: Client, count: Int)? {
        var question = InlineArray<264, UInt8>(repeating: 0)
        while true {
            var octets = question.mutableSpan
            guard let waiter = forwarder.waiters.nextReady(question: &octets) else { return nil }
            let asked = question.span.extracting(0..<waiter.query.questionSize)
            guard (try? target.read(from: asked, at: 0)) != nil else { continue }
            let disposition = respond(to: waiter, question: asked, at: now, into: &reply)
            if case .respond(let count) = disposition { return (waiter.client, count) }
        }
    }

    /// Rebuilds an upstream's answer and puts it into the cache; gives why it is no answer, if so.
    mutating func keep(
        _ response: Span<UInt8>,
        for exchange: Int,
        at now: Instant
    ) -> Exchange.Failure? {
        guard forwarder.copyName(of: exchange, to: &scratch) else { return .unusable }
        let key = forwarder.key(of: exchange)
        let start = Header.size + scratch.count + 4
        var end = start
        let description: CacheEntry.Description
        do throws(UpstreamAnswer.Rejection) {
            description = try upstreamAnswer.rebuild(
                response,
                name: scratch,
                key: key,
                settings: policy.settings,
                into: &message,
                end: &end
            )
        } catch {
            return error == .aliasLoop ? .aliasLoop : .unusable
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
            hash: hash
        )
    }

    /// Nobody gave an answer: keeps that, for a second (RFC 9520), and wakes all who wait.
    mutating func giveUp(_ exchange: Int, at now: Instant) {
        let (failure, upstream) = forwarder.failure(of: exchange)
        var description = CacheEntry.Description()
        description.flags = .isFailure
        description.code = .serverFailure
        description.lifetime = 1
        description.error = failure == .unreachable ? .networkError : .noReachableAuthority
        var reason = Explanation()
        reason.append(forwarder.upstreams[upstream].address.description)
        switch failure {
        case .silence: reason.append(" did not answer in time")
        case .unreachable: reason.append(" is unreachable")
        case .unusable: reason.append(" sent what is no answer")
        case .aliasLoop: reason.append(" sent an alias chain that is a loop")
        case .code(let code):
            reason.append(" answered with code ")
            reason.append(decimal: UInt64(code.rawValue))
        }
        if forwarder.upstreams.count > 1 { reason.append(", nor did others give an answer") }
        if forwarder.copyName(of: exchange, to: &scratch) {
            message.copy(reason.text, at: 0)
            let body = 0..<reason.text.count
            store(description, key: forwarder.key(of: exchange), body: body, at: now)
        }
        forwarder.finish(exchange, at: now)
    }
}
