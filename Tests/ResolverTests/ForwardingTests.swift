import DNS
import Resolver
import Testing

@Suite("A question that goes upstream")
struct ForwardingTests {
    @Test("is sent once, with RD, EDNS 1232 and nothing of the asker's hop, and answered")
    func oneUpstream() throws {
        let player = Player()
        #expect(player.ask("www.Example.com") == nil)
        let sent = try #require(player.sent().first)
        #expect(sent.message.question?.name.lowercased() == "www.example.com")
        #expect(sent.message.flags.isSuperset(of: [.rd, .ad]))
        #expect(sent.message.ednsSize == 1232)
        player.answer(sent, "www.example.com 300 A 203.0.113.1")
        let reply = try #require(player.replies().first).message
        #expect(reply.question?.name == "www.Example.com", "the asker's own letters come back")
        #expect(reply.answer == ["www.Example.com 60 A 203.0.113.1"])
        #expect(reply.flags == [.qr, .rd, .ra])
        #expect(reply.ednsSize == 1232)
    }

    @Test("goes to another upstream when the first is late, and the first answer counts")
    func hedge() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let first = try #require(player.sent().first)
        player.pass(milliseconds: 149)
        #expect(player.sent().isEmpty)
        player.pass(milliseconds: 2)
        let second = try #require(player.sent().first)
        #expect(second.upstream != first.upstream)
        player.answer(second, "a.example 300 A 203.0.113.2")
        player.answer(first, "a.example 300 A 203.0.113.1")
        #expect(player.replies().map(\.message.data) == [["203.0.113.2"]])
    }

    /// Both upstreams have answered within 10 ms for a while.
    private static func playerThatKnowsRoundTripTimes() -> Player {
        let player = Player(upstreams: 2)
        for number in 0..<20 {
            player.ask("n\(number).example")
            player.pass(milliseconds: 10)
            for sent in player.sent() {
                player.answer(sent, "n\(number).example 300 A 203.0.113.1")
            }
        }
        _ = player.replies()
        return player
    }

    @Test("is not put off by one loss more than the round-trip time that is known")
    func patience() throws {
        let player = Self.playerThatKnowsRoundTripTimes()
        player.ask("lost.example")
        let first = try #require(player.sent().first)
        player.pass(milliseconds: 40)
        let second = try #require(player.sent().first)
        #expect(second.upstream != first.upstream)
    }

    @Test("is asked of each once where both have become slower than they were")
    func bothSlower() throws {
        let player = Self.playerThatKnowsRoundTripTimes()
        player.ask("slow.example")
        player.pass(milliseconds: 60)
        #expect(player.sent().map(\.upstream).sorted() == [0, 1])
        player.pass(milliseconds: 30)
        #expect(!player.sent().isEmpty, "and then again")
    }

    @Test("is asked four times at most while upstreams answer other questions")
    func noStorm() throws {
        let player = Player(upstreams: 2)
        player.ask("dead.example")
        var count = player.sent().count
        for number in 0..<130 {
            player.ask("n\(number).example")
            player.pass(milliseconds: 20)
            for sent in player.sent() {
                let name = sent.message.question?.name.lowercased() ?? ""
                if name == "dead.example" { count += 1 } else { player.answer(sent) }
            }
        }
        #expect(count == 4)
        let reply = player.replies().first { $0.client == 1 }
        #expect(reply?.message.code == 2)
    }

    @Test("is given up after 2.5 s with SERVFAIL and the reason")
    func giveUp() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        player.pass(milliseconds: 2_499)
        #expect(player.replies().isEmpty)
        player.pass(milliseconds: 2)
        let reply = try #require(player.replies().first).message
        #expect(reply.code == 2)
        #expect(reply.error == 22)
        #expect(reply.reason.contains("did not answer in time, nor did others"))
    }

    @Test(
        "is asked of the other upstream at once when one fails",
        arguments: [2, 5] as [UInt16]
    )
    func softError(code: UInt16) throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let first = try #require(player.sent().first)
        player.answer(first) { $0.code = code }
        #expect(player.replies().isEmpty)
        let second = try #require(player.sent().first)
        #expect(second.upstream != first.upstream)
        player.answer(second, "a.example 300 A 203.0.113.2")
        #expect(player.replies().first?.message.data == ["203.0.113.2"])
    }

    @Test("gets SERVFAIL at once when all have failed, with the upstream's reason")
    func allFail() throws {
        let player = Player(upstreams: 2)
        player.ask("bogus.example")
        player.answer(try #require(player.sent().first)) { $0.code = 2 }
        player.answer(try #require(player.sent().first)) {
            $0.code = 2
            $0.ednsSize = 1232
            $0.options = [(15, [0, 6])]
        }
        let reply = try #require(player.replies().first).message
        #expect(reply.code == 2)
        #expect(reply.error == 6)
        #expect(player.ask("bogus.example")?.message.code == 2, "a failure is kept for a moment")
        #expect(player.sent().isEmpty)
        player.pass(milliseconds: 1_100)
        #expect(player.ask("bogus.example") == nil)
    }

    @Test("an upstream that keeps failing is asked by copies alone")
    func failing() throws {
        let player = Player(upstreams: 2)
        var asked = [0, 0]
        for number in 0..<40 {
            player.ask("n\(number).example")
            for _ in 0..<2 {
                for sent in player.sent() {
                    asked[sent.upstream] += 1
                    player.answer(sent) {
                        if sent.upstream == 0 {
                            $0.code = 2
                        } else {
                            $0.answer = ["\($0.question?.name ?? "") 60 A 203.0.113.1"]
                        }
                    }
                }
            }
            player.pass(milliseconds: 1)
        }
        #expect(player.replies().allSatisfy { $0.message.code == 0 })
        #expect(asked[0] <= 4)
    }

    @Test("ICMP moves all that waits to another upstream at once")
    func unreachable() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let first = try #require(player.sent().first)
        player.fail(first.path)
        let second = try #require(player.sent().first)
        #expect(second.upstream != first.upstream)
        player.fail(second.path)
        let reply = try #require(player.replies().first).message
        #expect(reply.code == 2)
        #expect(reply.error == 23)
        #expect(reply.reason.contains("unreachable"))
    }

    @Test("equal questions are asked once, and each asker has one answer in its own letters")
    func coalescing() throws {
        let player = Player(upstreams: 2)
        for name in ["a.example", "A.example", "a.EXAMPLE"] { player.ask(name) }
        let sent = player.sent()
        #expect(sent.count == 1)
        player.answer(try #require(sent.first), "a.example 300 A 203.0.113.1")
        let replies = player.replies()
        #expect(replies.map(\.client) == [1, 2, 3])
        #expect(
            replies.map { $0.message.question?.name } == ["a.example", "A.example", "a.EXAMPLE"]
        )
    }

    @Test("a query of ours that comes back to us ends the loop at once")
    func loop() throws {
        let player = Player(upstreams: 2)
        player.ask("a-name-of-many-letters-that-go-round.example")
        let sent = try #require(player.sent().first)
        let reply = player.ask(sent.message.octets, id: sent.message.id)
        #expect(reply?.message.code == 2)
        #expect(reply?.message.reason.contains("back to us") == true)
        #expect(player.statistics.loops == 1)
    }

    @Test("without RD nothing is forwarded")
    func noRecursion() throws {
        let player = Player()
        let reply = try #require(player.ask("a.example", flags: [])).message
        #expect(reply.code == 5)
        #expect(player.sent().isEmpty)
    }

    @Test("an outage ends for the client when it ends, and probes are copies")
    func outage() throws {
        let player = Player(upstreams: 1)
        for number in 0..<20 {
            player.ask("n\(number).example")
            player.pass(milliseconds: 50)
        }
        _ = player.sent()
        player.ask("after.example")
        player.answer(try #require(player.sent().first), "after.example 60 A 203.0.113.1")
        #expect(player.replies().contains { $0.message.data == ["203.0.113.1"] })
    }

    @Test("a flood of names that nobody answers is not multiplied by its retries")
    func retryBudget() throws {
        let player = Player(upstreams: 2)
        for number in 0..<10_000 {
            player.ask("n\(number).flood.example")
            if number % 100 == 0 {
                // Others are answered all the time.
                player.ask("good\(number).example")
                if let sent = player.sent().last { player.answer(sent) }
                player.pass(milliseconds: 20)
            }
        }
        #expect(player.statistics.upstreamQueries < 18_000)
        for number in 0..<100 {
            player.ask("after\(number).example")
            player.pass(milliseconds: 100)
        }
        _ = player.sent()
        player.pass(milliseconds: 5_000)
        #expect(player.statistics.waited == player.statistics.failed + 100)
    }

    @Test("a full table gives up the oldest, with SERVFAIL")
    func full() throws {
        let player = Player()
        for number in 0..<16_384 { player.ask("n\(number).example") }
        #expect(player.replies().isEmpty)
        player.ask("one-more.example")
        let replies = player.replies()
        #expect(replies.map(\.client) == [1])
        #expect(replies.first?.message.code == 2)
        #expect(player.statistics.shed == 1)
    }
}
