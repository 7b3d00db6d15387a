public import Platform

/// Every socket that a server listens on, bound and not yet served: a set for each worker.
///
/// Made before privileges are dropped and before the server says that it is ready.
public struct ListeningSockets: ~Copyable {
    /// The addresses that are served, over UDP and TCP, with the ports that they really have.
    public private(set) var addresses: [SocketAddress] = []
    /// Those that were inherited for UDP alone: an answer that is too long for it cannot be had.
    public private(set) var datagramsOnly: [SocketAddress] = []
    var workers: FixedArray<WorkerSockets>

    /// Binds UDP and TCP sockets to `addresses`, one of each for every worker.
    ///
    /// Port 0 lets the kernel choose one that is free for both. An address that is given twice is
    /// served once; one that is part of another, as 127.0.0.1 of 0.0.0.0, is served beside it.
    public init(binding addresses: [SocketAddress], workers count: Int) throws(ListenError) {
        precondition(count >= 1 && addresses.count <= 255, "a worker, and listeners of eight bits")
        // All are probed before one is bound: our own sockets would be in the way.
        var probed: [SocketAddress] = []
        for wanted in addresses {
            let address = try ListeningSockets.probe(wanted)
            if !probed.contains(address) { probed.append(address) }
        }
        let size = probed.count
        var table = FixedArray(count: count) { _ in WorkerSockets(datagrams: size, streams: size) }
        for (index, address) in probed.enumerated() {
            try ListeningSockets.bind(address, index, &table)
        }
        workers = table
        self.addresses = probed
    }

    private static func bind(
        _ address: SocketAddress,
        _ index: Int,
        _ workers: inout FixedArray<WorkerSockets>
    ) throws(ListenError) {
        for worker in workers.indices {
            do throws(Errno) {
                let socket = try UDPSocket(serving: address)
                workers[worker].datagrams[index] = UDPListener(socket: socket, address: address)
            } catch {
                throw ListenError(address, .udp, error)
            }
            do throws(Errno) {
                let socket = try StreamListener(serving: address)
                workers[worker].streams[index] = TCPListener(socket: socket, address: address)
            } catch {
                throw ListenError(address, .tcp, error)
            }
        }
    }

    /// Takes sockets over that a service manager has bound; every worker shares each of them.
    public init(
        adopting inherited: consuming FixedArray<InheritedSocket>,
        workers count: Int
    ) throws(ListenError) {
        precondition(count >= 1 && inherited.count <= 255, "a worker, and listeners of eight bits")
        let size = inherited.count
        workers = FixedArray(count: count) { _ in WorkerSockets(datagrams: size, streams: size) }
        var sockets = inherited
        for index in sockets.indices {
            do throws(Errno) {
                switch sockets[index].take() {
                case .datagram(let descriptor):
                    let socket = try UDPSocket(adopting: descriptor)
                    let address = try socket.boundAddress()
                    for worker in workers.indices {
                        workers[worker].datagrams[index] = UDPListener(
                            socket: try socket.duplicate(),
                            address: address,
                            countsLosses: worker == 0
                        )
                    }
                    note(address)
                case .stream(let descriptor):
                    let socket = try StreamListener(adopting: descriptor)
                    let address = try socket.boundAddress()
                    for worker in workers.indices {
                        workers[worker].streams[index] = TCPListener(
                            socket: try socket.duplicate(),
                            address: address
                        )
                    }
                    note(address)
                // Not for queries.
                default: break
                }
            } catch {
                throw ListenError(.any(ipv4: true, port: 0), .udp, error)
            }
        }
        for address in served(over: .udp) where !served(over: .tcp).contains(address) {
            datagramsOnly.append(address)
        }
    }

