// Questions on their way upstream: one exchange for all who ask the same, its attempts, and their
// timers. Decides what is sent where and when; sends nothing itself.
//
// This file has the life of an exchange from `wait` to `finish`. +Upstreams: who there is to ask;
// +Attempts: whom an exchange asks; +Outcomes: what becomes of it; +Messages: the octets.

import DNS

struct Forwarder: ~Copyable {
    /// All upstreams that are asked, or were until the last reload and may still answer; nil: free.
    /// An upstream keeps its number, so that a reload loses nothing that is in flight.
    var upstreams: [Policy.Upstream?] = []
    var health: [UpstreamHealth] = []
    /// What clients are told an upstream is called: text that is made once.
    var labels: [String] = []
    /// Why an upstream could not be reached the last time, where more is known than that.
    var troubles: [String?] = []
    var dialects: [UpstreamDialect] = []
    /// Which upstreams are asked over TLS: streams alone, and no forger can put a word in.
    var isEncrypted: [Bool] = []
    /// The groups of the policy, their members as numbers of upstreams.
    var groups: [Group] = []
    var exchanges: ExchangeTable
    var waiters = WaiterTable()
    var pending = PendingAttempts()
    var wheel = TimerWheel()
    /// Attempts that have to be sent, from `sent` on.
    var outbox: [AttemptID] = []
    var sent = 0
    /// The socket that this batch's queries to an upstream leave from; -1: not drawn yet. One a
    /// batch, so that a batch leaves in one system call, from a port that nobody could foresee.
    var batchSockets: [Int] = []
    var random: RandomPool
    var queriesSinceCopy = 0
    var budget = RetryBudget()
    var scratch = FoldedName()
    var counts = Counts()

    /// What has been done.
    struct Counts {
        /// Attempts that were sent.
        var attempts: UInt64 = 0
        /// Messages that matched nothing that was asked.
        var mismatches: UInt64 = 0
        /// Messages that matched but for the letters' case or the cookie.
        var doubtful: UInt64 = 0
        /// Exchanges that were given up to make room for others.
        var shed: UInt64 = 0
        /// Queries that were ours, come back to us.
        var loops: UInt64 = 0
    }

    struct Group {
        var members: [Int]
        var order: Policy.UpstreamGroup.Order
        var partition: UInt64
    }

    /// A stub gives up after five seconds, some after three: it is told before (SEMANTICS 6).
    static let longestWait: UInt64 = 2_500
    /// When those who wait are served what is past its TTL, where nobody knows that upstreams are
    /// down: a person does not notice it yet (RFC 8767, 5 allows 1.8 s).
    static let freshWait: UInt64 = 400
    /// Another exchange is begun for one query at most this often: an alias chain that each time
    /// needs one more.
    static let mostExchanges: UInt8 = 8
    /// How long answers that nobody waits for any more still tell how long their upstream takes.
    static let lateAnswers: UInt64 = 1_500

    init(random: consuming RandomPool) {
        var random = random
        exchanges = ExchangeTable(seed: random.word())
        self.random = random
        outbox.reserveCapacity(4096)
    }

    // MARK: Beginning and joining

    /// A question that has to go upstream, beside its name.
    struct Question {
        var key: CacheKey
        var group: Int
        var subnet: ClientSubnet?
        /// Something past its TTL is at hand.
        var hasStale = false
    }

    /// What became of a query that was to wait.
    enum Joining: Equatable {
        case waits
        /// There is no room for one more.
        case full
        /// The query is one of ours: an upstream sends our queries back to us.
        case loop
    }

    /// Lets a query wait for the answer to a question: with those who ask the same, or in an
    /// exchange of its own.
    mutating func wait(
        for name: borrowing FoldedName,
        _ asked: Question,
        waiter: Waiter,
        question: Span<UInt8>,
        at now: Instant
    ) -> Joining {
        let hash = exchanges.hash(of: name, asked.key)
        let found = exchanges.find(name, key: asked.key, hash: hash)
        if let found, isOurs(question, id: waiter.query.id, exchange: found) {
            counts.loops &+= 1
            return .loop
        }
        guard !waiters.isFull else {
            shedOldest(at: now)
            return .full
        }
        let exchange = found ?? begin(name, asked, hash: hash, at: now)
        waiters.append(waiter, question: question, to: &exchanges[exchange].waiters)
        return .waits
    }

