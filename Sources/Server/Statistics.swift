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
    /// Queries that wait for an upstream now.
    public var waiting: UInt64 = 0
    /// Queries that the resolver did not want to answer: of all that came, those that were answered,
    /// that wait, that were dropped or were too long are the sum.
    public var dropped: UInt64 = 0
    /// Datagrams from clients that were longer than any query.
    public var datagramsTooLong: UInt64 = 0
    /// Datagrams from clients that came while the receive buffer was full; the kernel counts them,
    /// and they are not among the queries.
    public var datagramsLost: UInt64 = 0
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
    /// Connections that were left unread for a while, because their client asks too much.
    public var connectionsPaused: UInt64 = 0
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
    /// TLS handshakes with upstreams that were completed.
    public var upstreamHandshakes: UInt64 = 0
    /// Those of them that resumed an earlier session.
    public var upstreamHandshakesResumed: UInt64 = 0
    /// Upstream sockets that were opened, each on a port of its own.
    public var upstreamSocketsOpened: UInt64 = 0

    /// Nothing done.
    public init() {}

    /// The sum of what two workers have done.
    public static func + (a: Statistics, b: Statistics) -> Statistics {
        var sum = a
        for (_, field) in fields { sum[keyPath: field] += b[keyPath: field] }
        return sum
    }

    /// Every counter with its name, in the order of declaration, for status and metrics.
    public var named: [(name: String, value: UInt64)] {
        Statistics.fields.map { ($0.name, self[keyPath: $0.field]) }
    }

    private static var fields: [(name: String, field: WritableKeyPath<Statistics, UInt64>)] {
        [
            ("queriesUDP", \.queriesUDP),
            ("queriesTCP", \.queriesTCP),
            ("answeredAtOnce", \.answeredAtOnce),
            ("answeredLater", \.answeredLater),
            ("waiting", \.waiting),
            ("dropped", \.dropped),
            ("datagramsTooLong", \.datagramsTooLong),
            ("datagramsLost", \.datagramsLost),
            ("repliesNotSent", \.repliesNotSent),
            ("repliesWithoutClient", \.repliesWithoutClient),
            ("connectionsAccepted", \.connectionsAccepted),
            ("connectionsOpen", \.connectionsOpen),
            ("connectionsRefused", \.connectionsRefused),
            ("connectionsPaused", \.connectionsPaused),
            ("connectionsDisplaced", \.connectionsDisplaced),
            ("connectionsTimedOut", \.connectionsTimedOut),
            ("connectionsNotDNS", \.connectionsNotDNS),
            ("upstreamQueriesUDP", \.upstreamQueriesUDP),
            ("upstreamQueriesTCP", \.upstreamQueriesTCP),
            ("upstreamMessagesUDP", \.upstreamMessagesUDP),
            ("upstreamMessagesTCP", \.upstreamMessagesTCP),
            ("upstreamFailures", \.upstreamFailures),
            ("upstreamHandshakes", \.upstreamHandshakes),
            ("upstreamHandshakesResumed", \.upstreamHandshakesResumed),
            ("upstreamSocketsOpened", \.upstreamSocketsOpened),
        ]
    }
}
