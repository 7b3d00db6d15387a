import CAllocations
import Platform
import Resolver
import Server
import Support
import Testing

/// In the steady state a query allocates nothing. A promise of optimised code: without the
/// optimiser, a loop over an array allocates its iterator.
@Suite("A worker allocates nothing", .serialized, .enabled(if: allocationsAreMeaningful))
struct AllocationTests {
    /// Counts what the workers allocate while `body` runs.
    private static func count(_ body: () throws -> Void) rethrows -> UInt64 {
        // Safe: the text is copied before the call returns.
        unsafe allocations_begin("worker")
        try body()
        return allocations_end()
    }

    @Test("for an override over UDP")
    func overrideUDP() async throws {
        try await Fixture.with { fixture in
            let client = try DatagramClient(to: fixture.address)
            func ask() {
                for id in 0..<200 {
                    #expect(client.ask(Messages.query("n\(id).test", id: UInt16(id))) != nil)
                }
            }
            ask()
            #expect(Self.count(ask) == 0)
        }
    }

    @Test("for an override over TCP, pipelined")
    func overrideTCP() async throws {
        try await Fixture.with { fixture in
            let client = try StreamClient(to: fixture.address)
            let octets = (0..<50).flatMap { Messages.framed(Messages.query("n\($0).test", id: 1)) }
            func ask() throws {
                for _ in 0..<20 {
                    _ = try client.send(octets)
                    #expect(client.messages(50).count == 50)
                }
            }
            try ask()
            #expect(try Self.count(ask) == 0)
        }
    }

    @Test("for a query over the limit, truncated or dropped")
    func overLimit() async throws {
        var limits = Policy.Limits()
        limits.queries = 100
        limits.burst = 1
        try await Fixture.with(limits: limits) { fixture in
            let client = try DatagramClient(to: fixture.address)
            func ask() {
                for id in 0..<200 { client.send(Messages.query("n\(id).test", id: UInt16(id))) }
                while client.receive(milliseconds: 50) != nil {}
            }
            ask()
            #expect(Self.count(ask) == 0)
            let counts = try fixture.server.report().resolver
            #expect(counts.overRateDropped > 100 && counts.overRateTruncated > 0)
        }
    }

    @Test("for an answer out of the cache")
    func cached() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            func ask() {
                for id in 0..<200 {
                    let query = Messages.query("up0.n\(id % 10).example", id: UInt16(id))
                    #expect(client.ask(query) != nil)
                }
            }
            ask()
            #expect(Self.count(ask) == 0)
            #expect(upstream.asked.count <= 11)
        }
    }

    @Test("for a forwarded query, over UDP and TCP")
    func forwarded() async throws {
        let upstream = try Upstream()
        defer { upstream.stop() }
        try await Fixture.with(upstream: upstream.address) { fixture in
            let client = try DatagramClient(to: fixture.address)
            let stream = try StreamClient(to: fixture.address)
            var number = 0
            func ask() throws {
                for _ in 0..<300 {
                    number += 1
                    let query = Messages.query("up0.n\(number).example", id: UInt16(number))
                    #expect(client.ask(query) != nil)
                    let other = Messages.query("up0.s\(number).example", id: UInt16(number))
                    _ = try stream.send(Messages.framed(other))
                    #expect(stream.messages(1).count == 1)
                }
            }
            try ask()
            #expect(try Self.count(ask) == 0)
        }
    }
}

private var allocationsAreMeaningful: Bool {
    #if DEBUG
        false
    #else
        allocations_are_counted()
    #endif
}
