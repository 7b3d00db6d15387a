import Platform
import Support

/// What a C library does for getaddrinfo(3): A and AAAA at once, from one socket.
enum Stub {
    /// The replies to both questions, with the ids 1 and 2; over TCP both are in one segment.
    static func addresses(
        _ name: String,
        port: UInt16,
        tcp: Bool = false
    ) async throws -> [[UInt8]] {
        let questions = [
            Messages.query(name, id: 1, type: 1), Messages.query(name, id: 2, type: 28),
        ]
        return try await exchange(questions, port: port, tcp: tcp)
    }

    /// Sends all messages without waiting, then takes as many replies.
    static func exchange(
        _ messages: [[UInt8]],
        port: UInt16,
        tcp: Bool = false,
        thenFinish: Bool = false
    ) async throws -> [[UInt8]] {
        let address = SocketAddress(ipv4: 0x7F00_0001, port: port)
        return try await withTaskExecutorPreference(WaitingThread.shared) {
            if tcp {
                let client = try StreamClient(to: address)
                defer { client.close() }
                _ = try client.send(messages.flatMap(Messages.framed))
                if thenFinish { client.finish() }
                return client.messages(messages.count, milliseconds: 5000)
            }
            let client = try DatagramClient(to: address)
            for message in messages { client.send(message) }
            var replies: [[UInt8]] = []
            while replies.count < messages.count, let reply = client.receive() {
                replies.append(reply)
            }
            return replies
        }
    }
}
