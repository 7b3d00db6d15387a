import Platform

/// What a worker's poller watches; the kind of each token.
enum Source: UInt8 {
    /// The mailbox's wakeup.
    case mailbox
    /// A UDP socket that clients send to; the slot is its index.
    case datagramListener
    /// A TCP socket that clients connect to; the slot is its index.
    case streamListener
    /// A client's TCP connection.
    case connection
    /// A UDP socket that is connected to an upstream; the slot counts through all pools.
    case upstreamSocket
    /// The TCP connection to an upstream; the slot is the upstream's index.
    case upstreamStream

    func token(slot: Int = 0, generation: UInt32 = 0) -> Poller.Token {
        Poller.Token(kind: rawValue, slot: slot, generation: generation)
    }
}
