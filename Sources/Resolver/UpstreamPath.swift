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