    private func served(over transport: ListenError.Transport) -> [SocketAddress] {
        var found: [SocketAddress] = []
        guard workers.count > 0 else { return found }
        switch transport {
        case .udp:
            for index in workers[0].datagrams.indices
            where workers[0].datagrams[index].socket.isOpen {
                found.append(workers[0].datagrams[index].address)
            }
        case .tcp:
            for index in workers[0].streams.indices where workers[0].streams[index].socket.isOpen {
                found.append(workers[0].streams[index].address)
            }
        }
        return found
    }

    private mutating func note(_ address: SocketAddress) {
        if !addresses.contains(address) { addresses.append(address) }
    }

    /// Binds the address once without sharing its port, and lets go again.
    ///
    /// SO_REUSEPORT alone would let a second daemon of the same user take half of our queries
    /// without anybody noticing.
    private static func probe(_ wanted: SocketAddress) throws(ListenError) -> SocketAddress {
        var attempts = 16
        while true {
            attempts -= 1
            var address = wanted
            // Held while the TCP port is tried, so that it stays ours.
            var datagrams = UDPSocket.none
            do throws(Errno) {
                datagrams = try UDPSocket(serving: wanted, shared: false)
                address.port = try datagrams.boundAddress().port
            } catch {
                throw ListenError(wanted, .udp, error)
            }
            do throws(Errno) {
                _ = try StreamListener(serving: address, shared: false)
            } catch {
                // A port that UDP chose can be taken on TCP.
                if wanted.port == 0 && error == .addressInUse && attempts > 0 { continue }
                throw ListenError(address, .tcp, error)
            }
            return address
        }
    }
}

/// The sockets of one worker. A slot that is not open belongs to an inherited socket of the other
/// transport.
struct WorkerSockets: ~Copyable {
    var datagrams: FixedArray<UDPListener>
    var streams: FixedArray<TCPListener>

    init(datagrams: Int, streams: Int) {
        self.datagrams = FixedArray(count: datagrams) { _ in .none }
        self.streams = FixedArray(count: streams) { _ in .none }
    }

    /// Takes the sockets out, and leaves none.
    mutating func take() -> WorkerSockets {
        var taken = WorkerSockets(datagrams: 0, streams: 0)
        swap(&taken, &self)
        return taken
    }
}

/// A socket that queries come to as datagrams.
struct UDPListener: ~Copyable {
    var socket: UDPSocket
    /// What the socket is bound to: the address that was asked, unless it is every address.
    let address: SocketAddress
    /// Whether it is this worker that tells how many datagrams were lost: of those that share one
    /// socket only the first does.
    var countsLosses = true

    static var none: UDPListener { UDPListener(socket: .none, address: .any(ipv4: true, port: 0)) }
}

/// A socket that connections come to.
struct TCPListener: ~Copyable {
    let socket: StreamListener
    /// What the socket is bound to: the address that was asked, unless it is every address.
    let address: SocketAddress

    static var none: TCPListener { TCPListener(socket: .none, address: .any(ipv4: true, port: 0)) }
}

/// An address cannot be served.
public struct ListenError: Error, Sendable, CustomStringConvertible {
    /// What was to be served.
    public enum Transport: String, Sendable {
        /// Datagrams.
        case udp = "UDP"
        /// Connections.
        case tcp = "TCP"
    }

    /// The address.
    public let address: SocketAddress
    /// The transport.
    public let transport: Transport
    /// Why.
    public let error: Errno
    /// Who holds the port, where it is in use and that can be found out.
    public let holder: PortHolder?

    init(_ address: SocketAddress, _ transport: Transport, _ error: Errno) {
        self.address = address
        self.transport = transport
        self.error = error
        holder =
            error == .addressInUse
            ? PortHolder.of(address, datagram: transport == .udp) : nil
    }

    /// `127.0.0.1:53 (UDP): Address already in use (EADDRINUSE), by dnsmasq (process 512)`.
    public var description: String {
        "\(address) (\(transport.rawValue)): \(error)" + (holder.map { ", by \($0)" } ?? "")
    }
}
