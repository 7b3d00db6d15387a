import DNS
import Resolver
import Testing

@Suite("Aliases from upstream")
struct AliasTests {
    private static let zone = "api.corp.example. 5 IN A 192.0.2.1\n"

    @Test("a chain is given in order, whatever order it came in")
    func order() throws {
        let player = Player()
        let reply = try CacheTests.fetch(player) {
            $0.answer = [
                "c.example 300 A 203.0.113.1", "b.example 200 CNAME c.example",
                "a.example 100 CNAME b.example",
            ]
        }
        #expect(reply.data == ["b.example", "c.example", "203.0.113.1"])
        #expect(player.ask("a.example")?.message.data == ["b.example", "c.example", "203.0.113.1"])
    }

    @Test("a chain that reaches an owned name is cut there, also out of the cache")
    func cut() throws {
        let player = Player(zone: Self.zone)
        let expected = ["api.corp.example", "192.0.2.1"]
        let reply = try CacheTests.fetch(player) {
            $0.answer = [
                "a.example 100 CNAME api.corp.example", "api.corp.example 100 A 203.0.113.66",
            ]
        }
        #expect(reply.data == expected)
        #expect(player.ask("a.example")?.message.data == expected)
    }

    @Test("a chain that was kept before the name was owned is cut when it is")
    func cutLater() throws {
        let player = Player()
        try CacheTests.fetch(player) {
            $0.answer = [
                "a.example 100 CNAME api.corp.example", "api.corp.example 100 A 203.0.113.66",
            ]
        }
        player.adopt(Player.policy(upstreams: [1], zone: Self.zone))
        #expect(player.ask("a.example")?.message.data == ["api.corp.example", "192.0.2.1"])
    }

    @Test("a chain whose end is missing is completed")
    func open() throws {
        let player = Player()
        player.ask("a.example")
        player.answer(try #require(player.sent().first), "a.example 100 CNAME b.example")
        let second = try #require(player.sent().first)
        #expect(second.message.question?.name.lowercased() == "b.example")
        player.answer(second, "b.example 100 A 203.0.113.1")
        #expect(player.replies().first?.message.data == ["b.example", "203.0.113.1"])
    }

    @Test("a local alias is completed upstream")
    func local() throws {
        let player = Player(zone: "a.example. 5 IN CNAME b.example.\n")
        player.ask("a.example")
        player.answer(try #require(player.sent().first), "b.example 100 A 203.0.113.1")
        #expect(player.replies().first?.message.data == ["b.example", "203.0.113.1"])
        #expect(player.ask("a.example")?.message.data == ["b.example", "203.0.113.1"])
    }

    @Test("a loop is SERVFAIL, at once")
    func loop() throws {
        let player = Player()
        let reply = try CacheTests.fetch(player) {
            $0.answer = ["a.example 100 CNAME b.example", "b.example 100 CNAME a.example"]
        }
        #expect(reply.code == 2)
        #expect(reply.reason.contains("loop"))
    }

    @Test("open chains that lead in a circle end as well")
    func openLoop() throws {
        let player = Player()
        player.ask("a.example")
        player.answer(try #require(player.sent().first), "a.example 100 CNAME b.example")
        player.answer(try #require(player.sent().first), "b.example 100 CNAME a.example")
        #expect(player.replies().first?.message.code == 2)
    }

    @Test("chains of thirty are passed on")
    func long() throws {
        let player = Player()
        let reply = try CacheTests.fetch(player, "n0.example") {
            $0.answer =
                (0..<30).map { "n\($0).example 100 CNAME n\($0 + 1).example" }
                + ["n30.example 100 A 203.0.113.1"]
        }
        #expect(reply.answer.count == 31)
    }
}
