import Platform
import Server
import Support
import Testing

@Suite("Service over UDP", .serialized)
struct DatagramServiceTests {
    @Test("answers an overridden name, over IPv4 and IPv6")
    func overrides() async throws {
        try await Fixture.with(["127.0.0.1", "::1"]) { fixture in
            for address in fixture.addresses {
                let client = try DatagramClient(to: address)
                let response = try #require(client.ask(Messages.query("a.test", id: 7)))
                #expect(Messages.id(response) == 7)
                #expect(Messages.address(response) == "192.0.2.1")
            }
        }
    }

    @Test("replies leave from the address that was asked", arguments: ["0.0.0.0", "::"])
    func source(any: String) async throws {
        try await Fixture.with([any]) { fixture in
            let hosts = any == "::" ? ["::1"] : ["127.0.0.1", "127.0.0.2", "127.9.9.9"]
            for host in hosts {
                let address = try #require(
                    SocketAddress(scanning: host, port: 0)
                ).withPort(fixture.address.port)
                // Connected, and so deaf to every other address.
                let client = try DatagramClient(to: address)
                let response = try #require(client.ask(Messages.query("a.test", id: 1)))
                #expect(Messages.address(response) == "192.0.2.1")
            }
        }
    }

    @Test("late replies leave from the address that was asked, too")
    func lateSource() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(["0.0.0.0", "127.0.0.1"], upstream: upstream.address) { fixture in
            for (host, port) in [("127.0.0.3", 0), ("127.0.0.1", 1)] {
                let address = try #require(
                    SocketAddress(scanning: host, port: 0)
                ).withPort(fixture.addresses[port].port)
                let client = try DatagramClient(to: address)
                let response = try #require(client.ask(Messages.query("up5.example", id: 9)))
                #expect(Messages.id(response) == 9)
                #expect(Messages.address(response) == "198.51.100.7")
            }
        }
    }

    @Test("a burst is answered whole, by several workers")
    func burst() async throws {
        try await Fixture.with(workers: 3) { fixture in
            let clients = try (0..<10).map { _ in try DatagramClient(to: fixture.address) }
            for index in clients.indices {
                for id in 0..<100 {
                    clients[index].send(Messages.query("n\(id).test", id: UInt16(id)))
                }
            }
            for index in clients.indices {
                var ids: Set<UInt16> = []
                for _ in 0..<100 {
                    guard let response = clients[index].receive() else { break }
                    #expect(Messages.name(response) == "n\(Messages.id(response)).test")
                    ids.insert(Messages.id(response))
                }
                #expect(ids.count == 100)
            }
            let statistics = try fixture.server.statistics()
            #expect(statistics.queriesUDP == 1000 && statistics.answeredAtOnce == 1000)
        }
    }

    @Test("garbage is survived, and a response is not answered")
    func garbage() async throws {
        try await Fixture.with { fixture in
            let client = try DatagramClient(to: fixture.address)
            var random = SystemRandomNumberGenerator()
            for length in 0..<200 {
                client.send((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
            }
            client.send([UInt8](repeating: 0, count: 9000))
            while client.receive(milliseconds: 50) != nil {}
            var response = Messages.query("a.test", id: 3)
            response[2] |= 0x80
            #expect(client.ask(response, milliseconds: 50) == nil)
            #expect(client.ask(Messages.query("a.test", id: 4)) != nil)
            #expect(try fixture.server.statistics().datagramsTooLong == 1)
        }
    }

    @Test("a slow upstream blocks nobody")
    func slowUpstream() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            for id in 0..<20 {
                client.send(Messages.query("up300.n\(id).example", id: UInt16(id)))
            }
            client.send(Messages.query("upnever.example", id: 99))
            let start = Clock.monotonic
            let quick = try #require(client.ask(Messages.query("a.test", id: 500)))
            #expect(Messages.id(quick) == 500)
            #expect(Clock.monotonic - start < 150_000_000)
            var ids: Set<UInt16> = []
            for _ in 0..<20 {
                guard let response = client.receive() else { break }
                #expect(Messages.address(response) == "198.51.100.7")
                ids.insert(Messages.id(response))
            }
            #expect(ids.count == 20)
        }
    }

    @Test("queries go upstream from many ports")
    func upstreamPorts() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            for id in 0..<200 {
                let query = Messages.query("up0.n\(id).example", id: UInt16(id))
                let response = try #require(client.ask(query))
                #expect(Messages.id(response) == UInt16(id))
            }
            let ports = Set(upstream.asked.map(\.port))
            #expect(ports.count > 20)
            let statistics = try fixture.server.statistics()
            #expect(statistics.upstreamQueriesUDP >= 200 && statistics.answeredLater == 200)
        }
    }

    @Test("an upstream that refuses is reported at once, not waited for")
    func refusingUpstream() async throws {
        let upstream = try Upstream()
        upstream.stop()
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            let start = Clock.monotonic
            let response = try #require(client.ask(Messages.query("up1.example", id: 5)))
            #expect(Messages.responseCode(response) == 2)
            #expect(Clock.monotonic - start < 1_500_000_000)
            #expect(try fixture.server.statistics().upstreamFailures > 0)
        }
    }

    @Test("a query that goes upstream over TCP is answered")
    func upstreamTCP() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            for id in 0..<50 {
                client.send(Messages.query("tcp1.n\(id).example", id: UInt16(id)))
            }
            var ids: Set<UInt16> = []
            for _ in 0..<50 {
                guard let response = client.receive() else { break }
                #expect(Messages.address(response) == "198.51.100.7")
                ids.insert(Messages.id(response))
            }
            #expect(ids.count == 50)
            #expect(upstream.asked.contains { $0.port == 0 })
        }
    }

    @Test("a connection to an upstream that brings nothing any more gives way to another")
    func deafStream() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            let first = client.ask(Messages.query("tcp1.example", id: 1))
            #expect(first.map(Messages.address) == "198.51.100.7")
            client.send(Messages.query("tcpdeaf.example", id: 2))
            // Others go on asking all the time: the connection never idles.
            let start = Clock.monotonic
            var isAnswered = false
            var id: UInt16 = 3
            while !isAnswered, Clock.monotonic - start < 10_000_000_000 {
                client.send(Messages.query("tcp1.n\(id).example", id: id))
                id += 1
                while let reply = client.receive(milliseconds: 100) {
                    if Messages.address(reply) == "198.51.100.7" { isAnswered = true }
                }
            }
            #expect(isAnswered)
        }
    }

    @Test("another policy is adopted without a query being lost")
    func adopting() async throws {
        let first = try Upstream()
        defer { first.stop() }
        let second = try Upstream()
        defer { second.stop() }
        try await Fixture.with(upstream: first.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            #expect(client.ask(Messages.query("up0.example", id: 1)) != nil)
            fixture.server.adopt(Fixture.policy(upstream: second.address))
            #expect(client.ask(Messages.query("up0.example.org", id: 2)) != nil)
            #expect(second.asked.map(\.name) == ["up0.example.org"])
            fixture.server.adopt(Fixture.policy(upstream: nil))
            #expect(client.ask(Messages.query("a.test", id: 3)) != nil)
        }
    }
}
