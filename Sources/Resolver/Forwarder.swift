// Questions on their way upstream: one exchange for all who ask the same, its attempts, and their
// timers. Decides what is sent where and when; sends nothing itself.

import DNS

struct Forwarder: ~Copyable {
    private(set) var upstreams: [Policy.Upstream]
    private(set) var health: [UpstreamHealth]
    /// The socket that this batch's queries to an upstream leave from; -1: not drawn yet. One a
    /// batch, so that a batch leaves in one system call, from a port that nobody could foresee.
    private var batchSockets: [Int]
    private var random: RandomPool
    private let seed: UInt64

    private var exchanges: [Exchange] = []
    private var freeExchanges: [Int32] = []
    private var oldestExchange: Int32 = -1
    private var newestExchange: Int32 = -1
    /// Each exchange's question name, folded, 256 octets each.
    private var names: OctetStore
    private var waiters: [Waiter] = []
    private var freeWaiters: [Int32] = []
    /// Each waiter's question as it was asked, 264 octets each.
    private var questions: OctetStore
    /// Heads of lists of exchanges with equal hashes.
    private var questionBuckets: [Int32]
    /// Heads of lists of pending attempts: `idBuckets` of them for each path, by id.
    private var pendingBuckets: [Int32]
    /// How many attempts are pending on each socket of each upstream, and on its stream (last).
    private var pendingCounts: [UInt32]
    private var wheel = TimerWheel()
    /// Attempts that have to be sent, exchange * 8 + attempt, from `sent` on.
    private var outbox: [Int32] = []
    private var sent = 0
    /// Waiters whose answer can be made now, in a list.
    private var firstReady: Int32 = -1
    private var lastReady: Int32 = -1
    private var queriesSinceCopy = 0
    private var scratch = FoldedName()

    /// Messages that matched nothing that was asked.
    private(set) var mismatches: UInt64 = 0
    /// Attempts that were sent.
    private(set) var attemptsSent: UInt64 = 0
    /// Exchanges that were given up to make room for others.
    private(set) var shed: UInt64 = 0

    static let capacity = 16_384
    static let waiterCapacity = 32_768
    /// How many UDP sockets an upstream's pool has.
    static let socketsPerUpstream = 64
    /// A stub gives up after five seconds, some after three: it is told before (SEMANTICS 6).
    static let longestWait: UInt64 = 2_500
    /// Another exchange is begun for one query at most this often: an alias chain that each time
    /// needs one more.
    static let mostExchanges: UInt8 = 8
    private static let nameSize = 256
    private static let questionSize = 264
    private static let bucketCount = 32_768
    private static let idBuckets = 16

    init(upstreams: [Policy.Upstream], random: consuming RandomPool) {
        self.upstreams = upstreams
        health = upstreams.map { _ in UpstreamHealth() }
        batchSockets = upstreams.map { _ in -1 }
        seed = random.word()
        self.random = random
        names = OctetStore(count: Forwarder.capacity * Forwarder.nameSize)
        questions = OctetStore(count: Forwarder.waiterCapacity * Forwarder.questionSize)
        questionBuckets = Array(repeating: -1, count: Forwarder.bucketCount)
        let paths = upstreams.count * (Forwarder.socketsPerUpstream + 1)
        pendingBuckets = Array(repeating: -1, count: paths * Forwarder.idBuckets)
        pendingCounts = Array(repeating: 0, count: paths)
        exchanges.reserveCapacity(Forwarder.capacity)
        freeExchanges.reserveCapacity(Forwarder.capacity)
        waiters.reserveCapacity(Forwarder.waiterCapacity)
        freeWaiters.reserveCapacity(Forwarder.waiterCapacity)
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
        guard let index = addWaiter(waiter, question: question) else { return false }
        let hash = key.hash(name, seed: seed)
        let exchange =
            find(name, key: key, hash: hash) ?? begin(name, key: key, hash: hash, at: now)
        if exchanges[exchange].lastWaiter >= 0 {
            waiters[Int(exchanges[exchange].lastWaiter)].next = index
        } else {
            exchanges[exchange].firstWaiter = index
        }
        exchanges[exchange].lastWaiter = index
        return true
    }

