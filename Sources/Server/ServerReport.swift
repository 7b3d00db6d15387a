import Platform
public import Resolver
import Synchronization

/// What all workers, or one of them, have done since they started.
public struct ServerReport: Sendable {
    /// Queries, replies and connections.
    public var server = Statistics()
    /// What became of queries.
    public var resolver = ResolverStatistics()
    /// How long clients waited who were answered at once.
    public var latenciesAtOnce = LatencyHistogram()
    /// How long clients waited whose question went upstream.
    public var latencies = LatencyHistogram()
    /// Each upstream of the policy.
    public var upstreams: [UpstreamStatistics] = []
    /// How many workers it is the sum of.
    public var workers = 0

    /// Nothing done.
    public init() {}

    init(
        server: Statistics,
        resolver: ResolverStatistics,
        latenciesAtOnce: LatencyHistogram,
        latencies: LatencyHistogram,
        upstreams: [UpstreamStatistics],
        workers: Int
    ) {
        self.server = server
        self.resolver = resolver
        self.latenciesAtOnce = latenciesAtOnce
        self.latencies = latencies
        self.upstreams = upstreams
        self.workers = workers
    }

    /// Adds what another worker has done.
    mutating func add(_ other: ServerReport) {
        server = server + other.server
        resolver += other.resolver
        latenciesAtOnce += other.latenciesAtOnce
        latencies += other.latencies
        workers += other.workers
        for upstream in other.upstreams {
            if let index = upstreams.firstIndex(where: { $0.upstream == upstream.upstream }) {
                upstreams[index].add(upstream)
            } else {
                upstreams.append(upstream)
            }
        }
    }
}

/// The reports of all workers, as each adds its own.
final class Report: Sendable {
    private let state: Mutex<(sum: ServerReport, outstanding: Int)>
    private let isComplete: Wakeup

    init(workers: Int) throws(Errno) {
        state = Mutex((ServerReport(), workers))
        isComplete = try Wakeup()
    }

    func add(_ report: ServerReport) {
        let isLast = state.withLock { state in
            state.sum.add(report)
            state.outstanding -= 1
            return state.outstanding == 0
        }
        if isLast { isComplete.signal() }
    }

    /// The sum, once all have added theirs; or what there is after so long.
    func wait(milliseconds: Int32) -> ServerReport {
        _ = isComplete.wait(milliseconds: milliseconds)
        return state.withLock { $0.sum }
    }
}
