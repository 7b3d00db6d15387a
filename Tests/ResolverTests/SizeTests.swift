import DNS
import Resolver
import Testing

@Suite("Large answers")
struct SizeTests {
    private static func records(_ count: Int) -> [String] {
        (0..<count).map { "a.example 300 A 203.0.\($0 / 250).\($0 % 250)" }
    }

    @Test("as many records as fit, and TC", arguments: [512, 800, 1232, 4096] as [UInt16])
    func truncation(size: UInt16) throws {
        let player = Player()
        player.ask("a.example", edns: size)
        player.answer(try #require(player.sent().first)) { $0.answer = Self.records(200) }
        let reply = try #require(player.replies().first)
        let limit = min(Int(size), 1232)
        #expect(reply.size <= limit)
        #expect(reply.size > limit - 16 - 11)
        #expect(reply.message.flags.contains(.tc))
        let whole = player.ask("a.example", edns: size, over: .tcp)
        #expect(whole?.message.answer.count == 200)
        #expect(whole?.message.flags.contains(.tc) == false)
    }

    @Test("64 KiB are kept and given over TCP")
    func largest() throws {
        let player = Player()
        player.ask("a.example", over: .tcp)
        player.answer(try #require(player.sent().first)) { $0.answer = Self.records(2_250) }
        let reply = try #require(player.replies().first)
        #expect(reply.message.answer.count == 2_250)
        #expect(player.ask("a.example")?.message.flags.contains(.tc) == true)
    }

    @Test("one record that does not fit: none, and TC")
    func oneRecord() throws {
        let player = Player()
        player.ask("a.example", RecordType(rawValue: 16))
        player.answer(try #require(player.sent().first)) { $0.answer = ["a.example 300 TXT 4000"] }
        let reply = try #require(player.replies().first)
        #expect(reply.message.flags.contains(.tc))
        #expect(reply.size <= 1232)
    }
}
