import Platform
import Resolver
import Synchronization

/// What the control plane asks of a worker.
enum Command: Sendable {
    /// Answer under another policy from the next query on.
    case adopt(Policy)
    /// Add what you have done to a report.
    case report(Report)
    /// Note one query in so many for the log; 0: none.
    case logQueries(UInt32)
    /// Hand over the queries that you have noted.
    case exchangeLog(QueryExchange)
    /// Take no more queries, answer those that are in flight, and end.
    case stop
}

/// Where a worker finds its commands. The worker's only lock, and not on the path of a query.
final class Mailbox: Sendable {
    /// Readable for the worker's poller while commands wait.
    let wakeup: Wakeup
    private let commands = Mutex<[Command]>([])

    init() throws(Errno) { wakeup = try Wakeup() }

    func post(_ command: Command) {
        commands.withLock { $0.append(command) }
        wakeup.signal()
    }

    /// All commands that wait, the oldest first.
    func takeAll() -> [Command] {
        wakeup.clear()
        return commands.withLock { waiting in
            let taken = waiting
            waiting = []
            return taken
        }
    }
}
