public import Platform
import Resolver
import Synchronization

/// Where a worker leaves the queries that it has noted, and finds an empty batch to go on with.
final class QueryExchange: Sendable {
    /// Per worker; about a tenth of a second's queries at full speed.
    private static let capacity = 1 << 20

    private let batch = Mutex(QueryBatch(capacity: 0))
    private let feed: QueryFeed

    init(_ feed: QueryFeed) { self.feed = feed }

    /// Makes room, before the worker is told to note anything.
    func prepare() { batch.withLock { QueryExchange.makeRoom(&$0) } }

    private static func makeRoom(_ batch: inout QueryBatch) {
        if batch.capacity == 0 { batch = QueryBatch(capacity: capacity) }
    }

    /// The worker's side.
    func exchange(with resolver: inout Resolver) {
        batch.withLock { resolver.exchangeLog(&$0) }
        feed.wakeup.signal()
    }

    /// The reader's side: what the worker has left, which is empty then.
    func read(_ body: (borrowing QueryBatch) -> Void) {
        batch.withLock { batch in
            // The first one that a worker leaves has no room: it takes the next one back.
            defer { QueryExchange.makeRoom(&batch) }
            guard !batch.isEmpty else { return }
            body(batch)
            batch.clear()
        }
    }
}

/// The queries of all workers, for one reader that takes its time: the workers never wait for it.
public final class QueryFeed: Sendable {
    /// Signalled when a worker has handed queries over.
    public let wakeup: Wakeup

    init() throws(Errno) { wakeup = try Wakeup() }
}
