// What becomes of an attempt: it is answered, doubted, complained about, fails or breaks.

import DNS

extension Forwarder {
    /// Whether a response that matches is to be believed.
    enum Credibility {
        case genuine
        /// It matches but for what the upstream is known to send back: the letters' case, or our
        /// cookie. Whoever sent it, the answer over a stream settles it.
        case doubtful
        /// Somebody who cannot know our cookie sent it.
        case forged
    }

    /// Judges a response by its letters' case and its cookie, and learns from both.
    mutating func judge(
        _ match: Match,
        _ options: ResponseOptions,
        of message: Span<UInt8>,
        at now: Instant
    ) -> Credibility {
        let attempt = exchanges[attempt: match.attempt]
        let upstream = Int(attempt.upstream)
        if attempt.capitals != 0, match.hasQuestion {
            if match.isExact {
                dialects[upstream].echoedCase()
            } else if attempt.isStream || !dialects[upstream].reliesOnCase
                || !dialects[upstream].isDoubtful()
            {
                dialects[upstream].alteredCase(at: now)
            } else {
                return .doubtful
            }
        }
        guard attempt.hasCookie else { return .genuine }
        if options.cookie.count >= 8 {
            let start = options.cookie.lowerBound
            guard message.word(at: start) == dialects[upstream].clientCookie else {
                return .forged
            }
            dialects[upstream].learnCookie(
                message,
                serverPart: (start + 8)..<options.cookie.upperBound
            )
        } else if options.hasEDNS, dialects[upstream].reliesOnCookies {
            guard attempt.isStream || !dialects[upstream].isDoubtful() else { return .doubtful }
            dialects[upstream].lacksCookie(at: now)
        }
        return .genuine
    }

    /// A doubtful answer came: the question is settled over a stream, while the wait goes on for a
    /// datagram that is as it should be.
    mutating func doubt(_ match: AttemptID, at now: Instant) {
        counts.doubtful &+= 1
        let attempt = exchanges[attempt: match]
        health[Int(attempt.upstream)].heard(after: attempt.sentAt, at: now)
        askOverStream(match, at: now)
    }

    /// Notes that a matched message came; gives whether anybody still waits for it.
    mutating func heard(_ match: AttemptID, at now: Instant) -> Bool {
        let attempt = exchanges[attempt: match]
        let upstream = Int(attempt.upstream)
        if attempt.isStream, !isEncrypted[upstream] {
            health[upstream].streamAnswered()
        } else {
            health[upstream].heard(after: attempt.sentAt, at: now)
        }
        pending.settle(match, in: &exchanges)
        if exchanges[match.exchange].isFinished {
            releaseIfSettled(match.exchange)
            return false
        }
        return true
    }

    /// The exchange has its answer: notes who gave it at what level, and who could not.
    mutating func answered(_ match: AttemptID, hasEDNS: Bool, at now: Instant) {
        let attempt = exchanges[attempt: match]
        let upstream = Int(attempt.upstream)
        health[upstream].answered()
        if attempt.level < .none, hasEDNS { dialects[upstream].answeredWithEDNS(at: now) }
        switch attempt.cause {
        case .ordinary: break
        case .complaint: dialects[upstream].settled(on: attempt.level, at: now)
        case .silence: dialects[upstream].answeredAfterSilence(at: now)
        }
        for index in 0..<exchanges[match.exchange].attemptCount
        where exchanges[match.exchange, attempt: index].state == .failed {
            let other = Int(exchanges[match.exchange, attempt: index].upstream)
            if other != upstream { health[other].failed(at: now) }
        }
        finish(match.exchange, at: now)
    }

    /// Asks over a stream, because the answer does not fit into a datagram or cannot be believed:
    /// the same upstream, or another where its streams have been failing.
    mutating func askOverStream(_ match: AttemptID, at now: Instant) {
        let exchange = match.exchange
        guard !exchanges[exchange].isFinished else { return }
        var upstream = Int(exchanges[exchange, attempt: match.index].upstream)
        if !health[upstream].takesStream(at: now),
            groups.indices.contains(exchanges[exchange].group)
        {
            for other in groups[exchanges[exchange].group].members
            where health[other].takesStream(at: now) && !health[other].isOut {
                upstream = other
                break
            }
        }
        guard exchanges.streamAttempts(of: exchange, at: upstream) == 0 else { return }
        attempt(exchange, upstream: upstream, isStream: true, at: now)
        // Two round trips, and what a stream that does not come up may cost.
        schedule(exchange, after: min(max(250, health[upstream].patience * 2), 800), at: now)
    }

    /// Asks the same upstream again, for it did not like what it was sent; with less, where `level`
    /// says so. Gives false where it has been asked so already.
    mutating func askAgain(
        _ match: AttemptID,
        level: UpstreamDialect.Level,
        isStream: Bool,
        at now: Instant
    ) -> Bool {
        let attempt = exchanges[attempt: match]
        let upstream = Int(attempt.upstream)
        guard exchanges.attempts(of: match.exchange, at: upstream) < 4 else { return false }
        self.attempt(
            match.exchange,
            upstream: upstream,
            isStream: isStream,
            level: level,
            cause: .complaint,
            at: now
        )
        schedule(match.exchange, after: health[upstream].patience, at: now)
        return true
    }

    /// Notes that an attempt came to nothing and asks the next upstream; gives whether all have been
    /// asked and none can answer any more.
    mutating func failed(
        _ match: AttemptID,
        _ failure: Exchange.Failure,
        at now: Instant
    ) -> Bool {
        let exchange = match.exchange
        let attempt = exchanges[exchange, attempt: match.index]
        pending.settle(match, in: &exchanges)
        if exchanges[exchange].isFinished {
            releaseIfSettled(exchange)
            return false
        }
        if failure != .unreachable { exchanges[exchange, attempt: match.index].state = .failed }
        exchanges[exchange].failure = failure
        exchanges[exchange].failedUpstream = Int(attempt.upstream)
        if let next = nextUpstream(for: exchange), exchanges.attempts(of: exchange, at: next) == 0 {
            self.attempt(
                exchange,
                upstream: next,
                isStream: exchanges[exchange].isTruncated,
                at: now
            )
            schedule(exchange, after: health[next].patience, at: now)
            return false
        }
        return !exchanges.hasPendingAttempts(exchange)
    }

    /// A path broke: all attempts on it have failed. Gives the exchanges that nobody can answer any
    /// more.
    mutating func broke(_ path: UpstreamPath, _ failure: PathFailure, at now: Instant) -> [Int] {
        let lost = pending.all(on: path, in: exchanges)
        guard upstreams.indices.contains(path.upstream) else { return [] }
        if path.socket >= 0 || isEncrypted[path.upstream] && failure == .unreachable {
            health[path.upstream].refused(at: now)
        } else if failure == .unreachable, !lost.isEmpty {
            health[path.upstream].streamFailed(at: now)
        }
        var exhausted: [Int] = []
        for match in lost {
            if failure == .ended, path.socket < 0,
                exchanges.streamAttempts(of: match.exchange, at: path.upstream) == 1,
                !exchanges[match.exchange].isFinished
            {
                pending.settle(match, in: &exchanges)
                attempt(match.exchange, upstream: path.upstream, isStream: true, at: now)
                continue
            }
            if failed(match, .unreachable, at: now) { exhausted.append(match.exchange) }
        }
        return exhausted
    }
}
