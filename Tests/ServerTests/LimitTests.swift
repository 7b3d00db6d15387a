import DNS
import Platform
import Resolver
import Server
import Support
import Testing

@Suite("Limits of clients", .serialized)
struct LimitTests {
    private func limits(_ change: (inout Policy.Limits) -> Void) -> Policy.Limits {
        var limits = Policy.Limits()
        change(&limits)
        return limits
    }

    /// Sends so many queries at once, and counts the answers with an address and those with TC.
    private func flood(
        _ fixture: Fixture,
        _ count: Int
    ) throws -> (answered: Int, truncated: Int) {
        let client = try DatagramClient(to: fixture.address)
        for id in 0..<count { client.send(Messages.query("a.test", id: UInt16(id))) }
        var answered = 0
        var truncated = 0
        while let reply = client.receive(milliseconds: 300) {
            if Messages.address(reply) == "192.0.2.1" { answered += 1 }
            if reply[2] & 0x02 != 0 {
                truncated += 1
                #expect(Messages.responseCode(reply) == 0 && reply.count < 40)
            }
        }
        return (answered, truncated)
    }

    @Test("a flood over UDP is answered, then truncated, then dropped; over TCP it goes on")
    func rate() async throws {
        let limits = limits {
            $0.queries = 1
            $0.burst = 20
        }
        try await Fixture.with(workers: 2, limits: limits) { fixture in
            let first = try flood(fixture, 100)
            // A second or two may have passed.
            #expect((20...23).contains(first.answered) && (20...23).contains(first.truncated))
            // The other worker, or the same: one allowance for the client.
            let second = try flood(fixture, 100)
            #expect(second.answered <= 3 && second.truncated <= 3)
            let stream = try StreamClient(to: fixture.address)
            _ = try stream.send(Messages.framed(Messages.query("a.test", id: 7)))
            #expect(stream.messages(1).map(Messages.address) == ["192.0.2.1"])
            let report = try fixture.server.report()
            #expect(report.resolver.overRateTruncated >= 20)
            #expect(report.resolver.overRateDropped >= 100)
            let client = IPPrefix(IPAddress(fixture.address), length: 128)
            let reached = [ReachedLimit(client: client, kind: .queries)]
            #expect(fixture.server.takeReachedLimits() == reached)
            #expect(fixture.server.takeReachedLimits() == [])
        }
    }

    @Test("who asks too much over TCP is read later: all is answered, at the rate that is allowed")
    func streams() async throws {
        let limits = limits {
            $0.queries = 200
            $0.burst = 10
        }
        try await Fixture.with(limits: limits) { fixture in
            let stream = try StreamClient(to: fixture.address)
            let queries = (0..<110).flatMap { id in
                Messages.framed(Messages.query("a.test", id: UInt16(id)))
            }
            let start = Clock.monotonic
            _ = try stream.send(queries)
            // The client has said all: what waits is answered all the same.
            stream.finish()
            let answers = stream.messages(110, milliseconds: 5000)
            let duration = Clock.monotonic - start
            #expect(answers.map(Messages.id) == (0..<110).map { UInt16($0) })
            #expect(duration >= 450_000_000, "100 queries behind the burst at 200 a second")
            #expect(stream.ends())
            let paused = try fixture.server.statistics().connectionsPaused
            #expect(paused > 10)
            // Over UDP nothing has been used up.
            let datagrams = try flood(fixture, 10)
            #expect(datagrams.answered == 10)
        }
    }

    @Test("so many forwarded queries of a client wait, over both transports; more are SERVFAIL")
    func waiting() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        let limits = limits { $0.waiting = 3 }
        try await Fixture.with(upstream: upstream.address, limits: limits) { fixture in
            let client = try DatagramClient(to: fixture.address)
            let stream = try StreamClient(to: fixture.address)
            for round in 0..<3 {
                for id in 0..<2 {
                    client.send(Messages.query("up300.r\(round)n\(id).example", id: UInt16(id)))
                }
                _ = try stream.send(
                    Messages.framed(Messages.query("up300.r\(round)s.example", id: 1))
                )
                while try fixture.server.report().resolver.waited < UInt64(3 * round + 3) {}
                let over = try #require(client.ask(Messages.query("up1.more.example", id: 9)))
                #expect(Messages.responseCode(over) == 2 && Messages.id(over) == 9)
                // Overrides are not forwarded.
                let own = try #require(client.ask(Messages.query("a.test", id: 10)))
                #expect(Messages.address(own) == "192.0.2.1")
                #expect(
                    Set([client.receive(), client.receive()].compactMap { $0 }.map(Messages.id))
                        == [0, 1]
                )
                #expect(stream.messages(1).map(Messages.id) == [1])
            }
            let refused = try fixture.server.report().resolver.tooManyWaiting
            #expect(refused == 3)
        }
    }

    @Test("connections of a client are counted over all workers")
    func connections() async throws {
        let limits = limits { $0.connectionsPerClient = 4 }
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(workers: 2, upstream: upstream.address, limits: limits) { fixture in
            var busy: [StreamClient] = []
            for id in 0..<4 {
                let client = try StreamClient(to: fixture.address)
                _ = try client.send(
                    Messages.framed(Messages.query("up800.n\(id).example", id: UInt16(id)))
                )
                busy.append(client)
            }
            while try fixture.server.report().resolver.waited < 4 {}
            // None of them is idle.
            let fifth = try StreamClient(to: fixture.address)
            #expect(fifth.ends())
            for client in busy { #expect(client.messages(1).count == 1) }
            for client in busy { client.close() }
            while try fixture.server.report().server.connectionsOpen > 0 {}
            let sixth = try StreamClient(to: fixture.address)
            _ = try sixth.send(Messages.framed(Messages.query("a.test", id: 1)))
            #expect(sixth.messages(1).count == 1)
            let statistics = try fixture.server.statistics()
            #expect(statistics.connectionsRefused == 1 && statistics.connectionsOpen == 1)
        }
    }

    @Test("other limits are adopted with another policy")
    func reload() async throws {
        let few = limits {
            $0.queries = 1
            $0.burst = 5
        }
        try await Fixture.with(limits: few) { fixture in
            let before = try flood(fixture, 30)
            #expect(before.answered <= 7)
            let many = limits {
                $0.queries = 100_000
                $0.burst = 100
            }
            fixture.server.adopt(Fixture.policy(upstream: nil, limits: many))
            // The first is still in debt.
            _ = try flood(fixture, 1)
            let after = try flood(fixture, 30)
            #expect(after.answered == 30)
        }
    }
}
