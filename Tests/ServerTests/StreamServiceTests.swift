import Platform
import Resolver
import Server
import Support
import Synchronization
import Testing

@Suite("Service over TCP", .serialized)
struct StreamServiceTests {
    @Test("a hundred queries with one id on one connection are all answered")
    func pipelining() async throws {
        try await Fixture.with(["127.0.0.1", "::1"]) { fixture in
            for address in fixture.addresses {
                let client = try StreamClient(to: address)
                let names = (0..<100).map { "n\($0).test" }
                let octets = names.flatMap { Messages.framed(Messages.query($0, id: 1)) }
                #expect(try client.send(octets) == octets.count)
                let responses = client.messages(100)
                #expect(responses.map(Messages.name) == names)
                #expect(responses.allSatisfy { Messages.id($0) == 1 })
                #expect(responses.allSatisfy { Messages.address($0) == "192.0.2.1" })
            }
        }
    }

    @Test("answers come as they are ready, whatever the order of the queries")
    func outOfOrder() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try StreamClient(to: fixture.address)
            let names = ["up400.example", "up20.example", "a.test", "tcp80.example"]
            let octets = names.flatMap { Messages.framed(Messages.query($0, id: 1)) }
            #expect(try client.send(octets) == octets.count)
            let order = client.messages(4).map(Messages.name)
            #expect(order == ["a.test", "up20.example", "tcp80.example", "up400.example"])
        }
    }

    @Test("after the client's half-close what is in flight is still answered, then it ends")
    func halfClose() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try StreamClient(to: fixture.address)
            let octets = ["a.test", "up100.example", "up150.example"].flatMap {
                Messages.framed(Messages.query($0, id: 1))
            }
            #expect(try client.send(octets) == octets.count)
            client.finish()
            #expect(client.messages(3).count == 3)
            #expect(client.ends())
            #expect(client.received.isEmpty)
        }
    }

    @Test("a client that sends octet by octet is answered")
    func octetByOctet() async throws {
        try await Fixture.with { fixture in
            let client = try StreamClient(to: fixture.address)
            for id in [1, 2] as [UInt16] {
                for octet in Messages.framed(Messages.query("slow.test", id: id)) {
                    #expect(try client.send([octet]) == 1)
                    client.receive(milliseconds: 1) { _ in false }
                }
                #expect(client.messages(1).map(Messages.id) == [id])
            }
        }
    }

    @Test("a query that is cut anywhere into two writes is answered")
    func cuts() async throws {
        try await Fixture.with { fixture in
            let client = try StreamClient(to: fixture.address)
            let octets =
                Messages.framed(Messages.query("a.test", id: 1))
                + Messages.framed(Messages.query("b.test", id: 2))
            for cut in 1..<octets.count {
                #expect(try client.send(Array(octets[..<cut])) == cut)
                client.receive(milliseconds: 2) { _ in false }
                #expect(try client.send(Array(octets[cut...])) == octets.count - cut)
                #expect(client.messages(2).map(Messages.id) == [1, 2])
            }
        }
    }

    @Test(
        "a client that does not speak DNS is closed at once",
        arguments: [
            "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
            "POST /dns-query HTTP/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
            "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{7c}\u{3}\u{3}aaaaaaaaaaaaaaaa",
            "\0\u{5}abcde", "\0\0", "EHLO mail.example.com\r\n",
        ]
    )
    func notDNS(text: String) async throws {
        try await Fixture.with { fixture in
            let client = try StreamClient(to: fixture.address)
            let start = Clock.monotonic
            _ = try client.send(Array(text.utf8))
            #expect(client.ends())
            #expect(Clock.monotonic - start < 500_000_000)
            #expect(client.received.isEmpty)
            #expect(try fixture.server.statistics().connectionsNotDNS == 1)
        }
    }

    @Test("what was asked before the stream broke is answered")
    func breaking() async throws {
        try await Fixture.with { fixture in
            let client = try StreamClient(to: fixture.address)
            let octets = Messages.framed(Messages.query("a.test", id: 1)) + [0, 3, 1, 2, 3]
            _ = try client.send(octets)
            #expect(client.messages(1).map(Messages.id) == [1])
            #expect(client.ends())
        }
    }

    @Test("garbage is survived")
    func garbage() async throws {
        try await Fixture.with { fixture in
            var random = SystemRandomNumberGenerator()
            for round in 0..<100 {
                let client = try StreamClient(to: fixture.address)
                var octets = (0..<Int.random(in: 1...3000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // Half of them as frames that look right.
                if round % 2 == 0 { octets = Messages.framed(octets) }
                _ = try? client.send(octets)
                client.receive(milliseconds: 1) { _ in false }
                client.close()
            }
            let client = try StreamClient(to: fixture.address)
            _ = try client.send(Messages.framed(Messages.query("a.test", id: 1)))
            #expect(client.messages(1).count == 1)
        }
    }

    @Test("a long stream of queries is answered whole, in whatever pieces it comes")
    func longStream() async throws {
        try await Fixture.with { fixture in
            let client = try StreamClient(to: fixture.address)
            let count = 20_000
            let query = Messages.framed(Messages.query("long.test", id: 1))
            var answered = 0
            var sent = 0
            while sent < count {
                let batch = min(4000, count - sent)
                let octets = Array(repeatElement(query, count: batch).joined())
                // A client that writes and does not read meanwhile must not be waited for by us.
                #expect(try client.send(octets) == octets.count)
                sent += batch
                answered += client.messages(batch, milliseconds: 5000).count
            }
            #expect(answered == count)
        }
    }

    @Test("a client that never reads is left unread, and holds nobody else up")
    func neverReading() async throws {
        var settings = Server.Settings()
        settings.idleMilliseconds = 700
        try await Fixture.with(settings: settings) { fixture in
            let client = try StreamClient(to: fixture.address)
            let other = try DatagramClient(to: fixture.address)
            let query = Messages.framed(Messages.query("never.test", id: 1))
            let octets = Array(repeatElement(query, count: 10_000).joined())
            var isStuck = false
            for _ in 0..<200 where try fixture.server.statistics().connectionsTimedOut == 0 {
                // The server takes what it may hold answers for, and no more.
                let taken = (try? client.send(octets, milliseconds: 50)) ?? 0
                if taken < octets.count { isStuck = true }
                #expect(other.ask(Messages.query("a.test", id: 1), milliseconds: 1000) != nil)
            }
            // And after a while it is closed, with what was held for it.
            #expect(isStuck)
            let statistics = try fixture.server.statistics()
            #expect(statistics.connectionsTimedOut == 1 && statistics.connectionsOpen == 0)
        }
    }

    @Test("connections full of queries keep no query over UDP waiting")
    func fullConnections() async throws {
        try await Fixture.with { fixture in
            let address = fixture.address
            let isOver = Mutex(false)
            let flood = try Thread(named: "flood") {
                let query = Messages.framed(Messages.query("a.test", id: 1))
                let octets = Array(repeatElement(query, count: 2_000).joined())
                var clients = (0..<40).compactMap { _ in
                    (try? StreamClient(to: address)).map { (client: $0, sent: 0) }
                }
                // Answers need not be read: so many fit into what the kernel keeps for a client.
                while !isOver.withLock({ $0 }) {
                    for index in clients.indices {
                        let rest = Array(octets[(clients[index].sent % query.count)...])
                        let sent = try? clients[index].client.send(rest, milliseconds: 0)
                        clients[index].sent += sent ?? 0
                    }
                }
            }
            let client = try DatagramClient(to: fixture.address)
            var answered: UInt64 = 0
            var streamed: UInt64 = 0
            while streamed < 300_000 {
                let reply = client.ask(Messages.query("a.test", id: 2), milliseconds: 5000)
                #expect(reply != nil)
                answered += 1
                streamed = try fixture.server.statistics().queriesTCP
            }
            isOver.withLock { $0 = true }
            flood.join()
            #expect(streamed / answered < 20_000, "\(streamed) between \(answered)")
        }
    }

    @Test("an idle connection is closed, one with a query in flight is not")
    func idle() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        var settings = Server.Settings()
        settings.idleMilliseconds = 150
        try await Fixture.with(upstream: upstream.address, settings: settings) { fixture in
            let idle = try StreamClient(to: fixture.address)
            let busy = try StreamClient(to: fixture.address)
            _ = try busy.send(Messages.framed(Messages.query("up400.example", id: 1)))
            let start = Clock.monotonic
            #expect(idle.ends())
            #expect(Clock.monotonic - start < 400_000_000)
            #expect(busy.messages(1).count == 1)
            #expect(busy.ends())
        }
    }

    @Test("a client over its limit displaces its own oldest idle connection")
    func perClient() async throws {
        var limits = Policy.Limits()
        limits.connectionsPerClient = 2
        try await Fixture.with(limits: limits) { fixture in
            var clients: [StreamClient] = []
            for _ in 0..<3 {
                let client = try StreamClient(to: fixture.address)
                _ = try client.send(Messages.framed(Messages.query("a.test", id: 1)))
                #expect(client.messages(1).count == 1)
                clients.append(client)
            }
            #expect(clients[0].ends())
            for index in [1, 2] {
                _ = try clients[index].send(Messages.framed(Messages.query("a.test", id: 2)))
                #expect(clients[index].messages(1).count == 1)
            }
            let statistics = try fixture.server.statistics()
            #expect(statistics.connectionsOpen == 2 && statistics.connectionsDisplaced == 1)
        }
    }

    @Test(
        "when all are in use, the oldest idle one makes room; when none is idle, the new one goes"
    )
    func total() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        var settings = Server.Settings()
        settings.connections = 2
        try await Fixture.with(upstream: upstream.address, settings: settings) { fixture in
            let first = try StreamClient(to: fixture.address)
            _ = try first.send(Messages.framed(Messages.query("up500.example", id: 1)))
            let second = try StreamClient(to: fixture.address)
            _ = try second.send(Messages.framed(Messages.query("a.test", id: 1)))
            #expect(second.messages(1).count == 1)
            let third = try StreamClient(to: fixture.address)
            _ = try third.send(Messages.framed(Messages.query("up500.example.org", id: 1)))
            #expect(second.ends())
            let fourth = try StreamClient(to: fixture.address)
            #expect(fourth.ends())
            #expect(first.messages(1).count == 1)
            #expect(third.messages(1).count == 1)
            let statistics = try fixture.server.statistics()
            #expect(statistics.connectionsDisplaced == 1 && statistics.connectionsRefused == 1)
        }
    }
}