    private func find(_ name: borrowing FoldedName, key: CacheKey, hash: UInt64) -> Int? {
        var index = questionBuckets[Int(hash & UInt64(Forwarder.bucketCount - 1))]
        while index >= 0 {
            let exchange = Int(index)
            if exchanges[exchange].hash == hash, exchanges[exchange].key.type == key.type,
                exchanges[exchange].key.class == key.class,
                exchanges[exchange].key.variant == key.variant,
                self.name(of: exchange).hasSameOctets(as: name.octets)
            {
                return exchange
            }
            index = exchanges[exchange].nextInBucket
        }
        return nil
    }

    private mutating func begin(
        _ name: borrowing FoldedName,
        key: CacheKey,
        hash: UInt64,
        at now: Instant
    ) -> Int {
        let index = takeExchange(at: now)
        let giveUpAt = now.advanced(byMilliseconds: Forwarder.longestWait)
        exchanges[index] = Exchange(
            key: key,
            hash: hash,
            nameSize: name.count,
            startedAt: now,
            giveUpAt: giveUpAt,
            dueAt: giveUpAt
        )
        var names = names.mutableSpan
        names.copy(name.octets, at: index * Forwarder.nameSize)
        appendToAges(index)
        let bucket = Int(hash & UInt64(Forwarder.bucketCount - 1))
        exchanges[index].nextInBucket = questionBuckets[bucket]
        questionBuckets[bucket] = Int32(truncatingIfNeeded: index)
        let first = bestUpstream(for: index)
        attempt(index, upstream: first, at: now)
        schedule(index, after: health[first].patience, at: now)
        copyToAnother(index, than: first, at: now)
        return index
    }

    /// A slot for an exchange. A full table sheds the oldest: those who wait for it are told so.
    private mutating func takeExchange(at now: Instant) -> Int {
        if let free = freeExchanges.popLast() { return Int(free) }
        if exchanges.count < Forwarder.capacity {
            exchanges.append(
                Exchange(
                    key: CacheKey(type: .any, class: .in, variant: .init(rawValue: 0)),
                    hash: 0,
                    nameSize: 0,
                    startedAt: now,
                    giveUpAt: now,
                    dueAt: now
                )
            )
            return exchanges.count - 1
        }
        let oldest = Int(oldestExchange)
        settleAll(oldest)
        if exchanges[oldest].isFinished {
            releaseIfSettled(oldest)
        } else {
            shed &+= 1
            var waiter = exchanges[oldest].firstWaiter
            while waiter >= 0 {
                waiters[Int(waiter)].exchanges = Forwarder.mostExchanges
                waiter = waiters[Int(waiter)].next
            }
            finish(oldest, at: now)
        }
        return Int(freeExchanges.removeLast())
    }

    private mutating func appendToAges(_ exchange: Int) {
        exchanges[exchange].older = newestExchange
        exchanges[exchange].newer = -1
        if newestExchange >= 0 {
            exchanges[Int(newestExchange)].newer = Int32(truncatingIfNeeded: exchange)
        } else {
            oldestExchange = Int32(truncatingIfNeeded: exchange)
        }
        newestExchange = Int32(truncatingIfNeeded: exchange)
    }

    private mutating func removeFromAges(_ exchange: Int) {
        let (older, newer) = (exchanges[exchange].older, exchanges[exchange].newer)
        if older >= 0 { exchanges[Int(older)].newer = newer } else { oldestExchange = newer }
        if newer >= 0 { exchanges[Int(newer)].older = older } else { newestExchange = older }
    }

    private mutating func addWaiter(_ waiter: Waiter, question: Span<UInt8>) -> Int32? {
        let index: Int32
        if let free = freeWaiters.popLast() {
            index = free
            waiters[Int(free)] = waiter
        } else if waiters.count < Forwarder.waiterCapacity {
            index = Int32(truncatingIfNeeded: waiters.count)
            waiters.append(waiter)
        } else {
            return nil
        }
        waiters[Int(index)].next = -1
        var questions = questions.mutableSpan
        questions.copy(question, at: Int(index) * Forwarder.questionSize)
        return index
    }

    // MARK: Attempts

