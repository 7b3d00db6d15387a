import Platform
import Resolver
import Server
import Support

/// A whole worker, asked over loopback. Its thread is called "worker 0"; this one is not counted.
enum ServerRun {
    static func measureAll() -> Int32 {
        let result = Counted()
        do {
            // A thread of another name: what the client allocates is its own affair.
            let thread = try Thread(named: "client", stackOctets: 8 << 20) {
                result.failures = (try? measure()) ?? 1
            }
            thread.join()
        } catch {
            return 1
        }
        return result.failures
    }

    /// What the thread hands over; read after it has been joined.
    private final class Counted: @unchecked Sendable {
        var failures: Int32 = 1
    }

    private static func measure() throws -> Int32 {
        let loopback = SocketAddress(ipv4: 0x7F00_0001, port: 0)
        var upstream = try UDPSocket(serving: loopback, shared: false)
        let sockets = try ListeningSockets(binding: [loopback], workers: 1)
        let address = sockets.addresses[0]
        let policy = Allocations.policy(upstream: try upstream.boundAddress())
        let server = try Server(serving: sockets, under: policy, cache: Cache(seed: 1))
        defer { server.stop() }

        let datagrams = try DatagramClient(to: address)
        let stream = try StreamClient(to: address)
        for number in 0..<100 {
            datagrams.send(Messages.query("n\(number).example", id: UInt16(number)))
            try answerOne(&upstream)
            _ = datagrams.receive()
        }
        var failures: Int32 = 0
        for domain in ["test", "example"] {
            let queries = (0..<100).map { Messages.query("n\($0).\(domain)", id: UInt16($0)) }
            var answers = 0
            func askDatagrams() {
                for query in queries where datagrams.ask(query) != nil { answers += 1 }
            }
            func askStream() {
                _ = try? stream.send(queries.flatMap(Messages.framed))
                answers += stream.messages(queries.count).count
            }
            for (transport, ask) in [("UDP", askDatagrams), ("TCP", askStream)] {
                for _ in 0..<5 { ask() }
                answers = 0
                let count = Allocations.count { for _ in 0..<50 { ask() } }
                failures += Allocations.report(
                    "worker, \(domain == "test" ? "override" : "cached") over \(transport)",
                    count,
                    of: answers,
                    isRight: count == 0 && answers == 50 * queries.count
                )
            }
        }
        server.adopt(Allocations.policy(upstream: try upstream.boundAddress(), queries: 10))
        return failures + measureOverLimit(server, datagrams)
    }

    /// What a client asks beyond its limit is truncated, and then dropped.
    private static func measureOverLimit(_ server: Server, _ client: DatagramClient) -> Int32 {
        let queries = (0..<100).map { Messages.query("n\($0).test", id: UInt16($0)) }
        func flood() {
            for query in queries { client.send(query) }
            while client.receive(milliseconds: 50) != nil {}
        }
        flood()
        let before = (try? server.report().resolver) ?? ResolverStatistics()
        let count = Allocations.count { for _ in 0..<10 { flood() } }
        let after = (try? server.report().resolver) ?? ResolverStatistics()
        let dropped = after.overRateDropped - before.overRateDropped
        return Allocations.report(
            "worker, more than is allowed over UDP",
            count,
            of: Int(dropped),
            isRight: count == 0 && dropped > 500
                && after.overRateTruncated > before.overRateTruncated
        )
    }

    /// Answers one query as an upstream does.
    private static func answerOne(_ socket: inout UDPSocket) throws {
        var inbound = InboundDatagrams()
        var outbound = OutboundDatagrams()
        let end = Clock.monotonic + 2_000_000_000
        while Clock.monotonic < end {
            guard try socket.receive(&inbound) > 0 else { continue }
            for index in 0..<inbound.count {
                let query = copy(inbound, index)
                let answer = Messages.answer(to: query, address: [192, 0, 2, 1])
                write(answer, &outbound)
                outbound.append(answer.count, to: inbound.origin(at: index).peer, from: nil)
            }
            _ = socket.send(&outbound)
            return
        }
    }

    private static func copy(_ inbound: borrowing InboundDatagrams, _ index: Int) -> [UInt8] {
        let octets = inbound.octets(at: index)
        return (0..<octets.count).map { octets[$0] }
    }

    private static func write(_ message: [UInt8], _ outbound: inout OutboundDatagrams) {
        var room = outbound.room()
        for index in message.indices { room[index] = message[index] }
    }
}
