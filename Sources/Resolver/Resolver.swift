public import DNS

/// A worker's resolver: queries and upstream messages in, replies and upstream queries out. Sans-I/O.
public struct Resolver: ~Copyable {
    /// A resolver under a policy.
    public init(policy: Policy) { self.policy = policy }

    var policy: Policy

    /// Decides what becomes of one query; the reply, if any, is at the start of `reply`.
    ///
    /// `reply` must have room for 65 535 octets over TCP, 4 096 over UDP.
    public mutating func handle(
        _ query: Span<UInt8>,
        from client: Client,
        at now: Instant,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition { .drop }

    /// Takes the next query that has to go upstream, or nil when all have been taken.
    ///
    /// To be drained after each batch of `handle`, `receive` and `expire`.
    public mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? { nil }

    /// Takes one message that came from an upstream; anything that does not match is dropped.
    public mutating func receive(
        _ message: Span<UInt8>,
        over path: UpstreamPath,
        at now: Instant
    ) {}

    /// Tells that a path broke: ICMP unreachable on a socket, or a connection that failed or closed.
    public mutating func pathFailed(_ path: UpstreamPath, at now: Instant) {}

    /// How many exchanges wait on a path; a socket with none can be given a new port.
    public func exchangesInFlight(on path: UpstreamPath) -> Int { 0 }

    /// Does what is due: retransmits, asks the next upstream, gives up.
    public mutating func expire(at now: Instant) {}

    /// When `expire` is next due, or nil while nothing waits.
    public var nextDeadline: Instant? { nil }

    /// Takes the next finished reply: its client, and how many octets stand in `reply`.
    ///
    /// To be drained after each batch of `receive`, `pathFailed` and `expire`.
    public mutating func nextReply(
        into reply: inout MutableSpan<UInt8>,
        at now: Instant
    ) -> (client: Client, count: Int)? { nil }

    /// Answers from now on under another policy: the next query sees all of it.
    public mutating func adopt(_ policy: Policy) { self.policy = policy }
}

/// How a message reaches an upstream, or came from it.
@frozen
public enum UpstreamPath: Hashable, Sendable {
    /// Socket `socket` of the pool of connected UDP sockets to upstream `upstream`.
    case datagram(upstream: Int, socket: Int)
    /// The TCP connection to upstream `upstream`.
    case stream(upstream: Int)
}

/// One query on its way to an upstream.
@frozen
public struct UpstreamSend: Sendable {
    /// Where it goes.
    public let path: UpstreamPath
    /// How many octets of the buffer it takes.
    public let count: Int
}
