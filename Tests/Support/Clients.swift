package import Platform

/// A client over TCP. Each call waits for so long and no longer.
package final class StreamClient {
    private var socket: StreamSocket
    private var poller: Poller
    private var buffer = OctetBuffer(capacity: 1 << 16)
    /// What came and was not yet taken as a message.
    package private(set) var received: [UInt8] = []
    /// The server has ended or broken the connection.
    package private(set) var isEnded = false

    package init(to address: SocketAddress) throws {
        socket = try StreamSocket(connectingTo: address)
        poller = try Poller()
        try poller.add(socket.descriptor, for: .writable, as: .init(kind: 0, slot: 0))
        let now = Clock.monotonic
        _ = poller.wait(until: now + 1_000_000_000, now: now)
        if let error = socket.connectionError { throw error }
        try poller.change(socket.descriptor, to: .readable, as: .init(kind: 0, slot: 0))
    }

    /// Sends octets; gives how many the server's side took within the time.
    package func send(_ octets: [UInt8], milliseconds: UInt64 = 2000) throws -> Int {
        let end = Clock.monotonic + milliseconds * 1_000_000
        var queue = OctetQueue()
        queue.append(octets.span)
        while !queue.isEmpty {
            try socket.write(from: &queue)
            if queue.isEmpty { break }
            let now = Clock.monotonic
            try poller.change(
                socket.descriptor,
                to: [.writable, .readable],
                as: .init(kind: 0, slot: 0)
            )
            _ = poller.wait(until: min(end, now + 10_000_000), now: now)
            try poller.change(socket.descriptor, to: .readable, as: .init(kind: 0, slot: 0))
            if now >= end { break }
        }
        return octets.count - queue.count
    }

    /// Says that no more will be sent.
    package func finish() { socket.finishWriting() }

    /// Reads what comes until `isEnough`, the end of the connection or of the time.
    package func receive(
        milliseconds: UInt64 = 2000,
        until isEnough: ([UInt8]) -> Bool
    ) {
        let end = Clock.monotonic + milliseconds * 1_000_000
        while !isEnough(received) && !isEnded {
            do {
                switch try socket.read(into: &buffer, at: 0) {
                case .octets(let count): append(count)
                case .end: isEnded = true
                case .wouldBlock:
                    let now = Clock.monotonic
                    if now >= end { return }
                    _ = poller.wait(until: end, now: now)
                }
            } catch {
                isEnded = true
            }
        }
    }

    private func append(_ count: Int) {
        received += StreamClient.copy(buffer, count)
    }

    private static func copy(_ buffer: borrowing OctetBuffer, _ count: Int) -> [UInt8] {
        let octets = buffer.octets(0..<count)
        return (0..<count).map { octets[$0] }
    }

    /// The next `count` messages; fewer when they do not come in time.
    package func messages(_ count: Int, milliseconds: UInt64 = 2000) -> [[UInt8]] {
        receive(milliseconds: milliseconds) { StreamClient.frames($0).messages.count >= count }
        let frames = StreamClient.frames(received)
        let taken = Array(frames.messages.prefix(count))
        received.removeFirst(taken.reduce(0) { $0 + 2 + $1.count })
        return taken
    }

    /// Whether the server ends the connection within the time.
    package func ends(milliseconds: UInt64 = 2000) -> Bool {
        receive(milliseconds: milliseconds) { _ in false }
        return isEnded
    }

    private static func frames(_ octets: [UInt8]) -> (messages: [[UInt8]], used: Int) {
        var messages: [[UInt8]] = []
        var position = 0
        while position + 2 <= octets.count {
            let length = Int(octets[position]) << 8 | Int(octets[position + 1])
            guard position + 2 + length <= octets.count else { break }
            messages.append(Array(octets[(position + 2)..<(position + 2 + length)]))
            position += 2 + length
        }
        return (messages, position)
    }

    package func close() { socket.close() }
}

/// A client over UDP, on a port of its own, that hears only the address it asks.
package final class DatagramClient {
    private var socket: UDPSocket
    private var poller: Poller
    private var outbound = OutboundDatagrams()
    private var inbound = InboundDatagrams()
    private var waiting: [[UInt8]] = []

    package init(to address: SocketAddress) throws {
        var random = Random()
        socket = try UDPSocket(connectedTo: address, drawingFrom: &random)
        poller = try Poller()
        try poller.add(socket.descriptor, for: .readable, as: .init(kind: 0, slot: 0))
    }

    package func send(_ message: [UInt8]) {
        DatagramClient.write(message, &outbound)
        _ = socket.send(&outbound)
    }

    private static func write(_ message: [UInt8], _ outbound: inout OutboundDatagrams) {
        var room = outbound.room()
        for index in message.indices { room[index] = message[index] }
        outbound.append(message.count)
    }

    /// The next datagram, or nil when none comes in time.
    package func receive(milliseconds: UInt64 = 2000) -> [UInt8]? {
        let end = Clock.monotonic + milliseconds * 1_000_000
        while waiting.isEmpty {
            let count = (try? socket.receive(&inbound)) ?? 0
            if count > 0 {
                waiting = DatagramClient.copy(inbound)
                break
            }
            let now = Clock.monotonic
            if now >= end { return nil }
            _ = poller.wait(until: end, now: now)
        }
        return waiting.removeFirst()
    }

    private static func copy(_ inbound: borrowing InboundDatagrams) -> [[UInt8]] {
        (0..<inbound.count).map { index in
            let octets = inbound.octets(at: index)
            return (0..<octets.count).map { octets[$0] }
        }
    }

    /// Sends a query and gives the response to it.
    package func ask(_ message: [UInt8], milliseconds: UInt64 = 2000) -> [UInt8]? {
        send(message)
        return receive(milliseconds: milliseconds)
    }
}
