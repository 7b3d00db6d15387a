// Whom an exchange asks, when it asks somebody else, and when it gives up.

import DNS

extension Forwarder {
    // MARK: Choosing

    /// Whom to ask first: of those that are not down, the fastest; the first, while nothing is known.
    func bestUpstream(for exchange: Int) -> Int {
        var best = 0
        var bestRank = (attempts: Int.max, cost: UInt64.max)
        for upstream in upstreams.indices {
            let asked = exchanges[exchange].attempts(at: upstream)
            let cost = health[upstream].cost
            if (asked, cost) < bestRank {
                best = upstream
                bestRank = (asked, cost)
            }
        }
        return best
    }

    /// Spends a copy of a query where it teaches something: on an upstream that may be back, and now
    /// and then on one that is not the first choice, so that its time is known.
    mutating func copyToAnother(_ exchange: Int, than first: Int, at now: Instant) {
        guard upstreams.count > 1 else { return }
        for upstream in upstreams.indices
        where upstream != first && health[upstream].takesProbe(at: now) {
            attempt(exchange, upstream: upstream, at: now)
            return
        }
        queriesSinceCopy &+= 1
        guard queriesSinceCopy >= 50 else { return }
        queriesSinceCopy = 0
        let other = (first + 1 + Int(random.below(UInt32(upstreams.count - 1)))) % upstreams.count
        if !health[other].isDown { attempt(exchange, upstream: other, at: now) }
    }

