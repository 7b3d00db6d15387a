internal import CLinux

/// A TCP connection, non-blocking.
public struct StreamSocket: ~Copyable, Sendable {
    /// The descriptor, to register with a poller.
    public private(set) var descriptor: FileDescriptor

    init(adopting descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// No connection, for an empty slot of a table.
    public static var none: StreamSocket { StreamSocket(adopting: .none) }

    /// What a read came to.
    @frozen
    public enum Reading: Equatable, Sendable {
        /// So many octets stand at the start of the room.
        case octets(Int)
        /// Nothing is there now.
        case wouldBlock
        /// The peer will send no more (FIN).
        case end
    }

    /// Begins to connect to `peer`; the socket becomes writable when that is done or has failed,
    /// and `connectionError` says which.
    public init(connectingTo peer: SocketAddress) throws(Errno) {
        let socket = try FileDescriptor.socket(family: peer.family, type: SOCK_STREAM)
        socket.tuneStream()
        if clinux_connect(socket.rawValue, peer.endpoint) < 0 {
            let error = Errno.last
            // An interrupted connect goes on by itself (connect(2)).
            guard error == .inProgress || error == .interrupted else { throw error }
        }
        descriptor = socket
    }

    /// Why connecting failed, or nil when it has not.
    public var connectionError: Errno? {
        let value = clinux_get_option(descriptor.rawValue, SOL_SOCKET, SO_ERROR)
        return value == 0 ? nil : value < 0 ? Errno.last : Errno(rawValue: value)
    }

    /// Whether there is a connection.
    public var isOpen: Bool { descriptor.isOpen }

    /// Reads what is there to a buffer from `start` on, of which there must be some left.
    public mutating func read(
        into buffer: inout OctetBuffer,
        at start: Int
    ) throws(Errno) -> Reading {
        var room = buffer.room(from: start)
        precondition(room.count > 0, "room to read into")
        while true {
            // Safe: the kernel writes at most `count` octets to the span's memory.
            let result = unsafe room.withUnsafeMutableBytes { memory in
                unsafe recv(descriptor.rawValue, memory.baseAddress, memory.count, 0)
            }
            if result > 0 { return .octets(result) }
            if result == 0 { return .end }
            switch Errno.last {
            case .interrupted: continue
            case .wouldBlock: return .wouldBlock
            case let error: throw error
            }
        }
    }

    /// Writes as many octets of a buffer's range as the socket takes now, and gives their number;
    /// 0 when it is full.
    public mutating func write(
        _ range: Range<Int>,
        of buffer: borrowing OctetBuffer
    ) throws(Errno) -> Int {
        try write(buffer.octets(range))
    }

    /// Writes as many octets from the front of a queue as the socket takes now, and removes them.
    public mutating func write(from queue: inout OctetQueue) throws(Errno) {
        queue.removeFirst(try write(queue.octets()))
    }

    private func write(_ octets: Span<UInt8>) throws(Errno) -> Int {
        while true {
            // Safe: the kernel reads `count` octets of the span's memory.
            let result = unsafe octets.withUnsafeBytes { memory in
                unsafe send(
                    descriptor.rawValue,
                    memory.baseAddress,
                    memory.count,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if result >= 0 { return result }
            switch Errno.last {
            case .interrupted: continue
            case .wouldBlock: return 0
            case let error: throw error
            }
        }
    }

    /// Tells the peer that no more will be written (FIN).
    public func finishWriting() { _ = shutdown(descriptor.rawValue, Int32(SHUT_WR)) }

    /// The address of ours that the peer connected to.
    public func localAddress() throws(Errno) -> SocketAddress { try descriptor.boundAddress() }

    /// Closes the connection.
    public mutating func close() { descriptor.close() }
}

/// A TCP socket that accepts connections.
public struct StreamListener: ~Copyable, Sendable {
    /// The descriptor, to register with a poller.
    public let descriptor: FileDescriptor

    /// A socket to serve `address` from; the others of the same process share the port when all
    /// are `shared` (SO_REUSEPORT).
    public init(serving address: SocketAddress, shared: Bool = true) throws(Errno) {
        let socket = try FileDescriptor.socket(family: address.family, type: SOCK_STREAM)
        // Connections of a former process that linger in TIME_WAIT do not hold the port.
        try socket.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        if shared { try socket.setOption(SOL_SOCKET, SO_REUSEPORT, 1) }
        if !address.isIPv4 { try socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        try socket.bind(to: address)
        try self.init(adopting: socket)
    }

    /// A socket that was bound before we started, as by a service manager.
    public init(adopting socket: consuming FileDescriptor) throws(Errno) {
        // What is set here, each accepted connection inherits.
        socket.tuneStream()
        socket.tryOption(Int32(IPPROTO_TCP), TCP_FASTOPEN, 256)
        // Else the kernel would hold megabytes of answers for a client that does not read them.
        socket.tryOption(SOL_SOCKET, SO_SNDBUF, 1 << 17)
        try check(listen(socket.rawValue, 1024))
        descriptor = socket
    }

    /// The next connection that waits and who it is from, or nil when none does.
    ///
    /// A connection that died while it waited is passed over. Throws `tooManyOpenFiles` and the
    /// like, and the connection goes on waiting.
    public func accept(from peer: inout SocketAddress) throws(Errno) -> StreamSocket? {
        while true {
            var endpoint = clinux_endpoint()
            // Safe: the call writes one struct of ours.
            let accepted = unsafe clinux_accept(descriptor.rawValue, &endpoint)
            if accepted >= 0 {
                peer = SocketAddress(endpoint)
                return StreamSocket(adopting: FileDescriptor(adopting: accepted))
            }
            switch Errno.last {
            case .wouldBlock: return nil
            case .interrupted, .connectionAborted: continue
            case let error: throw error
            }
        }
    }

    /// The address that the socket is bound to.
    public func boundAddress() throws(Errno) -> SocketAddress { try descriptor.boundAddress() }

    /// The socket once more, for another thread to share.
    public func duplicate() throws(Errno) -> StreamListener {
        try StreamListener(sharing: descriptor.duplicate())
    }

    /// Lets go of the socket without closing it, and gives its number: somebody else owns it.
    public consuming func abandon() -> Int32 { descriptor.abandon() }

    /// Whether there is one.
    public var isOpen: Bool { descriptor.isOpen }

    /// No socket, for an empty slot of a table.
    public static var none: StreamListener { StreamListener(sharing: .none) }

    private init(sharing descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

extension FileDescriptor {
    /// What every stream wants: answers leave at once, and a peer that vanished is noticed within
    /// two minutes even while a connection has no timeout of ours.
    func tuneStream() {
        tryOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        tryOption(SOL_SOCKET, SO_KEEPALIVE, 1)
        tryOption(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 60)
        tryOption(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 15)
        tryOption(Int32(IPPROTO_TCP), TCP_KEEPCNT, 4)
    }
}
