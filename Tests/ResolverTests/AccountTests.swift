import DNS
import Resolver
import Testing

@Suite("The account of a question, from a resolver that runs")
struct AccountTests {
    private func cacheSteps(_ account: Policy.Account) -> [String] {
        account.steps.filter { $0.stage == .cache }
            .map { ($0.isDecisive ? "* " : "") + $0.sentence }
    }

    private func forwardingSteps(_ account: Policy.Account) -> [String] {
        account.steps.filter { $0.stage == .forwarding }.map(\.sentence)
    }

    @Test("says who would be asked, in which order, and how they are")
    func forwarding() throws {
        let groups = [
            Policy.UpstreamGroup(members: [0, 1]),
            Policy.UpstreamGroup(members: [1], order: .sequential),
        ]
        let rule = Policy.ForwardRule(suffix: try Name(scanning: "corp.example"), group: 1)
        let player = Player(upstreams: 2, groups: groups, rules: [rule])
        var account = try player.account("a.example")
        #expect(account.outcome == .forwarded && account.message == nil)
        #expect(cacheSteps(account) == ["a.example. A is not cached"])
        #expect(
            forwardingSteps(account) == [
                "a.example. is forwarded to 192.0.2.1:53 (not asked yet), "
                    + "192.0.2.2:53 (not asked yet), the fastest first"
            ]
        )
        player.ask("host.corp.example")
        player.pass(milliseconds: 12)
        player.answer(try #require(player.sent().first), "host.corp.example 30 A 203.0.113.1")
        account = try player.account("b.corp.example")
        #expect(
            forwardingSteps(account) == [
                "b.corp.example. is forwarded to 192.0.2.2:53 (up, 12 ms) by a forward rule"
            ]
        )
    }

    @Test("says what is cached and how long it lives, shows its octets, and changes nothing")
    func cached() throws {
        let player = Player()
        try CacheTests.fetch(player) { $0.answer = ["a.example 100 A 203.0.113.1"] }
        player.pass(milliseconds: 96_000)
        for _ in 0..<5 {
            let account = try player.account("a.example")
            #expect(
                cacheSteps(account) == [
                    "* a.example. A is cached: NOERROR, 1 record, 4 s of 100 s left"
                ]
            )
            #expect(forwardingSteps(account).isEmpty)
            let message = try #require(account.message.flatMap { Message($0) })
            #expect(message.data == ["203.0.113.1"] && message.ttls == [4])
        }
        // Near its end it would be renewed, had anybody asked for it twice.
        #expect(player.ask("a.example")?.message.ttls == [4])
        #expect(player.sent().isEmpty)
    }

    @Test("tells a negative answer, a failure, and an answer with DNSSEC data apart")
    func kinds() throws {
        let player = Player()
        try CacheTests.fetch(player) {
            $0.code = 3
            $0.authority = ["example 900 SOA 20"]
        }
        #expect(
            cacheSteps(try player.account("a.example")) == [
                "* a.example. A is cached: NXDOMAIN, 20 s of 20 s left"
            ]
        )
        try CacheTests.fetch(player, "b.example") { $0.authority = ["example 900 SOA 20"] }
        #expect(
            cacheSteps(try player.account("b.example")) == [
                "* b.example. A is cached: NODATA, 20 s of 20 s left"
            ]
        )
        let signed = Player()
        signed.ask("c.example", flags: [.rd, .dnssec])
        signed.answer(try #require(signed.sent().first), "c.example 50 A 203.0.113.1")
        let account = try signed.account("c.example")
        #expect(
            cacheSteps(account) == [
                "c.example. A with DNSSEC data (DO) is cached: NOERROR, 1 record, 50 s of 50 s left",
                "c.example. A is not cached",
            ]
        )
        #expect(account.outcome == .forwarded)
    }

    @Test("says of stale data when it would be served")
    func stale() throws {
        let player = Player()
        try CacheTests.fetch(player) { $0.answer = ["a.example 10 A 203.0.113.1"] }
        player.pass(milliseconds: 30_000)
        var account = try player.account("a.example")
        #expect(
            cacheSteps(account) == [
                "a.example. A is stale since 20 s: served where no upstream answers within 400 ms"
            ]
        )
        #expect(account.outcome == .forwarded)
        player.ask("a.example")
        player.pass(milliseconds: 3_000)
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
        account = try player.account("a.example")
        let message = try #require(account.message.flatMap { Message($0) })
        #expect(message.data == ["203.0.113.1"] && message.ttls == [30])
        #expect(
            cacheSteps(account) == [
                "* a.example. A is stale since 23 s: served without asking, as nobody could renew it "
                    + "just now"
            ]
        )
    }

    @Test("follows a cached alias to the override that cuts it")
    func alias() throws {
        let player = Player(zone: "own.example. A 192.0.2.77\n")
        try CacheTests.fetch(player, "a.example") {
            $0.answer = ["a.example 50 CNAME own.example", "own.example 50 A 203.0.113.1"]
        }
        let account = try player.account("a.example")
        #expect(
            account.steps.filter { $0.stage == .cache || $0.stage == .overrides }.map(\.sentence)
                == [
                    "a.example. is not owned",
                    "a.example. A is cached: NOERROR, 2 records, 50 s of 50 s left",
                    "own.example. is owned: it has A records",
                ]
        )
        let message = try #require(account.message.flatMap { Message($0) })
        #expect(message.data.last == "192.0.2.77")
    }
}
