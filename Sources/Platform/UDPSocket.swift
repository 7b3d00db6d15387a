internal import CLinux

/// A UDP socket, non-blocking: one that is bound to ask nobody in particular, or a connected one.
public struct UDPSocket: ~Copyable, Sendable {
    /// The descriptor, to register with a poller.
    public private(set) var descriptor: FileDescriptor
    /// Whether each datagram must say which address it came to and goes from (PKTINFO), because the
    /// socket is bound to every address. It costs a control message each way.
    public let reportsDestination: Bool

    /// What a burst must fit into while a worker is at something else.
    private static var bufferOctets: Int32 { 4 << 20 }

    /// A socket to serve `address` from. The others of the same process share the port when all
    /// are `shared` (SO_REUSEPORT): each client then stays with one of them.
    public init(serving address: SocketAddress, shared: Bool = true) throws(Errno) {
        let socket = try FileDescriptor.socket(family: address.family, type: SOCK_DGRAM)
        if shared { try socket.setOption(SOL_SOCKET, SO_REUSEPORT, 1) }
        if !address.isIPv4 { try socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        try UDPSocket.prepare(socket, for: address)
        try socket.bind(to: address)
        descriptor = socket
        reportsDestination = address.isAny
    }

    /// A socket that was bound before we started, as by a service manager.
    public init(adopting socket: consuming FileDescriptor) throws(Errno) {
        let address = try socket.boundAddress()
        try UDPSocket.prepare(socket, for: address)
        descriptor = socket
        reportsDestination = address.isAny
    }

    private static func prepare(
        _ socket: borrowing FileDescriptor,
        for address: SocketAddress
    ) throws(Errno) {
        socket.setDatagramBuffers(octets: UDPSocket.bufferOctets)
        socket.ignorePathMTU(ipv4: address.isIPv4)
        guard address.isAny else { return }
        if address.isIPv4 {
            try socket.setOption(Int32(IPPROTO_IP), IP_PKTINFO, 1)
        } else {
            try socket.setOption(Int32(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1)
        }
    }

    /// A socket connected to `peer` from a port that is hard to guess (RFC 5452, 9.2).
    ///
    /// The port is drawn by us: the kernel's ephemeral ports are half as many. When sixteen draws
    /// hit taken ports, or some of those that are to be avoided, the kernel's choice is taken.
    public init(
        connectedTo peer: SocketAddress,
        drawingFrom random: inout Random,
        avoiding avoided: [UInt16] = []
    ) throws(Errno) {
        let socket = try FileDescriptor.socket(family: peer.family, type: SOCK_DGRAM)
        socket.ignorePathMTU(ipv4: peer.isIPv4)
        for _ in 0..<16 {
            let port = random.sourcePort()
            guard !avoided.contains(port) else { continue }
            let local = SocketAddress.any(ipv4: peer.isIPv4, port: port)
            if clinux_bind(socket.rawValue, local.endpoint) == 0 { break }
            guard Errno.last == .addressInUse else { throw Errno.last }
        }
        try check(clinux_connect(socket.rawValue, peer.endpoint))
        descriptor = socket
        reportsDestination = false
    }

    /// How many datagrams came while the receive buffer was full, and were lost.
    public var dropped: UInt64 { UInt64(clinux_dropped(descriptor.rawValue)) }

    /// Takes up to a batch of the datagrams that wait, and gives their number; 0 when none do.
    ///
    /// Throws what the kernel says of the socket, as `connectionRefused` on a connected one.
    public mutating func receive(_ batch: inout InboundDatagrams) throws(Errno) -> Int {
        try batch.receive(from: descriptor.rawValue)
    }

    /// Sends a batch, and empties it.
    ///
    /// A datagram that the kernel refuses is skipped. When the socket's buffer is full the rest is
    /// lost, as on a full wire: to wait would stall everybody.
    public mutating func send(_ batch: inout OutboundDatagrams) -> OutboundDatagrams.Outcome {
        batch.send(over: descriptor.rawValue)
    }

    /// No socket, for an empty slot of a table.
    public static var none: UDPSocket { UDPSocket() }

    private init() {
        descriptor = .none
        reportsDestination = false
    }

    /// Whether there is one.
    public var isOpen: Bool { descriptor.isOpen }

    /// The address that the socket is bound to.
    public func boundAddress() throws(Errno) -> SocketAddress { try descriptor.boundAddress() }

    /// The socket once more, for another thread to share.
    public func duplicate() throws(Errno) -> UDPSocket {
        try UDPSocket(sharing: descriptor.duplicate(), reportsDestination: reportsDestination)
    }

    private init(sharing descriptor: consuming FileDescriptor, reportsDestination: Bool) {
        self.descriptor = descriptor
        self.reportsDestination = reportsDestination
    }
}

extension Random {
    /// A port to ask from, out of 55 535: above the ones that services are known by, and not the
    /// one that WireGuard expects to find free.
    mutating func sourcePort() -> UInt16 {
        while true {
            let port = UInt16(truncatingIfNeeded: next())
            if port > 10_000 && port != 51_820 { return port }
        }
    }
}
