// Questions on their way upstream: one exchange for all who ask the same, its attempts, and their
// timers. Decides what is sent where and when; sends nothing itself.
//
// This file has the life of an exchange from `wait` to `finish`; +Attempts whom it asks and when,
// +Messages what is sent and what a message that came answers.

import DNS

struct Forwarder: ~Copyable {
    var upstreams: [Policy.Upstream]
    var health: [UpstreamHealth]
    var exchanges: ExchangeTable
    var waiters = WaiterTable()
    var pending: PendingAttempts
    var wheel = TimerWheel()
    /// Attempts that have to be sent, from `sent` on.
    var outbox: [AttemptID] = []
    var sent = 0
    /// The socket that this batch's queries to an upstream leave from; -1: not drawn yet. One a
    /// batch, so that a batch leaves in one system call, from a port that nobody could foresee.
    var batchSockets: [Int]
    var random: RandomPool
    var queriesSinceCopy = 0
    var scratch = FoldedName()

    /// Messages that matched nothing that was asked.
    var mismatches: UInt64 = 0
    /// Attempts that were sent.
    var attemptsSent: UInt64 = 0
    /// Exchanges that were given up to make room for others.
    var shed: UInt64 = 0

    /// A stub gives up after five seconds, some after three: it is told before (SEMANTICS 6).
    static let longestWait: UInt64 = 2_500
    /// Another exchange is begun for one query at most this often: an alias chain that each time
    /// needs one more.
    static let mostExchanges: UInt8 = 8
    /// How long answers that nobody waits for any more still tell how long their upstream takes.
    static let lateAnswers: UInt64 = 1_500

    init(upstreams: [Policy.Upstream], random: consuming RandomPool) {
        self.upstreams = upstreams
        health = upstreams.map { _ in UpstreamHealth() }
        batchSockets = upstreams.map { _ in -1 }
        exchanges = ExchangeTable(seed: random.word())
        pending = PendingAttempts(upstreams: upstreams.count)
        self.random = random
        outbox.reserveCapacity(4096)
    }

    // MARK: Beginning and joining

    /// Lets a query wait for the answer to `name` under `key`: with those who ask the same, or in an
    /// exchange of its own. False where there is no room for one more.
    mutating func wait(
        for name: borrowing FoldedName,
        key: CacheKey,
        waiter: Waiter,
        question: Span<UInt8>,
        at now: Instant
    ) -> Bool {
        guard !waiters.isFull else { return false }
        let hash = exchanges.hash(of: name, key)
        let exchange =
            exchanges.find(name, key: key, hash: hash) ?? begin(name, key: key, hash: hash, at: now)
        waiters.append(waiter, question: question, to: &exchanges[exchange].waiters)
        return true
    }

    private mutating func begin(
        _ name: borrowing FoldedName,
        key: CacheKey,
        hash: UInt64,
        at now: Instant
    ) -> Int {
        if exchanges.isFull { shedOldest(at: now) }
        let giveUpAt = now.advanced(byMilliseconds: Forwarder.longestWait)
        let index = exchanges.insert(
            Exchange(key: key, hash: hash, startedAt: now, giveUpAt: giveUpAt, dueAt: giveUpAt),
            name: name
        )
        let first = bestUpstream(for: index)
        attempt(index, upstream: first, at: now)
        schedule(index, after: health[first].patience, at: now)
        copyToAnother(index, than: first, at: now)
        return index
    }

    /// A full table gives up the oldest exchange: those who wait for it are told so.
    private mutating func shedOldest(at now: Instant) {
        let oldest = Int(exchanges.oldest)
        settleAll(oldest)
        if exchanges[oldest].isFinished {
            releaseIfSettled(oldest)
        } else {
            shed &+= 1
            waiters.exhaust(exchanges[oldest].waiters)
            finish(oldest, at: now)
        }
    }

    // MARK: Finishing

    /// Nobody waits for the exchange any more: its waiters become ready, late answers may still come.
    mutating func finish(_ exchange: Int, at now: Instant) {
        waiters.wake(&exchanges[exchange].waiters)
        exchanges[exchange].isFinished = true
        exchanges.unlink(exchange)
        wheel.cancel(exchange)
        guard exchanges[exchange].hasPendingAttempts else {
            releaseIfSettled(exchange)
            return
        }
        exchanges[exchange].giveUpAt = now.advanced(byMilliseconds: Forwarder.lateAnswers)
        schedule(exchange, after: Forwarder.lateAnswers, at: now)
    }

    mutating func settleAll(_ exchange: Int) {
        for index in 0..<exchanges[exchange].attemptCount {
            pending.settle(AttemptID(exchange: exchange, index: index), in: &exchanges)
        }
    }

    mutating func releaseIfSettled(_ exchange: Int) {
        guard exchanges[exchange].isFinished, !exchanges[exchange].hasPendingAttempts else {
            return
        }
        wheel.cancel(exchange)
        exchanges.release(exchange)
    }

    // MARK: What an exchange is about

    /// Reads the name that an exchange asks for.
    func copyName(of exchange: Int, to name: inout FoldedName) -> Bool {
        (try? name.read(from: exchanges.name(of: exchange), at: 0)) != nil
    }

    func key(of exchange: Int) -> CacheKey { exchanges[exchange].key }

    func failure(of exchange: Int) -> (Exchange.Failure, upstream: Int) {
        (exchanges[exchange].failure, exchanges[exchange].failedUpstream)
    }
}
