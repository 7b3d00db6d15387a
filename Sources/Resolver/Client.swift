public import DNS

/// What carries a query or a response.
@frozen
public enum Transport: UInt8, BitwiseCopyable, Sendable {
    /// One message a datagram, cut to the client's size.
    case udp
    /// Messages behind a 16-bit length, up to 65 535 octets (RFC 7766).
    case tcp
}

/// Who asks, and how the answer finds the way back.
@frozen
public struct Client: BitwiseCopyable, Sendable {
    /// The address that the query came from.
    public var address: IPAddress
    /// The address of ours that was asked; the reply must leave from it.
    public var localAddress: IPAddress
    /// What the query came over, and the reply goes over.
    public var transport: Transport
    /// The server's own note on the way back (ports, listener, connection); opaque to the resolver.
    public var returnPath: ReturnPath

    /// A client with a way back.
    @inlinable
    public init(
        address: IPAddress,
        localAddress: IPAddress,
        transport: Transport,
        returnPath: ReturnPath
    ) {
        self.address = address
        self.localAddress = localAddress
        self.transport = transport
        self.returnPath = returnPath
    }

    /// Two words that mean something to the server alone.
    @frozen
    public struct ReturnPath: BitwiseCopyable, Sendable {
        /// The first word.
        public var first: UInt64
        /// The second word.
        public var second: UInt64

        /// Two words that mean something to the server alone.
        @inlinable
        public init(_ first: UInt64, _ second: UInt64) {
            self.first = first
            self.second = second
        }
    }
}

/// What became of a query.
@frozen
public enum Disposition: Equatable, Sendable {
    /// The reply buffer holds this many octets for the client.
    case respond(Int)
    /// The answer comes later, through `Resolver.nextReply`.
    case wait
    /// Nothing is sent, now or later.
    case drop
}
