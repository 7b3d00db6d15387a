/// What a resolver has done, as plain counts; summed over workers on request.
public struct ResolverStatistics: Sendable, Equatable {
    /// Queries that were read.
    public var queries: UInt64 = 0
    /// Answered from override zones.
    public var overridden: UInt64 = 0
    /// Answered from the cache at once.
    public var cacheHits: UInt64 = 0
    /// Waited for an upstream.
    public var waited: UInt64 = 0
    /// Answered REFUSED: a client that is not served, or a name that is not.
    public var refused: UInt64 = 0
    /// Answered FORMERR, NOTIMP or BADVERS.
    public var malformed: UInt64 = 0
    /// Answered SERVFAIL.
    public var failed: UInt64 = 0
    /// Not answered: names whose policy is to drop.
    public var dropped: UInt64 = 0
    /// Not answered: responses, and what is too short to be a query.
    public var ignored: UInt64 = 0
    /// Queries sent upstream.
    public var upstreamQueries: UInt64 = 0
    /// Upstream messages that matched nothing.
    public var mismatches: UInt64 = 0
    /// Upstream messages that matched but for the letters' case or the cookie: forged, perhaps.
    public var doubtful: UInt64 = 0
    /// Exchanges given up to make room.
    public var shed: UInt64 = 0
    /// Queries of ours that came back to us.
    public var loops: UInt64 = 0
    /// Answered past the TTL, because no upstream gave a newer answer.
    public var stale: UInt64 = 0
    /// Those of them that had waited for an upstream.
    public var staleAfterWaiting: UInt64 = 0
    /// Answers that were fetched anew before their TTL was over.
    public var prefetched: UInt64 = 0
    /// Queries of clients that ask too much, answered with TC alone.
    public var overRateTruncated: UInt64 = 0
    /// Queries of clients that ask too much, not answered.
    public var overRateDropped: UInt64 = 0
    /// Queries answered SERVFAIL because too many of the client's wait.
    public var tooManyWaiting: UInt64 = 0

    /// Answered for names that never leave the machine.
    public var special: UInt64 = 0

    /// No counts.
    public init() {}

    /// Adds another resolver's counts.
    public static func += (a: inout ResolverStatistics, b: ResolverStatistics) {
        for field in fields { a[keyPath: field] &+= b[keyPath: field] }
    }

    private static var fields: [WritableKeyPath<ResolverStatistics, UInt64>] {
        [
            \.queries, \.overridden, \.cacheHits, \.waited, \.refused, \.malformed, \.failed,
            \.dropped, \.upstreamQueries, \.mismatches, \.doubtful, \.shed, \.loops, \.stale,
            \.staleAfterWaiting,
            \.prefetched, \.special, \.ignored, \.overRateTruncated, \.overRateDropped,
            \.tooManyWaiting,
        ]
    }
}
