import DNS
import Resolver
import Testing

@Suite("What a resolver believes")
struct CredibilityTests {
    private static func asked() throws -> (Player, Player.Sent) {
        let player = Player()
        player.ask("a.example")
        return (player, try #require(player.sent().first))
    }

    @Test("a wrong id, question, type, path or opcode is dropped, and the wait goes on")
    func mismatches() throws {
        let (player, sent) = try Self.asked()
        let changes: [(inout Message) -> Void] = [
            { $0.id ^= 1 }, { $0.question?.name = "b.example" }, { $0.question?.type = .aaaa },
            { $0.question = nil }, { $0.flags.remove(.qr) },
        ]
        for change in changes {
            player.answer(sent) {
                $0.answer = ["a.example 300 A 6.6.6.6"]
                change(&$0)
            }
        }
        guard case .datagram(let upstream, let socket) = sent.path else { return }
        var message = sent.message
        message.flags.insert(.qr)
        message.answer = ["a.example 300 A 6.6.6.6"]
        player.deliver(
            message.octets,
            over: .datagram(upstream: upstream, socket: (socket + 1) % 64)
        )
        player.deliver(message.octets, over: .stream(upstream: upstream))
        player.deliver([0, 1, 2], over: sent.path)
        #expect(player.replies().isEmpty)
        #expect(player.statistics.mismatches >= 6)
        player.answer(sent, "a.example 300 A 203.0.113.1")
        #expect(player.replies().map(\.message.data) == [["203.0.113.1"]])
    }

    @Test("of very many signatures eight are kept, an alias's and its target's apart")
    func signatures() throws {
        let player = Player()
        player.ask("a.example", flags: [.rd, .dnssec], over: .tcp)
        player.answer(try #require(player.sent().first)) {
            $0.answer = ["a.example 300 CNAME b.example", "b.example 300 A 203.0.113.1"]
            for _ in 0..<20 {
                $0.answer += ["a.example 300 RRSIG CNAME", "b.example 300 RRSIG A"]
            }
        }
        let answer = try #require(player.replies().first).message.answer
        #expect(answer.count { $0.hasPrefix("a.example") } == 1 + 8)
        #expect(answer.count { $0.hasPrefix("b.example") } == 1 + 8)
    }

    @Test("a second copy of an answer is nobody's")
    func duplicate() throws {
        let (player, sent) = try Self.asked()
        player.answer(sent, "a.example 300 A 203.0.113.1")
        player.answer(sent, "a.example 300 A 6.6.6.6")
        #expect(player.replies().count == 1)
        #expect(player.ask("a.example")?.message.data == ["203.0.113.1"])
    }

    @Test("garbage behind a question that matches is a failure")
    func garbage() throws {
        let (player, sent) = try Self.asked()
        var octets = sent.message.octets
        octets[2] = 0x81
        octets[7] = 9
        player.deliver(octets, over: sent.path)
        let reply = try #require(player.replies().first).message
        #expect(reply.code == 2)
        #expect(reply.reason.contains("no answer"))
    }

    @Test("records of other names are left out")
    func foreign() throws {
        let (player, sent) = try Self.asked()
        player.answer(sent, "a.example 300 A 203.0.113.1", "bank.example 300 A 6.6.6.6")
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
    }

    /// Lets an upstream answer some questions exactly as they were spelled.
    private static func learned(_ change: (inout Message) -> Void = { _ in }) -> Player {
        let player = Player()
        for number in 0..<6 {
            player.ask("learning-\(number).example")
            for sent in player.sent() { player.answer(sent, change: change) }
        }
        _ = player.replies()
        return player
    }

    @Test("names go out in mixed case; who echoes it must go on doing so, or is asked over TCP")
    func mixedCase() throws {
        let player = Self.learned()
        player.ask("a-long-name-with-many-letters.example")
        let sent = try #require(player.sent().first)
        let name = try #require(sent.message.question?.name)
        #expect(name != name.lowercased() && name != name.uppercased())
        player.answer(sent) {
            $0.question?.name = name.lowercased()
            $0.answer = ["\(name) 300 A 6.6.6.6"]
        }
        #expect(player.replies().isEmpty)
        let stream = try #require(player.sent().first)
        #expect(stream.isStream)
        player.answer(stream, "\(name) 300 A 203.0.113.1")
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
        #expect(player.statistics.doubtful == 1)
    }

    @Test("an upstream that has always changed the case is believed")
    func alteredCase() throws {
        let player = Player()
        for number in 0..<3 {
            player.ask("learning-\(number).example")
            let sent = try #require(player.sent().first)
            let name = sent.message.question?.name.uppercased() ?? ""
            player.answer(sent) { $0.question?.name = name }
            #expect(player.replies().count == 1)
        }
        player.ask("plain.example")
        #expect(player.sent().first?.message.question?.name == "plain.example")
    }

    @Test("an upstream that begins to change the case is believed again once TCP confirms it")
    func changedWays() throws {
        let player = Self.learned()
        player.ask("first-name.example")
        player.answer(try #require(player.sent().first)) {
            $0.question?.name = "FIRST-NAME.EXAMPLE"
        }
        player.answer(try #require(player.sent().first)) {
            $0.question?.name = "FIRST-NAME.EXAMPLE"
        }
        #expect(player.replies().count == 1)
        player.ask("second-name.example")
        player.answer(try #require(player.sent().first)) {
            $0.question?.name = "SECOND-NAME.EXAMPLE"
        }
        #expect(player.replies().count == 1)
        #expect(player.sent().isEmpty)
    }

    @Test("a cookie is sent, the server's half comes back in the next query (RFC 7873)")
    func cookies() throws {
        let player = Player()
        player.ask("a.example")
        let first = try #require(player.sent().first)
        let mine = try #require(first.message.option(10))
        #expect(mine.count == 8)
        let server: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        player.answer(first) {
            $0.ednsSize = 1232
            $0.options = [(10, mine + server)]
        }
        let reply = try #require(player.replies().first).message
        #expect(reply.option(10) == nil, "cookies are of one hop")
        player.ask("b.example")
        let second = try #require(player.sent().first)
        #expect(second.message.option(10) == mine + server)
        player.answer(second) {
            $0.ednsSize = 1232
            $0.options = [(10, [9, 9, 9, 9, 9, 9, 9, 9] + server)]
            $0.answer = ["b.example 60 A 6.6.6.6"]
        }
        #expect(player.replies().isEmpty, "another's cookie: forged")
        player.answer(second) {
            $0.ednsSize = 1232
            $0.answer = ["b.example 60 A 6.6.6.6"]
        }
        #expect(player.replies().isEmpty, "no cookie where there always was one: doubtful")
        let stream = try #require(player.sent().first)
        #expect(stream.isStream)
        player.answer(stream) {
            $0.ednsSize = 1232
            $0.options = [(10, mine + server)]
            $0.answer = ["b.example 60 A 203.0.113.1"]
        }
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
    }

    @Test("BADCOOKIE is asked again with the new cookie")
    func badCookie() throws {
        let player = Player()
        player.ask("a.example")
        let first = try #require(player.sent().first)
        let mine = try #require(first.message.option(10))
        let server: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        player.answer(first) {
            $0.code = 23
            $0.ednsSize = 1232
            $0.options = [(10, mine + server)]
        }
        let second = try #require(player.sent().first)
        #expect(second.message.option(10) == mine + server)
        player.answer(second, "a.example 60 A 203.0.113.1")
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
    }
}
