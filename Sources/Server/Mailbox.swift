import Platform
import Resolver
import Synchronization

/// What the control plane asks of a worker.
enum Command: Sendable {
    /// Answer under another policy from the next query on.
    case adopt(Policy)
    /// Add what you have done to a report.
    case report(Report)
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

/// The statistics of all workers, as each adds its own.
final class Report: Sendable {
    private let state: Mutex<(sum: Statistics, outstanding: Int)>
    private let isComplete: Wakeup

    init(workers: Int) throws(Errno) {
        state = Mutex((Statistics(), workers))
        isComplete = try Wakeup()
    }

    func add(_ statistics: Statistics) {
        let isLast = state.withLock { state in
            state.sum = state.sum + statistics
            state.outstanding -= 1
            return state.outstanding == 0
        }
        if isLast { isComplete.signal() }
    }

    /// The sum, once all have added theirs; or what there is after so long.
    func wait(milliseconds: Int32) -> Statistics {
        _ = isComplete.wait(milliseconds: milliseconds)
        return state.withLock { $0.sum }
    }
}