    /// Whom to ask first: of those that are not down, the fastest; the first, while nothing is known.
    private func bestUpstream(for exchange: Int) -> Int {
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
    private mutating func copyToAnother(_ exchange: Int, than first: Int, at now: Instant) {
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
    private mutating func attempt(
        _ exchange: Int,
        upstream: Int,
        isStream: Bool = false,
        hasEDNS: Bool = true,
        at now: Instant
    ) {
        guard exchanges[exchange].attemptCount < 8 else { return }
        var socket = -1
        if !isStream {
            if batchSockets[upstream] < 0 {
                batchSockets[upstream] = Int(random.below(UInt32(Forwarder.socketsPerUpstream)))
            }
            socket = batchSockets[upstream]
        }
        var id = UInt16(truncatingIfNeeded: random.word())
        while pendingAttempt(upstream: upstream, socket: socket, id: id) != nil {
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
        let bucket = pendingBucket(upstream: upstream, socket: socket, id: id)
        attempt.nextInBucket = pendingBuckets[bucket]
        let number = Int32(truncatingIfNeeded: exchange * 8 + index)
        pendingBuckets[bucket] = number
        exchanges[exchange].attempts[index] = attempt
        pendingCounts[pathIndex(upstream: upstream, socket: socket)] += 1
        outbox.append(number)
        attemptsSent &+= 1
    }

    private func pendingBucket(upstream: Int, socket: Int, id: UInt16) -> Int {
        pathIndex(upstream: upstream, socket: socket) * Forwarder.idBuckets
            + (Int(id) & (Forwarder.idBuckets - 1))
    }

    private func pathIndex(upstream: Int, socket: Int) -> Int {
        let place = socket < 0 ? Forwarder.socketsPerUpstream : socket
        return upstream * (Forwarder.socketsPerUpstream + 1) + place
    }

    private func pendingAttempt(upstream: Int, socket: Int, id: UInt16) -> Int? {
        var number = pendingBuckets[pendingBucket(upstream: upstream, socket: socket, id: id)]
        while number >= 0 {
            let attempt = exchanges[Int(number) / 8].attempts[Int(number) & 7]
            if attempt.id == id, Int(attempt.socket) == socket, Int(attempt.upstream) == upstream {
                return Int(number)
            }
            number = attempt.nextInBucket
        }
        return nil
    }

    /// Takes an attempt out of the table of pending ids; its answer can no longer come.
    private mutating func settle(_ number: Int) {
        let attempt = exchanges[number / 8].attempts[number & 7]
        guard attempt.isPending else { return }
        let upstream = Int(attempt.upstream)
        let socket = Int(attempt.socket)
        let bucket = pendingBucket(upstream: upstream, socket: socket, id: attempt.id)
        if pendingBuckets[bucket] == number {
            pendingBuckets[bucket] = attempt.nextInBucket
        } else {
            var before = Int(pendingBuckets[bucket])
            while before >= 0 {
                let next = exchanges[before / 8].attempts[before & 7].nextInBucket
                if next == number {
                    exchanges[before / 8].attempts[before & 7].nextInBucket = attempt.nextInBucket
                    break
                }
                before = Int(next)
            }
        }
        exchanges[number / 8].attempts[number & 7].state = .done
        pendingCounts[pathIndex(upstream: upstream, socket: socket)] -= 1
    }

    /// How many attempts are pending on a path.
    func pendingCount(on path: UpstreamPath) -> Int {
        switch path {
        case .datagram(let upstream, let socket):
            Int(pendingCounts[pathIndex(upstream: upstream, socket: socket)])
        case .stream(let upstream):
            Int(pendingCounts[pathIndex(upstream: upstream, socket: -1)])
        }
    }

    // MARK: Sending

    /// The next attempt in the outbox that is still wanted, written to `message`.
    mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? {
        while sent < outbox.count {
            let number = Int(outbox[sent])
            sent += 1
            let exchange = number / 8
            let attempt = exchanges[exchange].attempts[number & 7]
            guard attempt.isPending else { continue }
            let count = write(attempt, of: exchange, to: &message)
            return UpstreamSend(path: attempt.path, count: count)
        }
        outbox.removeAll(keepingCapacity: true)
        sent = 0
        for upstream in batchSockets.indices { batchSockets[upstream] = -1 }
        return nil
    }

    private func write(
        _ attempt: Exchange.Attempt,
        of exchange: Int,
        to message: inout MutableSpan<UInt8>
    ) -> Int {
        let key = exchanges[exchange].key
        var flags = Flags(rawValue: 0)
        flags.wantsRecursion = true
        flags.isAuthenticData = true
        flags.isCheckingDisabled = key.variant.isCheckingDisabled
        let header = Header(
            id: attempt.id,
            flags: flags,
            questionCount: 1,
            additionalCount: attempt.hasEDNS ? 1 : 0
        )
        header.write(to: &message)
        let name = name(of: exchange)
        message.copy(name, at: Header.size)
        var end = Header.size + name.count
        message.store(key.type.rawValue, at: end)
        message.store(key.class.rawValue, at: end + 2)
        end += 4
        guard attempt.hasEDNS else { return end }
        message[end] = 0
        message.store(RecordType.opt.rawValue, at: end + 1)
        message.store(UInt16(Query.largestDatagram), at: end + 3)
        message.store(key.variant.wantsDNSSEC ? 0x8000 : 0 as UInt32, at: end + 5)
        message.store(0 as UInt16, at: end + 9)
        return end + EDNS.emptySize
    }

    // MARK: Receiving

    /// A response that answers an attempt.
    struct Match {
        let exchange: Int
        let attempt: Int
    }

    /// The attempt that a message answers: path, id and the whole question agree. Else nil.
    mutating func match(_ message: Span<UInt8>, over path: UpstreamPath) -> Match? {
        guard let header = Header(parsing: message), header.flags.isResponse,
            header.flags.opcode == .query
        else { return mismatch() }
        let number: Int?
        switch path {
        case .datagram(let upstream, let socket):
            number = pendingAttempt(upstream: upstream, socket: socket, id: header.id)
        case .stream(let upstream):
            number = pendingAttempt(upstream: upstream, socket: -1, id: header.id)
        }
        guard let number else { return mismatch() }
        let exchange = number / 8
        // Servers that cannot read a query at all may leave its question out (RFC 1035, 4.1.1).
        if header.questionCount == 0, header.flags.responseCode == .formatError {
            return Match(exchange: exchange, attempt: number & 7)
        }
        let key = exchanges[exchange].key
        guard header.questionCount == 1,
            let end = try? scratch.read(from: message, at: Header.size),
            end + 4 <= message.count, message.uint16(at: end) == key.type.rawValue,
            message.uint16(at: end + 2) == key.class.rawValue,
            scratch.octets.hasSameOctets(as: name(of: exchange))
        else { return mismatch() }
        return Match(exchange: exchange, attempt: number & 7)
    }

    private mutating func mismatch() -> Match? {
        mismatches &+= 1
        return nil
    }

    /// Notes that a matched answer came; gives whether anybody still waits for it.
    mutating func answered(_ match: Match, at now: Instant) -> Bool {
        let attempt = exchanges[match.exchange].attempts[match.attempt]
        health[Int(attempt.upstream)].answered(after: attempt.sentAt, at: now)
        settle(match.exchange * 8 + match.attempt)
        if exchanges[match.exchange].isFinished {
            releaseIfSettled(match.exchange)
            return false
        }
        return true
    }

    /// Asks the same upstream again over its stream: the answer was truncated.
    mutating func askOverStream(_ match: Match, at now: Instant) {
        let attempt = exchanges[match.exchange].attempts[match.attempt]
        self.attempt(match.exchange, upstream: Int(attempt.upstream), isStream: true, at: now)
        schedule(match.exchange, after: 250, at: now)
    }

    /// Asks the same upstream again without EDNS: it could not take it.
    mutating func askWithoutEDNS(_ match: Match, at now: Instant) {
        let attempt = exchanges[match.exchange].attempts[match.attempt]
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
    func hadEDNS(_ match: Match) -> Bool {
        exchanges[match.exchange].attempts[match.attempt].hasEDNS
    }

    /// An answer came without EDNS after one with it had failed: the upstream cannot take it.
    mutating func learnEDNS(from match: Match, at now: Instant) {
        let attempt = exchanges[match.exchange].attempts[match.attempt]
        let upstream = Int(attempt.upstream)
        if !attempt.hasEDNS, health[upstream].takesEDNS(at: now) {
            health[upstream].learnedNoEDNS(at: now)
        }
    }

    /// Notes that an attempt came to nothing and asks the next upstream; gives whether all have been
    /// asked and none can answer any more.
    mutating func failed(_ match: Match, _ failure: Exchange.Failure, at now: Instant) -> Bool {
        let upstream = Int(exchanges[match.exchange].attempts[match.attempt].upstream)
        settle(match.exchange * 8 + match.attempt)
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
        let upstream: Int
        let socket: Int
        switch path {
        case .datagram(let number, let index): (upstream, socket) = (number, index)
        case .stream(let number): (upstream, socket) = (number, -1)
        }
        if socket >= 0 { health[upstream].refused(at: now) }
        var exhausted: [Int] = []
        let first = pathIndex(upstream: upstream, socket: socket) * Forwarder.idBuckets
        for bucket in first..<(first + Forwarder.idBuckets) {
            var number = Int(pendingBuckets[bucket])
            while number >= 0 {
                let match = Match(exchange: number / 8, attempt: number & 7)
                number = Int(exchanges[match.exchange].attempts[match.attempt].nextInBucket)
                if failed(match, .unreachable, at: now) { exhausted.append(match.exchange) }
            }
        }
        return exhausted
    }

    // MARK: Time

    var nextDeadline: Instant? { wheel.nextDeadline }

    private mutating func schedule(_ exchange: Int, after milliseconds: UInt64, at now: Instant) {
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

    // MARK: Finishing

    /// Nobody waits for the exchange any more: its waiters become ready, late answers may still come.
    mutating func finish(_ exchange: Int, at now: Instant) {
        if exchanges[exchange].firstWaiter >= 0 {
            if lastReady >= 0 {
                waiters[Int(lastReady)].next = exchanges[exchange].firstWaiter
            } else {
                firstReady = exchanges[exchange].firstWaiter
            }
            lastReady = exchanges[exchange].lastWaiter
        }
        exchanges[exchange].firstWaiter = -1
        exchanges[exchange].lastWaiter = -1
        exchanges[exchange].isFinished = true
        unlink(exchange)
        wheel.cancel(exchange)
        guard exchanges[exchange].hasPendingAttempts else {
            releaseIfSettled(exchange)
            return
        }
        exchanges[exchange].giveUpAt = now.advanced(byMilliseconds: 1_500)
        schedule(exchange, after: 1_500, at: now)
    }

    private mutating func unlink(_ exchange: Int) {
        let bucket = Int(exchanges[exchange].hash & UInt64(Forwarder.bucketCount - 1))
        if questionBuckets[bucket] == exchange {
            questionBuckets[bucket] = exchanges[exchange].nextInBucket
            return
        }
        var before = Int(questionBuckets[bucket])
        while before >= 0 {
            if exchanges[before].nextInBucket == exchange {
                exchanges[before].nextInBucket = exchanges[exchange].nextInBucket
                return
            }
            before = Int(exchanges[before].nextInBucket)
        }
    }

    private mutating func settleAll(_ exchange: Int) {
        for index in 0..<exchanges[exchange].attemptCount { settle(exchange * 8 + index) }
    }

    private mutating func releaseIfSettled(_ exchange: Int) {
        guard exchanges[exchange].isFinished, !exchanges[exchange].hasPendingAttempts else {
            return
        }
        wheel.cancel(exchange)
        exchanges[exchange].attemptCount = 0
        removeFromAges(exchange)
        freeExchanges.append(Int32(truncatingIfNeeded: exchange))
    }

    /// Takes the next waiter whose answer can be made; its question is copied to `question`.
    mutating func nextReady(question: inout MutableSpan<UInt8>) -> Waiter? {
        guard firstReady >= 0 else { return nil }
        let index = Int(firstReady)
        let waiter = waiters[index]
        firstReady = waiter.next
        if firstReady < 0 { lastReady = -1 }
        let start = index * Forwarder.questionSize
        question.copy(
            questions.span.extracting(start..<(start + waiter.query.questionSize)),
            at: 0
        )
        freeWaiters.append(Int32(truncatingIfNeeded: index))
        return waiter
    }

    // MARK: What an exchange is about

    /// Reads the name that an exchange asks for.
    func copyName(of exchange: Int, to name: inout FoldedName) -> Bool {
        (try? name.read(from: self.name(of: exchange), at: 0)) != nil
    }

    @_lifetime(borrow self)
    private func name(of exchange: Int) -> Span<UInt8> {
        let start = exchange * Forwarder.nameSize
        return names.span.extracting(start..<(start + exchanges[exchange].nameSize))
    }

    func key(of exchange: Int) -> CacheKey { exchanges[exchange].key }

    func failure(of exchange: Int) -> (Exchange.Failure, upstream: Int) {
        (exchanges[exchange].failure, exchanges[exchange].failedUpstream)
    }
}