    /// Draws a path and an id for one more attempt, and puts it into the outbox.
    mutating func attempt(
        _ exchange: Int,
        upstream: Int,
        isStream: Bool = false,
        hasEDNS: Bool = true,
        at now: Instant
    ) {
        guard exchanges[exchange].attemptCount < Exchange.mostAttempts else { return }
        var socket = -1
        if !isStream {
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
        attempt.upstream = UInt8(truncatingIfNeeded: upstream)
        attempt.socket = Int16(truncatingIfNeeded: socket)
        attempt.id = id
        attempt.state = .waiting
        attempt.hasEDNS = hasEDNS && health[upstream].takesEDNS(at: now)
        attempt.sentAt = now
        exchanges[exchange].attempts[index] = attempt
        let number = AttemptID(exchange: exchange, index: index)
        pending.insert(number, in: &exchanges)
        outbox.append(number)
        attemptsSent &+= 1
    }

    // MARK: What became of an attempt

    /// Notes that a matched answer came; gives whether anybody still waits for it.
    mutating func answered(_ match: AttemptID, at now: Instant) -> Bool {
        let attempt = exchanges[match.exchange].attempts[match.index]
        health[Int(attempt.upstream)].answered(after: attempt.sentAt, at: now)
        pending.settle(match, in: &exchanges)
        if exchanges[match.exchange].isFinished {
            releaseIfSettled(match.exchange)
            return false
        }
        return true
    }

    /// Asks the same upstream again over its stream: the answer was truncated.
    mutating func askOverStream(_ match: AttemptID, at now: Instant) {
        let attempt = exchanges[match.exchange].attempts[match.index]
        self.attempt(match.exchange, upstream: Int(attempt.upstream), isStream: true, at: now)
        schedule(match.exchange, after: 250, at: now)
    }

    /// Asks the same upstream again without EDNS: it could not take it.
    mutating func askWithoutEDNS(_ match: AttemptID, at now: Instant) {
        let attempt = exchanges[match.exchange].attempts[match.index]
        let upstream = Int(attempt.upstream)
        self.attempt(
            match.exchange,
            upstream: upstream,
            isStream: attempt.socket < 0,
            hasEDNS: false,
            at: now
        )
        schedule(match.exchange, after: health[upstream].patience, at: now)
    }

    /// Whether the attempt was made with EDNS.
    func hadEDNS(_ match: AttemptID) -> Bool {
        exchanges[match.exchange].attempts[match.index].hasEDNS
    }

    /// An answer came without EDNS after one with it had failed: the upstream cannot take it.
    mutating func learnEDNS(from match: AttemptID, at now: Instant) {
        let attempt = exchanges[match.exchange].attempts[match.index]
        let upstream = Int(attempt.upstream)
        if !attempt.hasEDNS, health[upstream].takesEDNS(at: now) {
            health[upstream].learnedNoEDNS(at: now)
        }
    }

    /// Notes that an attempt came to nothing and asks the next upstream; gives whether all have been
    /// asked and none can answer any more.
    mutating func failed(
        _ match: AttemptID,
        _ failure: Exchange.Failure,
        at now: Instant
    ) -> Bool {
        let upstream = Int(exchanges[match.exchange].attempts[match.index].upstream)
        pending.settle(match, in: &exchanges)
        if exchanges[match.exchange].isFinished {
            releaseIfSettled(match.exchange)
            return false
        }
        exchanges[match.exchange].failure = failure
        exchanges[match.exchange].failedUpstream = upstream
        let next = bestUpstream(for: match.exchange)
        if exchanges[match.exchange].attempts(at: next) == 0 {
            attempt(match.exchange, upstream: next, at: now)
            schedule(match.exchange, after: health[next].patience, at: now)
            return false
        }
        return !exchanges[match.exchange].hasPendingAttempts
    }

    /// The path broke: all attempts on it have failed. Gives the exchanges that nobody can answer
    /// any more.
    mutating func pathFailed(_ path: UpstreamPath, at now: Instant) -> [Int] {
        if path.socket >= 0 { health[path.upstream].refused(at: now) }
        var exhausted: [Int] = []
        for match in pending.all(on: path, in: exchanges)
        where failed(match, .unreachable, at: now) {
            exhausted.append(match.exchange)
        }
        return exhausted
    }

    // MARK: Time

    var nextDeadline: Instant? { wheel.nextDeadline }

    mutating func schedule(_ exchange: Int, after milliseconds: UInt64, at now: Instant) {
        let due = min(now.advanced(byMilliseconds: milliseconds), exchanges[exchange].giveUpAt)
        exchanges[exchange].dueAt = due
        wheel.set(exchange, at: due, now: now)
    }

    /// Does the next thing that is due; gives an exchange whose time is over, or nil when there is
    /// nothing more to do now.
    mutating func expire(at now: Instant) -> Int? {
        while let exchange = wheel.takeDue(at: now) {
            if exchanges[exchange].dueAt > now {
                wheel.set(exchange, at: exchanges[exchange].dueAt, now: now)
                continue
            }
            missOverdue(exchange, at: now)
            if exchanges[exchange].isFinished {
                settleAll(exchange)
                releaseIfSettled(exchange)
                continue
            }
            if now >= exchanges[exchange].giveUpAt { return exchange }
            retry(exchange, at: now)
        }
        return nil
    }

    /// Counts attempts whose answer should have come by now.
    private mutating func missOverdue(_ exchange: Int, at now: Instant) {
        for index in 0..<exchanges[exchange].attemptCount
        where exchanges[exchange].attempts[index].state == .waiting {
            let attempt = exchanges[exchange].attempts[index]
            exchanges[exchange].attempts[index].state = .overdue
            exchanges[exchange].failedUpstream = Int(attempt.upstream)
            exchanges[exchange].failure = .silence
            // What a stream owes may be late for the upstream's TCP alone.
            if attempt.socket >= 0 {
                health[Int(attempt.upstream)].missed(attempt.sentAt, at: now)
            }
        }
    }

    /// One more attempt: at another upstream where there is one, else at the same again.
    private mutating func retry(_ exchange: Int, at now: Instant) {
        let count = exchanges[exchange].attemptCount
        let upstream = bestUpstream(for: exchange)
        attempt(exchange, upstream: upstream, at: now)
        // Each upstream gets its own patience once; after that the waits double.
        let rounds = max(0, count + 1 - upstreams.count)
        let patience = health[upstream].patience << UInt64(min(rounds, 5))
        schedule(exchange, after: patience, at: now)
    }
}
