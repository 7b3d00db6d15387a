import DNS
import Resolver
import Testing

@Suite("The cache")
struct CacheTests {
    /// Asks, and lets the upstream answer.
    @discardableResult
    static func fetch(
        _ player: Player,
        _ name: String = "a.example",
        _ type: RecordType = .a,
        flags: Set<Message.Flag> = [.rd],
        change: (inout Message) -> Void
    ) throws -> Message {
        player.ask(name, type, edns: 1232, flags: flags)
        player.answer(try #require(player.sent().first), change: change)
        return try #require(player.replies().first).message
    }

    @Test("TTLs of all sections count down, and show as 60 s at most")
    func aging() throws {
        let player = Player()
        try Self.fetch(player) {
            $0.answer = ["a.example 100 A 203.0.113.1"]
            $0.authority = ["example 90 NS ns.example"]
            $0.additional = ["ns.example 80 A 203.0.113.9"]
        }
        #expect(player.ask("a.example")?.message.ttls == [60, 60, 60])
        player.pass(milliseconds: 50_000)
        #expect(player.ask("a.example")?.message.ttls == [50, 40, 30])
        player.pass(milliseconds: 51_000)
        #expect(player.ask("a.example") == nil)
    }

    @Test("TTL 0 goes to those who waited, and to nobody else")
    func zero() throws {
        let player = Player()
        let reply = try Self.fetch(player) { $0.answer = ["a.example 0 A 203.0.113.1"] }
        #expect(reply.ttls == [0])
        #expect(player.ask("a.example") == nil)
    }

    @Test("a TTL with the top bit set is 0; a large one is cut")
    func bounds() throws {
        let player = Player()
        let top = try Self.fetch(player) { $0.answer = ["a.example 2147483649 A 203.0.113.1"] }
        #expect(top.ttls == [0])
        try Self.fetch(player, "b.example") { $0.answer = ["b.example 2147483647 A 203.0.113.1"] }
        player.pass(milliseconds: 86_300_000)
        #expect(player.ask("b.example")?.message.data == ["203.0.113.1"])
        player.pass(milliseconds: 200_000)
        #expect(player.ask("b.example") == nil)
    }

    @Test("NXDOMAIN and NODATA are kept by the SOA's minimum", arguments: [0, 3] as [UInt16])
    func negative(code: UInt16) throws {
        let player = Player()
        try Self.fetch(player) {
            $0.code = code
            $0.authority = ["example 900 SOA 20"]
        }
        player.pass(milliseconds: 15_000)
        let reply = try #require(player.ask("a.example")).message
        #expect(reply.code == code)
        #expect(reply.authority == ["example 5 SOA 20"])
        player.pass(milliseconds: 6_000)
        #expect(player.ask("a.example") == nil)
    }

    @Test("without SOA they are kept for five seconds", arguments: [0, 3] as [UInt16])
    func bareNegative(code: UInt16) throws {
        let player = Player()
        let reply = try Self.fetch(player) { $0.code = code }
        #expect(reply.code == code)
        player.pass(milliseconds: 4_900)
        #expect(player.ask("a.example")?.message.code == code)
        player.pass(milliseconds: 200)
        #expect(player.ask("a.example") == nil)
    }

    @Test("an upstream's NXDOMAIN above owned names is NODATA")
    func aboveOwned() throws {
        let player = Player(zone: "api.corp.example. 5 IN A 192.0.2.1\n")
        let reply = try Self.fetch(player, "corp.example") {
            $0.code = 3
            $0.authority = ["example 900 SOA 20"]
        }
        #expect(reply.code == 0)
        #expect(player.ask("corp.example")?.message.code == 0)
    }

    @Test("DO and CD answers are kept apart, signatures go to DO alone, AD to those who understand")
    func variants() throws {
        let player = Player()
        let signed = ["a.example 300 A 203.0.113.1", "a.example 300 RRSIG A"]
        let plain = try Self.fetch(player) {
            $0.answer = signed
            $0.flags.insert(.ad)
        }
        #expect(plain.answer.count == 1)
        #expect(!plain.flags.contains(.ad))
        #expect(player.ask("a.example", flags: [.rd, .ad])?.message.flags.contains(.ad) == true)
        let secure = try Self.fetch(player, flags: [.rd, .dnssec]) {
            $0.answer = signed
            $0.flags.insert(.ad)
        }
        #expect(secure.answer.count == 2)
        #expect(secure.flags.isSuperset(of: [.ad, .dnssec]))
        try Self.fetch(player, flags: [.rd, .cd]) { $0.answer = ["a.example 300 A 203.0.113.3"] }
        #expect(player.ask("a.example", flags: [.rd, .cd])?.message.data == ["203.0.113.3"])
        #expect(player.ask("a.example")?.message.data == ["203.0.113.1"])
    }

    @Test("a name that fails again and again is asked about after 1, 2, 4 and 5 seconds (RFC 9520)")
    func failures() throws {
        let player = Player(upstreams: 2)
        for (number, seconds) in [1, 2, 4, 5, 5].enumerated() {
            #expect(player.ask("bogus.example") == nil, "round \(number)")
            for _ in 0..<2 {
                for sent in player.sent() { player.answer(sent) { $0.code = 2 } }
            }
            #expect(player.replies().first?.message.code == 2)
            player.pass(milliseconds: UInt64(seconds) * 1_000 - 1)
            #expect(player.ask("bogus.example")?.message.code == 2, "round \(number)")
            player.pass(milliseconds: 1)
        }
        player.pass(milliseconds: 61_000)
        player.ask("bogus.example")
        for _ in 0..<2 { for sent in player.sent() { player.answer(sent) { $0.code = 2 } } }
        player.pass(milliseconds: 1_000)
        #expect(player.ask("bogus.example") == nil, "what is long past is forgotten")
    }

    @Test("while nothing answers at all a failure is kept for a second, however often it comes")
    func failuresOfAnOutage() throws {
        let player = Player(upstreams: 2)
        for _ in 0..<4 {
            #expect(player.ask("a.example") == nil)
            for _ in 0..<2 { for sent in player.sent() { player.fail(sent.path) } }
            #expect(player.replies().first?.message.error == 23)
            player.pass(milliseconds: 1_000)
        }
        player.ask("a.example")
        player.answer(try #require(player.sent().first), "a.example 300 A 203.0.113.1")
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
    }

    @Test("ANY over UDP gets one RRset, over TCP all (RFC 8482)")
    func any() throws {
        let player = Player()
        let records = [
            "a.example 300 A 203.0.113.1", "a.example 300 A 203.0.113.2", "a.example 300 TXT 40",
        ]
        let reply = try Self.fetch(player, "a.example", .any) { $0.answer = records }
        #expect(reply.answer.count == 2)
        let all = player.ask("a.example", .any, over: .tcp)
        #expect(all?.message.answer.count == 3)
    }

    // MARK: Past the TTL

    @Test("an answer past its TTL is served after 400 ms with TTL 30, and renewed behind")
    func stale() throws {
        let player = Player()
        try Self.fetch(player) { $0.answer = ["a.example 10 A 203.0.113.1"] }
        player.pass(milliseconds: 20_000)
        #expect(player.ask("a.example") == nil)
        let sent = try #require(player.sent().first)
        player.pass(milliseconds: 399)
        #expect(player.replies().isEmpty)
        player.pass(milliseconds: 1)
        let reply = try #require(player.replies().first).message
        #expect(reply.answer == ["a.example 30 A 203.0.113.1"])
        #expect(reply.error == 3)
        #expect(player.ask("a.example")?.message.error == 3, "who comes later waits no more")
        // Each is counted as one thing: of three, one was fetched, and two were served past their TTL.
        let counts = player.statistics
        #expect(counts.cacheHits == 0 && counts.waited == 2)
        #expect(counts.stale == 2 && counts.staleAfterWaiting == 1)
        player.answer(sent, "a.example 10 A 203.0.113.2")
        #expect(player.ask("a.example")?.message.data == ["203.0.113.2"])
        #expect(player.replies().isEmpty)
    }

    @Test("it is served at once while upstreams are known to be down, and asked for now and then")
    func staleAtOnce() throws {
        let player = Player(upstreams: 2)
        try Self.fetch(player) { $0.answer = ["a.example 10 A 203.0.113.1"] }
        player.pass(milliseconds: 20_000)
        player.ask("down.example")
        for _ in 0..<2 { player.fail(try #require(player.sent().first).path) }
        _ = player.replies()
        #expect(player.ask("a.example")?.message.error == 3)
        #expect(!player.sent().isEmpty)
        player.pass(milliseconds: 3_000)
        _ = player.sent()
        #expect(player.ask("a.example")?.message.error == 3)
        #expect(player.sent().isEmpty, "for five seconds after a failure")
    }

    @Test("a failure of all upstreams lets it be served, and does not push it out")
    func staleOnFailure() throws {
        let player = Player()
        try Self.fetch(player) { $0.answer = ["a.example 10 A 203.0.113.1"] }
        player.pass(milliseconds: 20_000)
        player.ask("a.example")
        player.answer(try #require(player.sent().first)) { $0.code = 2 }
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
        player.pass(milliseconds: 6_000)
        #expect(player.ask("a.example") == nil)
        player.answer(try #require(player.sent().first)) { $0.code = 2 }
        #expect(player.replies().first?.message.error == 3)
    }

    @Test("after a day it is gone")
    func tooStale() throws {
        let player = Player()
        try Self.fetch(player) { $0.answer = ["a.example 10 A 203.0.113.1"] }
        player.pass(milliseconds: 86_420_000)
        player.ask("a.example")
        player.pass(milliseconds: 2_600)
        #expect(player.replies().first?.message.code == 2)
    }

    @Test("what is asked for often is fetched anew before its TTL is over, once")
    func prefetch() throws {
        let player = Player()
        try Self.fetch(player) { $0.answer = ["a.example 100 A 203.0.113.1"] }
        for _ in 0..<3 { player.ask("a.example") }
        player.pass(milliseconds: 80_000)
        player.ask("a.example")
        #expect(player.sent().isEmpty)
        player.pass(milliseconds: 11_000)
        #expect(player.ask("a.example")?.message.data == ["203.0.113.1"])
        player.ask("a.example")
        let sent = player.sent()
        #expect(sent.count == 1)
        player.answer(try #require(sent.first), "a.example 100 A 203.0.113.2")
        player.pass(milliseconds: 20_000)
        #expect(player.ask("a.example")?.message.data == ["203.0.113.2"])
        #expect(player.replies().isEmpty)
    }

    @Test("what was asked for once is not")
    func noPrefetch() throws {
        let player = Player()
        try Self.fetch(player) { $0.answer = ["a.example 100 A 203.0.113.1"] }
        player.pass(milliseconds: 95_000)
        player.ask("a.example")
        #expect(player.sent().isEmpty)
    }

    @Test("a flood of names that nobody asks for twice does not push out what is asked often")
    func flood() throws {
        let player = Player(cache: Cache(bytes: 1 << 20, seed: 1))
        for round in 0..<3 {
            for number in 0..<20 {
                if player.ask("hot\(number).example") != nil { continue }
                #expect(round == 0)
                for sent in player.sent() {
                    player.answer(sent, "hot\(number).example 3000 A 203.0.113.1")
                }
            }
        }
        for number in 0..<40_000 {
            player.ask("r\(number).flood.example")
            for sent in player.sent() {
                player.answer(sent) {
                    $0.code = 3
                    $0.authority = ["example 900 SOA 900"]
                }
            }
            if number % 100 == 0 {
                #expect(player.ask("hot\(number / 100 % 20).example") != nil, "\(number)")
                _ = player.replies()
            }
        }
    }
}
