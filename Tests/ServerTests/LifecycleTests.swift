import Platform
import Server
import Support
import Testing

@Suite("A server's life", .serialized)
struct LifecycleTests {
    @Test("a graceful stop answers what is in flight, over both transports")
    func gracefulStop() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let datagrams = try DatagramClient(to: fixture.address)
            let stream = try StreamClient(to: fixture.address)
            let idle = try StreamClient(to: fixture.address)
            datagrams.send(Messages.query("up300.example", id: 1))
            _ = try stream.send(Messages.framed(Messages.query("up350.example", id: 2)))
            while try fixture.server.statistics().upstreamQueriesUDP < 2 {}
            let start = Clock.monotonic
            fixture.server.stop()
            let duration = Clock.monotonic - start
            #expect(duration >= 200_000_000 && duration < 1_500_000_000)
            #expect(datagrams.receive(milliseconds: 0).map(Messages.id) == 1)
            #expect(stream.messages(1, milliseconds: 0).map(Messages.id) == [2])
            #expect(stream.ends() && idle.ends())
            // The statistics outlive the workers.
            #expect(try fixture.server.statistics().answeredLater == 2)
        }
    }

    @Test("a stop waits no longer than it was told")
    func grace() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        var settings = Server.Settings()
        settings.graceMilliseconds = 200
        try await Fixture.with(upstream: upstream.address, settings: settings) { fixture in
            let client = try DatagramClient(to: fixture.address)
            client.send(Messages.query("upnever.example", id: 1))
            while try fixture.server.statistics().queriesUDP < 1 {}
            let start = Clock.monotonic
            fixture.server.stop()
            let duration = Clock.monotonic - start
            #expect(duration >= 190_000_000 && duration < 800_000_000)
        }
    }

    @Test("a stop with nothing in flight takes no time, and can be repeated")
    func quickStop() async throws {
        try await Fixture.with(workers: 2) { fixture in
            let start = Clock.monotonic
            fixture.server.stop()
            fixture.server.stop()
            #expect(Clock.monotonic - start < 300_000_000)
        }
    }

    @Test("what arrived before the stop is answered")
    func lastQueries() async throws {
        try await Fixture.with { fixture in
            let client = try DatagramClient(to: fixture.address)
            for id in 0..<50 { client.send(Messages.query("a.test", id: UInt16(id))) }
            fixture.server.stop()
            var count = 0
            while client.receive(milliseconds: 0) != nil { count += 1 }
            #expect(count == 50)
        }
    }

    @Test("a port that another holds is an error that says who")
    func inUse() async throws {
        try await Fixture.with { fixture in
            do throws(ListenError) {
                _ = try ListeningSockets(binding: [fixture.address], workers: 1)
                Issue.record("bound twice")
            } catch {
                #expect(error.address == fixture.address && error.error == .addressInUse)
                #expect(error.transport == .udp)
                #expect(error.holder != nil)
            }
        }
    }

    @Test("an address is served beside one that it is part of, and once when it is given twice")
    func overlapping() throws {
        let any = SocketAddress.any(ipv4: true, port: 0)
        let port = try ListeningSockets(binding: [any], workers: 1).addresses[0].port
        let loopback = SocketAddress(ipv4: 0x7F00_0001, port: port)
        let sockets = try ListeningSockets(
            binding: [any.withPort(port), loopback, loopback],
            workers: 2
        )
        #expect(sockets.addresses == [any.withPort(port), loopback])
    }

    @Test("UDP and TCP have one port, and every worker has both")
    func ports() throws {
        let any = SocketAddress.any(ipv4: true, port: 0)
        let sockets = try ListeningSockets(binding: [any], workers: 2)
        #expect(sockets.addresses.count == 1)
        #expect(sockets.addresses[0].port != 0)
    }
}
