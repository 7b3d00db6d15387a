import Platform
import Support
import Synchronization

/// An upstream on loopback, on a thread of its own: answers 198.51.100.7 to everything.
///
/// A name whose first label is `up<N>` or `tcp<N>` is answered after N milliseconds, `upnever` not
/// at all. One that begins with `tcp` is answered in full over TCP only; `tcpdeaf` not even there, nor
/// is anything else from then on over the same connection.
final class Upstream: Sendable {
    let address: SocketAddress
    private let peer: Peer
    private let thread: Mutex<Thread?>

    /// The names that were asked, and the port that each query over UDP came from (0: TCP).
    var asked: [(name: String, port: UInt16)] { peer.log.withLock { $0 } }

    init() throws {
        let sockets = try Upstream.bind()
        address = try sockets.datagrams.boundAddress()
        let peer = try Peer(sockets)
        self.peer = peer
        thread = Mutex(try Thread(named: "upstream") { peer.run() })
    }

    /// Binds a port that is free on both transports.
    private static func bind() throws -> Sockets {
        var attempts = 16
        while true {
            attempts -= 1
            let datagrams = try UDPSocket(
                serving: SocketAddress(ipv4: 0x7F00_0001, port: 0),
                shared: false
            )
            do {
                let streams = try StreamListener(
                    serving: datagrams.boundAddress(),
                    shared: false
                )
                return Sockets(datagrams: datagrams, streams: streams)
            } catch {
                if attempts == 0 { throw error }
            }
        }
    }

    func stop() {
        peer.stopping.signal()
        thread.withLock { $0.take()?.join() }
    }
}

struct Sockets: ~Copyable {
    var datagrams: UDPSocket
    var streams: StreamListener
    var connection = StreamSocket.none
}

/// What the upstream's thread and the test share.
private final class Peer: Sendable {
    let stopping: Wakeup
    let log = Mutex<[(name: String, port: UInt16)]>([])
    private let sockets: Mutex<Sockets?>

    init(_ sockets: consuming sending Sockets) throws {
        stopping = try Wakeup()
        self.sockets = Mutex(sockets)
    }

    func run() {
        guard var sockets = sockets.withLock({ $0.take() }) else { return }
        do {
            try run(&sockets)
        } catch {
            fatalError("the upstream: \(error)")
        }
    }

    private struct Due {
        let time: UInt64
        let message: [UInt8]
        let peer: SocketAddress?
    }

    private func run(_ sockets: inout Sockets) throws {
        var poller = try Poller()
        var inbound = InboundDatagrams()
        var outbound = OutboundDatagrams()
        var buffer = OctetBuffer(capacity: 1 << 16)
        var unread: [UInt8] = []
        var isDeaf = false
        var due: [Due] = []
        try poller.add(stopping.descriptor, for: .readable, as: .init(kind: 0, slot: 0))
        try poller.add(sockets.datagrams.descriptor, for: .readable, as: .init(kind: 1, slot: 0))
        try poller.add(sockets.streams.descriptor, for: .readable, as: .init(kind: 2, slot: 0))
        while true {
            let now = Clock.monotonic
            for index in 0..<poller.wait(until: due.map(\.time).min(), now: now) {
                switch poller.token(at: index).kind {
                case 0: return
                case 1:
                    let count = (try? sockets.datagrams.receive(&inbound)) ?? 0
                    for index in 0..<count {
                        let query = Peer.copy(inbound, index)
                        let peer = inbound.origin(at: index).peer
                        log.withLock { $0.append((Messages.name(query), peer.port)) }
                        plan(query, peer, &due)
                    }
                case 2:
                    var peer = SocketAddress.any(ipv4: true, port: 0)
                    if let socket = try sockets.streams.accept(from: &peer) {
                        sockets.connection = socket
                        unread = []
                        isDeaf = false
                        try poller.add(
                            sockets.connection.descriptor,
                            for: .readable,
                            as: .init(kind: 3, slot: 0)
                        )
                    }
                default:
                    switch (try? sockets.connection.read(into: &buffer, at: 0)) ?? .end {
                    case .octets(let count): unread += Peer.copy(buffer, count)
                    case .end: sockets.connection.close()
                    case .wouldBlock: break
                    }
                    while unread.count >= 2 {
                        let length = Int(unread[0]) << 8 | Int(unread[1])
                        guard unread.count >= 2 + length else { break }
                        let query = Array(unread[2..<(2 + length)])
                        unread.removeFirst(2 + length)
                        log.withLock { $0.append((Messages.name(query), 0)) }
                        if Messages.name(query).hasPrefix("tcpdeaf") { isDeaf = true }
                        if !isDeaf { plan(query, nil, &due) }
                    }
                }
            }
            let later = Clock.monotonic
            for answer in due where answer.time <= later {
                if let peer = answer.peer {
                    Peer.write(answer.message, peer, &outbound)
                    _ = sockets.datagrams.send(&outbound)
                } else if sockets.connection.isOpen {
                    var queue = OctetQueue()
                    queue.append(Messages.framed(answer.message).span)
                    try? sockets.connection.write(from: &queue)
                }
            }
            due.removeAll { $0.time <= later }
        }
    }

    private func plan(_ query: [UInt8], _ peer: SocketAddress?, _ due: inout [Due]) {
        let label = Messages.name(query).prefix { $0 != "." }
        guard label != "upnever" else { return }
        let delay = UInt64(label.drop { !$0.isNumber }) ?? 0
        let isTruncated = peer != nil && label.hasPrefix("tcp")
        due.append(
            Due(
                time: Clock.monotonic + delay * 1_000_000,
                message: Messages.answer(
                    to: query,
                    address: [198, 51, 100, 7],
                    isTruncated: isTruncated
                ),
                peer: peer
            )
        )
    }

    private static func copy(_ inbound: borrowing InboundDatagrams, _ index: Int) -> [UInt8] {
        let octets = inbound.octets(at: index)
        return (0..<octets.count).map { octets[$0] }
    }

    private static func copy(_ buffer: borrowing OctetBuffer, _ count: Int) -> [UInt8] {
        let octets = buffer.octets(0..<count)
        return (0..<count).map { octets[$0] }
    }

    private static func write(
        _ message: [UInt8],
        _ peer: SocketAddress,
        _ outbound: inout OutboundDatagrams
    ) {
        var room = outbound.room()
        for index in message.indices { room[index] = message[index] }
        outbound.append(message.count, to: peer, from: nil)
    }
}
