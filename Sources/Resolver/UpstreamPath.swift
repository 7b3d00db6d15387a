/// How a message reaches an upstream, or came from it.
@frozen
public enum UpstreamPath: Hashable, Sendable {
    /// Socket `socket` of the pool of connected UDP sockets to upstream `upstream`.
    case datagram(upstream: Int, socket: Int)
    /// The TCP connection to upstream `upstream`.
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

/// One query on its way to an upstream.
@frozen
public struct UpstreamSend: Sendable {
    /// Where it goes.
    public let path: UpstreamPath
    /// How many octets of the buffer it takes.
    public let count: Int
}
