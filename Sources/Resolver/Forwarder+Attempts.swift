// Whom an exchange asks, with what, and when it asks somebody else.

import DNS

extension Forwarder {
    /// Asks the first upstream, or all of them.
    mutating func start(_ exchange: Int, at now: Instant) {
        guard let first = nextUpstream(for: exchange) else {
            schedule(exchange, after: 0, at: now)
            return
        }
        attempt(exchange, upstream: first, at: now)
        schedule(exchange, after: health[first].patience, at: now)
        if groups[exchanges[exchange].group].order == .race {
            attemptAll(exchange, at: now)
        } else {
            copyToAnother(exchange, than: first, at: now)
        }
    }

    private mutating func attemptAll(_ exchange: Int, at now: Instant) {
        let group = exchanges[exchange].group
        for index in groups[group].members.indices {
            let upstream = groups[group].members[index]
            if exchanges.attempts(of: exchange, at: upstream) == 0,
                !health[upstream].isOut || health[upstream].takesProbe(at: now)
            {
                attempt(exchange, upstream: upstream, at: now)
            }
        }
    }

    /// Whom to ask next: of those that were asked least the ones that are well, of those the first,
    /// or the fastest. Nil in a group that has no members left.
    // Inlined: a call that borrows the forwarder copies it whole, as the compiler is now.
    @inline(__always)
    func nextUpstream(for exchange: Int) -> Int? {
        let group = exchanges[exchange].group
        guard groups.indices.contains(group) else { return nil }
        let isSequential = groups[group].order == .sequential
        var best: Int?
        var bestRank = (attempts: Int.max, isOut: 2, cost: UInt64.max)
        for (place, upstream) in groups[group].members.enumerated() {
            let rank = (
                attempts: exchanges.attempts(of: exchange, at: upstream),
                isOut: health[upstream].isOut ? 1 : 0,
                cost: isSequential ? UInt64(place) : UInt64(health[upstream].smoothedRTT)
            )
            if rank < bestRank {
                best = upstream
                bestRank = rank
            }
        }
        return best
    }

    /// Spends a copy of a query where it teaches something: on an upstream that may be back, and now
    /// and then on one that is not the first choice, so that its time is known. Nobody's only query
    /// is spent on finding out.
    private mutating func copyToAnother(_ exchange: Int, than first: Int, at now: Instant) {
        let group = exchanges[exchange].group
        let count = groups[group].members.count
        guard count > 1 else { return }
        for index in 0..<count {
            let upstream = groups[group].members[index]
            if upstream != first, health[upstream].takesProbe(at: now) {
                attempt(exchange, upstream: upstream, at: now)
                return
            }
        }
        guard groups[group].order == .fastest else { return }
        queriesSinceCopy &+= 1
        guard queriesSinceCopy >= 50 else { return }
        queriesSinceCopy = 0
        let other = groups[group].members[Int(random.below(UInt32(count)))]
        if other != first, !health[other].isOut { attempt(exchange, upstream: other, at: now) }
    }

    /// Draws a path and an id for one more attempt, and puts it into the outbox.
    mutating func attempt(
        _ exchange: Int,
        upstream: Int,
        isStream: Bool = false,
        level: UpstreamDialect.Level = .full,
        cause: Exchange.Attempt.Cause = .ordinary,
        at now: Instant
    ) {
        guard exchanges[exchange].attemptCount < Exchange.mostAttempts else { return }
        let isEncrypted = isEncrypted[upstream]
        var socket = -1
        if !isStream, !isEncrypted {
            if batchSockets[upstream] < 0 {
                batchSockets[upstream] = Int(
                    random.below(UInt32(PendingAttempts.socketsPerUpstream))
                )
            }
            socket = batchSockets[upstream]
        }
        var id = UInt16(truncatingIfNeeded: random.word())
        while pending.find(upstream: upstream, socket: socket, id: id, in: exchanges) != nil {
            id = UInt16(truncatingIfNeeded: random.word())
        }
        let index = exchanges[exchange].attemptCount
        exchanges[exchange].attemptCount = index + 1
        var attempt = Exchange.Attempt()
        attempt.upstream = UInt16(truncatingIfNeeded: upstream)
        attempt.socket = Int16(truncatingIfNeeded: socket)
        attempt.id = id
        attempt.state = .waiting
        attempt.level = max(level, dialects[upstream].level(at: now))
        attempt.cause = cause
        if !isEncrypted {
            attempt.hasCookie = attempt.level == .full && dialects[upstream].sendsCookie(at: now)
            if dialects[upstream].mixesCase(at: now) { attempt.capitals = random.word() }
        }
        attempt.sentAt = now
        exchanges[exchange, attempt: index] = attempt
        let number = AttemptID(exchange: exchange, index: index)
        pending.insert(number, in: &exchanges)
        outbox.append(number)
        counts.attempts &+= 1
        health[upstream].counts.queries &+= 1
        if index > 0 { health[upstream].counts.hedges &+= 1 }
    }

    // MARK: Time

    /// Counts attempts whose answer should have come by now.
    mutating func missOverdue(_ exchange: Int, at now: Instant) {
        for index in 0..<exchanges[exchange].attemptCount
        where exchanges[exchange, attempt: index].state == .waiting {
            let attempt = exchanges[exchange, attempt: index]
            exchanges[exchange, attempt: index].state = .overdue
            exchanges[exchange].failedUpstream = Int(attempt.upstream)
            exchanges[exchange].failure = .silence
            // What a stream owes may be late for the upstream's TCP alone.
            if attempt.isStream, !isEncrypted[Int(attempt.upstream)] {
                health[Int(attempt.upstream)].streamFailed(at: now)
            } else {
                health[Int(attempt.upstream)].missed(attempt.sentAt, at: now)
            }
        }
    }

    /// Four attempts find an answer through a loss of one in ten as good as always, and do not make
    /// a storm of a name that nobody answers. While nothing answers at all, one more now and then
    /// finds the moment when that is over.
    private static let attemptsOfOneName = 4
    private static let outageInterval: UInt64 = 500

    /// One more attempt: at another upstream where there is one, else at the same again.
    mutating func retry(_ exchange: Int, at now: Instant) {
        let count = exchanges[exchange].attemptCount
        let group = exchanges[exchange].group
        let isOutage = isDown(group: group)
        guard count < (isOutage ? Exchange.mostAttempts : Forwarder.attemptsOfOneName),
            let upstream = nextUpstream(for: exchange)
        else {
            schedule(exchange, after: Forwarder.longestWait, at: now)
            return
        }
        guard budget.spend(at: now) else {
            schedule(exchange, after: Forwarder.outageInterval, at: now)
            return
        }
        let isSilent =
            exchanges.attempts(of: exchange, at: upstream) > 0
            && dialects[upstream].lastEDNSAnswerAt < exchanges[exchange].startedAt
        attempt(
            exchange,
            upstream: upstream,
            isStream: exchanges[exchange].isTruncated,
            level: isSilent ? .none : .full,
            cause: isSilent ? .silence : .ordinary,
            at: now
        )
        // Each upstream gets its own patience once; after that the waits double, and after the last
        // of several twice of it: both may just take longer than they did, and asked again at once
        // neither would be sooner.
        let members = groups[group].members.count
        let rounds = max(count + 1 - members, members > 1 && count + 1 == members ? 1 : 0)
        let patience = health[upstream].patience << UInt64(min(rounds, 5))
        schedule(
            exchange,
            after: count >= Forwarder.attemptsOfOneName ? Forwarder.outageInterval : patience,
            at: now
        )
    }
}
