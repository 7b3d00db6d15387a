/// Who waits for which reload: one runs at a time, and all that is asked for meanwhile is one more.
///
/// A request that comes while a reload runs is not answered by that one, which may have read its
/// files before they changed.
struct ReloadQueue {
    /// Why to reload.
    enum Cause {
        /// Somebody said so: what was refused before is looked at again.
        case request
        /// A file has changed.
        case change
    }

    private(set) var isRunning = false
    /// The cause of the next one; nil: none is wanted.
    private(set) var wanted: Cause?
    private var served: [Int] = []
    private var waiting: [Int] = []

    /// Asks for a reload on behalf of a client, or of none.
    mutating func request(_ cause: Cause, for client: Int? = nil) {
        if let client { waiting.append(client) }
        if wanted != .request { wanted = cause }
    }

    /// Gives the cause of the reload that is to begin now, if one is.
    mutating func begin() -> Cause? {
        guard !isRunning, let cause = wanted else { return nil }
        isRunning = true
        wanted = nil
        served = waiting
        waiting = []
        return cause
    }

    /// The reload is done: gives the clients that wait for its result.
    mutating func finish() -> [Int] {
        isRunning = false
        defer { served = [] }
        return served
    }
}
