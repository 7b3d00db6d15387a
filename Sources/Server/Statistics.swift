/// What a worker, or all of them together, has done since it started. Plain integers, no locks.
public struct Statistics: BitwiseCopyable, Equatable, Sendable {
    /// Queries that came over UDP.
    public var queriesUDP: UInt64 = 0
    /// Queries that came over TCP.
    public var queriesTCP: UInt64 = 0
    /// Queries that were answered at once.
    public var answeredAtOnce: UInt64 = 0
    /// Queries that were answered later, after an upstream was asked.
    public var answeredLater: UInt64 = 0
    /// Queries that the resolver did not want to answer.
    public var dropped: UInt64 = 0
    /// Datagrams from clients that were longer than any query.
    public var datagramsTooLong: UInt64 = 0
    /// Replies that the kernel did not take.
    public var repliesNotSent: UInt64 = 0
    /// Replies whose connection had gone.
    public var repliesWithoutClient: UInt64 = 0

    /// Connections that clients opened.
    public var connectionsAccepted: UInt64 = 0
    /// Connections that are open now.
    public var connectionsOpen: UInt64 = 0
    /// Connections that were turned away because of a limit.
    public var connectionsRefused: UInt64 = 0
    /// Connections that had to make room for another.
    public var connectionsDisplaced: UInt64 = 0
    /// Connections that were closed because nothing happened on them.
    public var connectionsTimedOut: UInt64 = 0
    /// Connections that were closed because what came on them was not DNS.
    public var connectionsNotDNS: UInt64 = 0

    /// Queries that went upstream over UDP.
    public var upstreamQueriesUDP: UInt64 = 0
    /// Queries that went upstream over TCP.
    public var upstreamQueriesTCP: UInt64 = 0
    /// Messages that came from upstreams over UDP.
    public var upstreamMessagesUDP: UInt64 = 0
    /// Messages that came from upstreams over TCP.
    public var upstreamMessagesTCP: UInt64 = 0
    /// Upstream sockets and connections that broke or could not be opened.
    public var upstreamFailures: UInt64 = 0
    /// Upstream sockets that were opened, each on a port of its own.
    public var upstreamSocketsOpened: UInt64 = 0

    /// Nothing done.
    public init() {}

    /// The sum of what two workers have done.
    public static func + (a: Statistics, b: Statistics) -> Statistics {
        var sum = a
        for field in fields { sum[keyPath: field] += b[keyPath: field] }
        return sum
    }

    /// Every counter with its name, in the order of declaration, for status and metrics.
    public var named: [(name: String, value: UInt64)] {
        zip(Statistics.names, Statistics.fields).map { ($0, self[keyPath: $1]) }
    }
}

extension Statistics {
    private static var names: [String] {
        [
            "queriesUDP", "queriesTCP", "answeredAtOnce", "answeredLater", "dropped",
            "datagramsTooLong", "repliesNotSent", "repliesWithoutClient",
            "connectionsAccepted", "connectionsOpen", "connectionsRefused", "connectionsDisplaced",
            "connectionsTimedOut", "connectionsNotDNS",
            "upstreamQueriesUDP", "upstreamQueriesTCP", "upstreamMessagesUDP",
            "upstreamMessagesTCP", "upstreamFailures", "upstreamSocketsOpened",
        ]
    }

    private static var fields: [WritableKeyPath<Statistics, UInt64>] {
        [
            \.queriesUDP, \.queriesTCP, \.answeredAtOnce, \.answeredLater, \.dropped,
            \.datagramsTooLong, \.repliesNotSent, \.repliesWithoutClient,
            \.connectionsAccepted, \.connectionsOpen, \.connectionsRefused, \.connectionsDisplaced,
            \.connectionsTimedOut, \.connectionsNotDNS,
            \.upstreamQueriesUDP, \.upstreamQueriesTCP, \.upstreamMessagesUDP,
            \.upstreamMessagesTCP, \.upstreamFailures, \.upstreamSocketsOpened,
        ]
    }
}
