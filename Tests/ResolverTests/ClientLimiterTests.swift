import DNS
import Testing

@testable import Resolver

@Suite("What clients may ask for")
struct ClientLimiterTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    private func limits(_ change: (inout Policy.Limits) -> Void) -> Policy.Limits {
        var limits = Policy.Limits()
        limits.queries = 100
        limits.burst = 10
        change(&limits)
        return limits
    }

    private func limiter(_ change: (inout Policy.Limits) -> Void = { _ in }) -> ClientLimiter {
        ClientLimiter(limits(change), in: ClientTable(seed: (0x1234_5678_9ABC_DEF1, 77)))
    }

    private func address(_ text: String) throws -> IPAddress {
        try #require(IPAddress(scanning: text))
    }

    /// How many of so many queries at one moment are answered.
    private func answered(
        _ count: Int,
        _ limiter: ClientLimiter,
        _ address: IPAddress,
        at now: Instant
    ) -> Int {
        (0..<count).count { _ in limiter.answers(address, at: now) }
    }

    @Test("a burst is answered, then as many a second as allowed, however long nothing was asked")
    func rate() throws {
        let limiter = limiter()
        let client = try address("192.0.2.1")
        #expect(answered(50, limiter, client, at: start) == 10)
        #expect(answered(50, limiter, client, at: start.advanced(byMilliseconds: 50)) == 5)
        #expect(answered(50, limiter, client, at: start.advanced(byMilliseconds: 60)) == 1)
        #expect(answered(50, limiter, client, at: start.advanced(byMilliseconds: 90_000)) == 10)
        // One that keeps asking is answered at its rate for ever.
        var count = 0
        for step in 0..<1000 {
            let now = start.advanced(byMilliseconds: 90_000 + UInt64(step))
            count += answered(5, limiter, client, at: now)
        }
        #expect((99...100).contains(count))
    }

    @Test("what is not answered is truncated as often again, and then gets nothing")
    func truncation() throws {
        let limiter = limiter()
        let client = try address("192.0.2.1")
        #expect(answered(50, limiter, client, at: start) == 10)
        #expect((0..<50).count { _ in limiter.truncates(client, at: start) } == 10)
        // Another allowance than that of streams.
        let key = limiter.key(of: client)
        #expect((0..<50).count { _ in limiter.reads(key, from: client, at: start) } == 10)
    }

    @Test(
        "a client is an address, or a network of the length that is configured",
        arguments: [
            ("192.0.2.1", "192.0.2.1", 32, true), ("192.0.2.1", "192.0.2.2", 32, false),
            ("192.0.2.1", "192.0.2.200", 24, true), ("192.0.2.1", "192.0.3.1", 24, false),
            ("2001:db8::1", "2001:db8::ffff:1", 64, true),
            ("2001:db8::1", "2001:db8:0:1::1", 64, false),
            ("2001:db8::1", "2001:db8:0:1::1", 56, true),
            ("2001:db8::1", "2001:db8::2", 128, false), ("2001:db8::1", "2001:db8::1", 128, true),
        ]
    )
    func prefixes(_ a: String, _ b: String, _ length: Int, _ isOne: Bool) throws {
        let limiter = limiter {
            if a.contains(":") { $0.ipv6Prefix = length } else { $0.ipv4Prefix = length }
        }
        #expect(answered(50, limiter, try address(a), at: start) == 10)
        #expect(answered(50, limiter, try address(b), at: start) == (isOne ? 0 : 10))
    }

    @Test("clients that are exempt are not limited, in anything")
    func exempt() throws {
        let limiter = limiter {
            $0.exempt = [IPPrefix(IPAddress(ipv4: 0xC000_0200), length: 120)]
            $0.waiting = 1
            $0.connectionsPerClient = 1
        }
        let client = try address("192.0.2.7")
        let key = limiter.key(of: client)
        #expect(key == .none)
        #expect(answered(1000, limiter, client, at: start) == 1000)
        for _ in 0..<3 {
            #expect(limiter.reads(key, from: client, at: start))
            #expect(limiter.beginWaiting(key, from: client, at: start) && limiter.open(key))
        }
        #expect(answered(50, limiter, try address("192.0.3.7"), at: start) == 10)
    }

    @Test("a rate of 0 limits nobody; a burst is at least one query")
    func none() throws {
        let client = try address("192.0.2.1")
        #expect(answered(500, limiter { $0.queries = 0 }, client, at: start) == 500)
        #expect(answered(5, limiter { $0.burst = 0 }, client, at: start) == 1)
    }

    @Test("queries that wait and connections are counted up and down, exactly")
    func counts() throws {
        let limiter = limiter {
            $0.waiting = 3
            $0.connectionsPerClient = 2
        }
        let client = try address("192.0.2.1")
        let key = limiter.key(of: client)
        for _ in 0..<5 {
            let begun = (0..<5).map { _ in limiter.beginWaiting(key, from: client, at: start) }
            #expect(begun == [true, true, true, false, false])
            for _ in 0..<3 { limiter.endWaiting(key) }
            #expect((0..<4).map { _ in limiter.open(key) } == [true, true, false, false])
            for _ in 0..<2 { limiter.close(key) }
        }
    }

    @Test("a change of limits leaves what was counted")
    func adopting() throws {
        let limiter = limiter { $0.waiting = 2 }
        let client = try address("192.0.2.1")
        let key = limiter.key(of: client)
        #expect(limiter.beginWaiting(key, from: client, at: start))
        let other = limiter.adopting(limits { $0.waiting = 1 })
        #expect(!other.beginWaiting(key, from: client, at: start))
        other.endWaiting(key)
        #expect(other.beginWaiting(key, from: client, at: start))
    }

    @Test("what a client owed to a lower rate is forgotten with it")
    func higherRate() throws {
        let slow = limiter {
            $0.queries = 1
            $0.burst = 100
        }
        let client = try address("192.0.2.1")
        #expect(answered(200, slow, client, at: start) == 100)
        let fast = slow.adopting(limits { $0.queries = 1000 })
        #expect(answered(50, fast, client, at: start) == 0)
        #expect(answered(50, fast, client, at: start.advanced(byMilliseconds: 5)) == 5)
    }

    @Test("a hundred clients at their limit hold up hardly any other: both slots must be shared")
    func collisions() {
        let limiter = limiter()
        for number in UInt32(0)..<100 {
            let client = IPAddress(ipv4: 0x0A00_0000 + number)
            #expect(answered(20, limiter, client, at: start) == 10)
        }
        let held = (0..<20_000).count { number in
            !limiter.answers(IPAddress(ipv4: 0xAC10_0000 + UInt32(number)), at: start)
        }
        // (100 / 16 384)² of them, and their own neighbours: one or two.
        #expect(held <= 10, "\(held)")
    }

    @Test("each client that reaches a limit is told once a minute")
    func told() throws {
        let table = ClientTable(seed: (0x1234_5678_9ABC_DEF1, 77))
        let limiter = ClientLimiter(limits { $0.ipv4Prefix = 24 }, in: table)
        let client = try address("192.0.2.1")
        func flood(at now: Instant) {
            for _ in 0..<30 where !limiter.answers(client, at: now) {
                _ = limiter.truncates(client, at: now)
            }
        }
        flood(at: start)
        let reached = ReachedLimit(client: IPPrefix(client, length: 120), kind: .queries)
        #expect(table.takeReached() == [reached])
        flood(at: start.advanced(byMilliseconds: 59_000))
        #expect(table.takeReached() == [])
        flood(at: start.advanced(byMilliseconds: 61_000))
        #expect(table.takeReached() == [reached])
    }
}
