public import Platform
public import Resolver
import Synchronization

/// A running DNS server: one worker on one thread for each set of sockets.
///
/// It serves from the moment it is made: to be ready is to have one. `adopt`, `statistics` and
/// `stop` may be called from any thread.
public final class Server: Sendable {
    /// The addresses that are served, over UDP and TCP.
    public let addresses: [SocketAddress]

    /// The queries that workers note for a log; see `logQueries`.
    public let queryFeed: QueryFeed

    /// Signalled when `takeReachedLimits` has something.
    public let limitFeed: LimitFeed

    private let clients: ClientTable
    private let seats: [Seat]
    private let exchanges: [QueryExchange]
    private let threads: Mutex<FixedArray<Thread?>>
    private let current: Mutex<Policy>

    /// Starts to serve `sockets` under `policy`, with as many workers as the sockets were bound for.
    ///
    /// Signals that are to be read from a `SignalDescriptor` must be blocked before. Throws when
    /// the kernel has no thread or descriptor left; then nothing is served.
    public init(
        serving sockets: consuming ListeningSockets,
        under policy: Policy,
        cache: Cache,
        settings: Settings = Settings()
    ) throws(Errno) {
        var sockets = sockets
        let addresses = sockets.addresses
        let count = sockets.workers.count
        let limitFeed = try LimitFeed()
        var random = Random()
        let clients = ClientTable(seed: (random.next(), random.next())) {
            limitFeed.wakeup.signal()
        }
        var seats: [Seat] = []
        for index in 0..<count {
            seats.append(
                try Seat(
                    listeningOn: sockets.workers[index].take(),
                    policy: policy,
                    cache: cache,
                    clients: clients,
                    settings: settings,
                    workers: count
                )
            )
        }
        let feed = try QueryFeed()
        let threads = try Server.start(seats)
        queryFeed = feed
        self.limitFeed = limitFeed
        self.clients = clients
        exchanges = seats.map { _ in QueryExchange(feed) }
        self.addresses = addresses
        self.seats = seats
        self.threads = Mutex(threads)
        current = Mutex(policy)
    }

    /// How many threads serve.
    public var workers: Int { seats.count }

    /// Answers under another policy from now on; each query sees the old one or the new one.
    ///
    /// Returns when every worker has adopted it, after a second at most, so that what is told to a
    /// user as done is done. The old policy is held until then: when nobody else needs it, it goes
    /// here and not in the midst of a worker's queries.
    public func adopt(_ policy: Policy) {
        // Without a descriptor for the report it is adopted all the same, and not waited for.
        let report = try? Report(workers: seats.count)
        let old = current.withLock { current in
            let old = current
            current = policy
            // Under the lock, so that two that adopt at a time leave all workers with one policy.
            for seat in seats {
                seat.mailbox.post(.adopt(policy))
                if let report { seat.add(to: report) }
            }
            return old
        }
        _ = report?.wait(milliseconds: 1000)
        withExtendedLifetime(old) {}
    }

    /// What all workers have done so far. Waits for each to finish its turn, a second at most.
    public func statistics() throws(Errno) -> Statistics { try report().server }

    /// What all workers have done so far, in full. Waits as `statistics` does.
    public func report() throws(Errno) -> ServerReport {
        let report = try Report(workers: seats.count)
        for seat in seats { seat.add(to: report) }
        return report.wait(milliseconds: 1000)
    }

    /// Whether every worker turns its loop: all finish their turn within a second.
    public var isAnswering: Bool { (try? report())?.workers == workers }

    /// Takes the limits that clients have reached since the last call, each client once a minute.
    public func takeReachedLimits() -> [ReachedLimit] {
        limitFeed.wakeup.clear()
        return clients.takeReached()
    }

    /// Lets the workers note one query in `interval` from now on; 0: none.
    ///
    /// A worker never waits for the reader: what finds no room is counted and dropped.
    public func logQueries(every interval: UInt32) {
        for (seat, exchange) in zip(seats, exchanges) {
            // First, so that there is room.
            if interval > 0 {
                exchange.prepare()
                seat.mailbox.post(.exchangeLog(exchange))
            }
            seat.mailbox.post(.logQueries(interval))
        }
    }

    /// Asks the workers to hand over what they have noted; `queryFeed` is signalled as they do.
    public func collectQueries() {
        for (seat, exchange) in zip(seats, exchanges) { seat.mailbox.post(.exchangeLog(exchange)) }
    }

    /// Calls `body` with each batch that was handed over since; one reader at a time.
    public func readQueries(_ body: (borrowing QueryBatch) -> Void) {
        queryFeed.wakeup.clear()
        for exchange in exchanges { exchange.read(body) }
    }

    /// Takes no more queries, answers those that are in flight, for `Settings.graceMilliseconds`
    /// at most, and returns when every worker has ended. A second call returns at once.
    public func stop() {
        for seat in seats { seat.mailbox.post(.stop) }
        threads.withLock { threads in
            for index in threads.indices { threads[index].take()?.join() }
        }
    }

    /// Starts a thread for each seat; or, where that fails, ends those that were started.
    private static func start(_ seats: [Seat]) throws(Errno) -> FixedArray<Thread?> {
        var threads = FixedArray<Thread?>(count: seats.count) { _ in nil }
        do throws(Errno) {
            for (index, seat) in seats.enumerated() {
                threads[index] = try Thread(named: "worker \(index)") { seat.serve() }
            }
        } catch {
            for seat in seats { seat.mailbox.post(.stop) }
            for index in threads.indices { threads[index].take()?.join() }
            throw error
        }
        return threads
    }
}

/// A worker's place: where it waits until its thread takes it out, and what is left of it after.
private final class Seat: Sendable {
    let mailbox: Mailbox
    private let worker: Mutex<Worker?>
    private let result = Mutex<ServerReport?>(nil)

    init(
        listeningOn sockets: consuming WorkerSockets,
        policy: Policy,
        cache: Cache,
        clients: ClientTable,
        settings: Server.Settings,
        workers: Int
    ) throws(Errno) {
        let mailbox = try Mailbox()
        self.mailbox = mailbox
        worker = Mutex(
            try Worker(
                listeningOn: sockets,
                policy: policy,
                cache: cache,
                clients: clients,
                settings: settings,
                workers: workers,
                mailbox: mailbox
            )
        )
    }

    /// Adds what the worker has done to a report, at once when it has ended, else when it can.
    func add(to report: Report) {
        if let final = result.withLock({ $0 }) {
            report.add(final)
        } else {
            mailbox.post(.report(report))
        }
    }

    /// The body of the worker's thread.
    func serve() {
        guard var worker = worker.withLock({ $0.take() }) else { return }
        let report = worker.run()
        result.withLock { $0 = report }
    }
}