    /// Fetches an answer that nobody waits for yet, unless it is on its way.
    mutating func refresh(_ name: borrowing FoldedName, _ asked: Question, at now: Instant) {
        let hash = exchanges.hash(of: name, asked.key)
        guard exchanges.find(name, key: asked.key, hash: hash) == nil, !exchanges.isFull else {
            return
        }
        _ = begin(name, asked, hash: hash, at: now)
    }

    /// Whether to wait for an answer is known to be in vain, or has been waited for long enough.
    func isHopeless(
        _ name: borrowing FoldedName,
        _ asked: Question,
        at now: Instant
    ) -> Bool {
        if isDown(group: asked.group) { return true }
        let hash = exchanges.hash(of: name, asked.key)
        guard let found = exchanges.find(name, key: asked.key, hash: hash) else { return false }
        return now >= exchanges[found].startedAt.advanced(byMilliseconds: Forwarder.freshWait)
    }

    private mutating func begin(
        _ name: borrowing FoldedName,
        _ asked: Question,
        hash: UInt64,
        at now: Instant
    ) -> Int {
        if exchanges.isFull { shedOldest(at: now) }
        let index = exchanges.insert(asked.key, hash: hash, name: name, at: now)
        exchanges[index].group = asked.group
        exchanges[index].subnet = asked.subnet
        exchanges[index].giveUpAt = now.advanced(byMilliseconds: Forwarder.longestWait)
        if asked.hasStale {
            exchanges[index].staleAt = now.advanced(byMilliseconds: Forwarder.freshWait)
        }
        budget.earn()
        start(index, at: now)
        return index
    }

    /// A full table gives up the oldest exchange: those who wait for it are told so.
    private mutating func shedOldest(at now: Instant) {
        guard exchanges.oldest >= 0 else { return }
        let oldest = Int(exchanges.oldest)
        settleAll(oldest)
        if exchanges[oldest].isFinished {
            releaseIfSettled(oldest)
        } else {
            counts.shed &+= 1
            waiters.exhaust(exchanges[oldest].waiters)
            finish(oldest, acceptingStale: true, at: now)
        }
    }

    // MARK: Finishing

    /// Nobody waits for the exchange any more: its waiters become ready, late answers may still come.
    mutating func finish(_ exchange: Int, acceptingStale: Bool = false, at now: Instant) {
        waiters.wake(&exchanges[exchange].waiters, acceptingStale: acceptingStale)
        exchanges[exchange].isFinished = true
        exchanges[exchange].staleAt = nil
        exchanges.unlink(exchange)
        wheel.cancel(exchange)
        guard exchanges.hasPendingAttempts(exchange) else {
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
        guard exchanges[exchange].isFinished, !exchanges.hasPendingAttempts(exchange) else {
            return
        }
        wheel.cancel(exchange)
        exchanges.release(exchange)
    }

    /// Reads the name that an exchange asks for.
    func copyName(of exchange: Int, to name: inout FoldedName) -> Bool {
        (try? name.read(from: exchanges.name(of: exchange), at: 0)) != nil
    }

    // MARK: Time

    var nextDeadline: Instant? { wheel.nextDeadline }

    mutating func schedule(_ exchange: Int, after milliseconds: UInt64, at now: Instant) {
        exchanges[exchange].dueAt =
            min(now.advanced(byMilliseconds: milliseconds), exchanges[exchange].giveUpAt)
        setTimer(exchange, at: now)
    }

    private mutating func setTimer(_ exchange: Int, at now: Instant) {
        var due = exchanges[exchange].dueAt
        if let staleAt = exchanges[exchange].staleAt { due = min(due, staleAt) }
        wheel.set(exchange, at: due, now: now)
    }

    /// Does the next thing that is due; gives an exchange whose time is over, or nil when there is
    /// nothing more to do now.
    mutating func expire(at now: Instant) -> Int? {
        while let exchange = wheel.takeDue(at: now) {
            if let staleAt = exchanges[exchange].staleAt, staleAt <= now {
                exchanges[exchange].staleAt = nil
                waiters.wake(&exchanges[exchange].waiters, acceptingStale: true)
            }
            if exchanges[exchange].dueAt > now {
                setTimer(exchange, at: now)
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
}
