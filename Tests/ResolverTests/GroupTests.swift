import DNS
import Resolver
import Testing

@Suite("Upstream groups")
struct GroupTests {
    private static func rule(_ suffix: String, _ group: Int?) throws -> Policy.ForwardRule {
        Policy.ForwardRule(suffix: try Name(scanning: suffix), group: group)
    }

    @Test("the longest suffix decides")
    func rules() throws {
        let player = Player(
            upstreams: 3,
            groups: [
                .init(members: [0]), .init(members: [1]), .init(members: [2]),
            ],
            rules: [
                try Self.rule("corp.example", 1), try Self.rule("lab.corp.example", 2),
                try Self.rule("secret.corp.example", nil),
            ]
        )
        let expected = [
            "www.example": 0, "corp.example": 1, "a.corp.example": 1, "b.LAB.corp.example": 2,
            "notcorp.example": 0,
        ]
        for (name, upstream) in expected {
            player.ask(name)
            #expect(player.sent().map(\.upstream) == [upstream], "\(name)")
        }
        #expect(player.ask("x.secret.corp.example")?.message.code == 5)
    }

    @Test("answers of different groups are kept apart")
    func partitions() throws {
        let cache = Cache(bytes: 4 << 20, seed: 1)
        let inside = Player(upstreams: 2, cache: cache, groups: [.init(members: [0])])
        try CacheTests.fetch(inside) { $0.answer = ["a.example 300 A 203.0.113.1"] }
        let outside = Player(upstreams: 2, cache: cache, groups: [.init(members: [1])])
        #expect(outside.ask("a.example") == nil)
        let other = Player(upstreams: 1, cache: cache)
        #expect(other.ask("a.example")?.message.data == ["203.0.113.1"])
    }

    @Test("sequential: the first while it is well, however long it takes")
    func sequential() throws {
        let player = Player(upstreams: 2, groups: [.init(members: [0, 1], order: .sequential)])
        for number in 0..<100 {
            player.ask("n\(number).example")
            let sent = player.sent()
            #expect(sent.map(\.upstream) == [0])
            player.pass(milliseconds: 30)
            for query in sent { player.answer(query) }
        }
    }

    @Test("fastest: whoever answers sooner, and copies tell who that is")
    func fastest() throws {
        let player = Player(upstreams: 2)
        var first: [Int] = []
        for number in 0..<120 {
            player.ask("n\(number).example")
            let sent = player.sent()
            first.append(sent.first?.upstream ?? -1)
            player.pass(milliseconds: 5)
            for query in sent where query.upstream == 1 { player.answer(query) }
            player.pass(milliseconds: 15)
            for query in sent where query.upstream == 0 { player.answer(query) }
        }
        #expect(first.suffix(10).allSatisfy { $0 == 1 })
    }

    @Test("race: all at once, the first answer counts")
    func race() throws {
        let player = Player(
            upstreams: 3,
            groups: [.init(members: [0, 1, 2], order: .race)]
        )
        player.ask("a.example")
        let sent = player.sent()
        #expect(Set(sent.map(\.upstream)) == [0, 1, 2])
        player.answer(sent[2], "a.example 300 A 203.0.113.3")
        player.answer(sent[0], "a.example 300 A 203.0.113.1")
        #expect(player.replies().map(\.message.data) == [["203.0.113.3"]])
    }

    @Test("a reload with other upstreams loses nobody who waits")
    func reload() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let sent = try #require(player.sent().first)
        player.adopt(Player.policy(upstreams: [3, 2]))
        let again = try #require(player.sent().first)
        #expect(again.upstream != sent.upstream, "a number is not given away while it is waited on")
        player.answer(sent, "a.example 300 A 203.0.113.1")
        player.answer(again, "a.example 300 A 203.0.113.2")
        #expect(player.replies().map(\.message.data) == [["203.0.113.2"]])
        #expect(player.upstreams.count == 3)
        player.adopt(Player.policy(upstreams: [4, 5, 2]))
        #expect(player.upstreams.count <= 4, "and then it is")
    }

    @Test("a reload with the same upstreams goes on with what is in flight")
    func sameUpstreams() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let sent = try #require(player.sent().first)
        player.adopt(Player.policy(upstreams: [2, 1]))
        #expect(player.sent().isEmpty)
        player.answer(sent, "a.example 300 A 203.0.113.1")
        #expect(player.replies().map(\.message.data) == [["203.0.113.1"]])
    }

    @Test(
        "an upstream over TLS: a stream, a padded query, no cookie, and no time lost when it fails"
    )
    func encrypted() throws {
        let player = Player(upstreams: 0)
        player.adopt(Player.policy(upstreams: [1, 2], identity: .name("dns.example")))
        for name in ["a.example", "a-much-longer-name-than-that.example"] {
            player.ask(name)
            let sent = try #require(player.sent().first)
            #expect(sent.isStream)
            #expect(sent.message.octets.count % 128 == 0)
            #expect(sent.message.option(12) != nil && sent.message.option(10) == nil)
            #expect(sent.message.question?.name == name)
            player.answer(sent, "\(name) 60 A 203.0.113.1")
            #expect(player.replies().count == 1)
        }
        player.ask("b.example")
        let sent = try #require(player.sent().first)
        player.fail(sent.path)
        let other = try #require(player.sent().first)
        #expect(other.upstream != sent.upstream)
        player.answer(other, "b.example 60 A 203.0.113.1")
        player.ask("c.example")
        #expect(player.sent().map(\.upstream) == [other.upstream])
    }
}
