public import DNS
public import Platform
public import Resolver

// The resolver knows addresses, the kernel knows socket addresses; both keep the same 128 bits.

extension IPAddress {
    /// The address without port and scope.
    @inlinable
    public init(_ address: SocketAddress) { self.init(high: address.high, low: address.low) }
}

extension SocketAddress {
    /// An address with a port and a scope.
    @inlinable
    public init(_ address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        self.init(high: address.high, low: address.low, port: port, scope: scope)
    }

    /// Where an upstream is asked.
    public init(_ upstream: Policy.Upstream) {
        self.init(upstream.address, port: upstream.port, scope: upstream.scope)
    }
}

/// The way back to a client over UDP: first word listener (8 bits), port (16) and scope (32) of the
/// peer; second word the interface that the query came in on, with bit 63 set where it is known.
struct DatagramReturnPath {
    let listener: Int
    let port: UInt16
    let scope: UInt32
    let interface: UInt32?

    init(listener: Int, peer: SocketAddress, destination: SocketAddress?) {
        self.listener = listener
        port = peer.port
        scope = peer.scope
        interface = destination?.scope
    }

    init(_ path: Client.ReturnPath) {
        listener = Int(path.first >> 56)
        port = UInt16(truncatingIfNeeded: path.first >> 32)
        scope = UInt32(truncatingIfNeeded: path.first)
        interface = path.second >> 63 == 1 ? UInt32(truncatingIfNeeded: path.second) : nil
    }

    var words: Client.ReturnPath {
        Client.ReturnPath(
            UInt64(listener) << 56 | UInt64(port) << 32 | UInt64(scope),
            interface.map { 1 << 63 | UInt64($0) } ?? 0
        )
    }

    /// Where the reply has to leave from, or nil where the socket has one address only.
    ///
    /// The routing table chooses the interface, as for every other datagram, except for a
    /// link-local address, which means nothing without one.
    func source(_ local: IPAddress) -> SocketAddress? {
        guard let interface else { return nil }
        let source = SocketAddress(local, port: 0)
        guard source.isLinkLocal else { return source }
        return SocketAddress(local, port: 0, scope: interface)
    }
}

/// The way back to a client over TCP: the connection's slot, and which of the connections that
/// have used the slot; so a reply that comes after the connection has gone finds nobody.
struct ConnectionReturnPath {
    let slot: Int
    let generation: UInt32

    init(slot: Int, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    init(_ path: Client.ReturnPath) {
        slot = Int(truncatingIfNeeded: path.first)
        generation = UInt32(truncatingIfNeeded: path.second)
    }

    var words: Client.ReturnPath { Client.ReturnPath(UInt64(slot), UInt64(generation)) }
}
