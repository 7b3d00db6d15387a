/// What a resolver has seen of one upstream since it is asked.
public struct UpstreamStatistics: Sendable {
    /// Which.
    public let upstream: Policy.Upstream
    /// Queries that were sent to it.
    public var queries: UInt64 = 0
    /// Answers that came from it in time.
    public var answers: UInt64 = 0
    /// Queries whose answer did not come when expected.
    public var losses: UInt64 = 0
    /// Queries to it that were not the first for their question: after silence, or to be quick.
    public var hedges: UInt64 = 0
    /// How long its answers over UDP took.
    public var latencies = LatencyHistogram()
    /// Its smoothed round-trip time, in microseconds; 0: unknown.
    public var smoothedRTT: UInt32 = 0
    /// Whether it is left alone but for probes.
    public var isOut = false

    /// Adds what another resolver has seen of the same upstream.
    public mutating func add(_ other: UpstreamStatistics) {
        queries &+= other.queries
        answers &+= other.answers
        losses &+= other.losses
        hedges &+= other.hedges
        latencies += other.latencies
        // Of one that is not asked here, the other knows more.
        if smoothedRTT == 0 || other.smoothedRTT > 0 && other.smoothedRTT < smoothedRTT {
            smoothedRTT = other.smoothedRTT
        }
        isOut = isOut || other.isOut
    }
}

/// The same, as plain counts beside an upstream's health.
struct UpstreamCounts {
    var queries: UInt64 = 0
    var answers: UInt64 = 0
    var losses: UInt64 = 0
    var hedges: UInt64 = 0
    var latencies = LatencyHistogram()
}

extension Resolver {
    /// What has been seen of each upstream of the policy.
    public var upstreamStatistics: [UpstreamStatistics] {
        forwarder.upstreams.indices.compactMap { number in
            guard let upstream = forwarder.upstreams[number],
                policy.upstreams.contains(upstream)
            else { return nil }
            let health = forwarder.health[number]
            var statistics = UpstreamStatistics(upstream: upstream)
            statistics.queries = health.counts.queries
            statistics.answers = health.counts.answers
            statistics.losses = health.counts.losses
            statistics.hedges = health.counts.hedges
            statistics.latencies = health.counts.latencies
            statistics.smoothedRTT = health.smoothedRTT
            statistics.isOut = health.isOut
            return statistics
        }
    }
}
