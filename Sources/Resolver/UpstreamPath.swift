/// How a message reaches an upstream, or came from it.
///
/// Upstreams are numbered as in `Resolver.upstreams`.
@frozen
public enum UpstreamPath: Hashable, Sendable {
    /// Socket `socket` of the pool of connected UDP sockets to upstream `upstream`.
    case datagram(upstream: Int, socket: Int)
    /// The connection to upstream `upstream`.
    case stream(upstream: Int)

    /// The number of the upstream.
    var upstream: Int {
        switch self {
        case .datagram(let upstream, _), .stream(let upstream): upstream
        }
    }

    /// The number of the socket, or -1 for the connection.
    var socket: Int {
        if case .datagram(_, let socket) = self { return socket }
        return -1
    }
}

/// How a path broke.
@frozen
public enum PathFailure: Hashable, Sendable {
    /// ICMP says that nobody is there, or a connection could not be established, or ended before it
    /// brought an answer.
    case unreachable
    /// The upstream ended a connection that had brought answers, as it may at any time (RFC 7766,
    /// 6.2.4): what was on its way is asked again on a fresh one.
    case ended
}

/// One query on its way to an upstream.
@frozen
public struct UpstreamSend: Sendable {
    /// Where it goes.
    public let path: UpstreamPath
    /// How many octets of the buffer it takes.
    public let count: Int
}
