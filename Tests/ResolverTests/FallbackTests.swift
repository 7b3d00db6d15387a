import DNS
import Resolver
import Testing

@Suite("An upstream that cannot take everything")
struct FallbackTests {
    @Test("TC over UDP: the same question over the stream, and the client never hears of it")
    func truncated() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let sent = try #require(player.sent().first)
        player.answer(sent) { $0.flags.insert(.tc) }
        #expect(player.replies().isEmpty)
        let stream = try #require(player.sent().first)
        #expect(stream.path == .stream(upstream: sent.upstream))
        player.answer(stream, "a.example 300 A 203.0.113.1")
        let reply = try #require(player.replies().first).message
        #expect(reply.data == ["203.0.113.1"])
        #expect(!reply.flags.contains(.tc))
    }

    @Test("a stream that does not answer within 300 ms: the other upstream, over a stream at once")
    func slowStream() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let sent = try #require(player.sent().first)
        player.answer(sent) { $0.flags.insert(.tc) }
        _ = player.sent()
        player.pass(milliseconds: 300)
        let other = try #require(player.sent().first)
        #expect(other.path == .stream(upstream: 1 - sent.upstream))
    }

    @Test("a stream that ends when it was idle: once more on a fresh one; then another upstream")
    func ended() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        let sent = try #require(player.sent().first)
        player.answer(sent) { $0.flags.insert(.tc) }
        let stream = try #require(player.sent().first)
        player.fail(stream.path, .ended)
        let again = try #require(player.sent().first)
        #expect(again.path == stream.path)
        player.fail(again.path, .ended)
        let other = try #require(player.sent().first)
        #expect(other.path == .stream(upstream: 1 - sent.upstream))
        player.answer(other, "a.example 300 A 203.0.113.1")
        #expect(player.replies().first?.message.data == ["203.0.113.1"])
    }

    @Test("streams refused by all: SERVFAIL at once")
    func refused() throws {
        let player = Player(upstreams: 2)
        player.ask("a.example")
        player.answer(try #require(player.sent().first)) { $0.flags.insert(.tc) }
        player.fail(try #require(player.sent().first).path)
        player.fail(try #require(player.sent().first).path)
        #expect(player.replies().first?.message.code == 2)
    }

    @Test(
        "FORMERR, NOTIMP or BADVERS to EDNS: less of it each time, and that is remembered",
        arguments: [1, 4, 16] as [UInt16]
    )
    func complaints(code: UInt16) throws {
        let player = Player()
        player.ask("a.example")
        for _ in 0..<2 {
            let sent = try #require(player.sent().first)
            #expect(sent.message.ednsSize != nil)
            player.answer(sent) {
                $0.code = code
                if code > 15 { $0.ednsSize = 1232 }
            }
        }
        let bare = try #require(player.sent().first)
        #expect(bare.message.ednsSize == nil)
        player.answer(bare, "a.example 300 A 203.0.113.1")
        let reply = try #require(player.replies().first).message
        #expect(reply.data == ["203.0.113.1"])
        #expect(reply.ednsSize == 1232, "the client's EDNS is ours to answer")
        player.ask("b.example")
        let next = try #require(player.sent().first)
        #expect(next.message.ednsSize == nil)
        player.answer(next)
        player.pass(milliseconds: 1_000_000)
        player.ask("c.example")
        #expect(player.sent().first?.message.ednsSize == 1232, "and forgotten after a while")
    }

    @Test("a FORMERR without a question is the answer to its id")
    func bareFormatError() throws {
        let player = Player()
        player.ask("a.example")
        player.answer(try #require(player.sent().first)) {
            $0.question = nil
            $0.code = 1
        }
        #expect(player.sent().first?.message.option(10) == nil)
    }

    @Test("silence to EDNS: the third attempt goes without, and twice is a lesson")
    func silence() throws {
        let player = Player(upstreams: 2)
        for number in 0..<6 {
            player.ask("n\(number).example")
            for _ in 0..<60 where player.replies().isEmpty {
                for sent in player.sent() where sent.message.ednsSize == nil {
                    player.answer(sent, "n\(number).example 300 A 203.0.113.1")
                }
                player.pass(milliseconds: 10)
            }
        }
        player.ask("last.example")
        #expect(player.sent().first?.message.ednsSize == nil)
    }
}
