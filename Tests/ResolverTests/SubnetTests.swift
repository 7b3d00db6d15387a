import DNS
import Resolver
import Testing

@Suite("Answers for networks (RFC 7871)")
struct SubnetTests {
    @Test("the asker's network goes upstream and splits the cache (RFC 7871)")
    func subnets() throws {
        let player = Player()
        for (network, address) in [(1, "203.0.113.1"), (2, "203.0.113.2")] as [(UInt8, String)] {
            let option: [UInt8] = [0, 1, 24, 0, 198, 51, network]
            player.ask("a.example", subnet: option)
            let sent = try #require(player.sent().first)
            #expect(sent.message.option(8) == option)
            player.answer(sent) {
                $0.ednsSize = 1232
                $0.options = [(8, [0, 1, 24, 24, 198, 51, network])]
                $0.answer = ["a.example 300 A \(address)"]
            }
            let reply = try #require(player.replies().first).message
            #expect(reply.data == [address])
            #expect(reply.option(8) == [0, 1, 24, 24, 198, 51, network])
        }
        let reply = player.ask("a.example", subnet: [0, 1, 24, 0, 198, 51, 1])
        #expect(reply?.message.data == ["203.0.113.1"])
        #expect(player.ask("a.example") == nil, "nobody else gets it")
        #expect(player.sent().first?.message.option(8) == nil, "nothing is added")
    }

    /// Asks for a network of 198.51/16, and lets the upstream answer with a scope; gives the answer's
    /// address and scope.
    private static func ask(
        _ player: Player,
        for network: UInt8,
        bits: UInt8 = 24,
        scope: UInt8?,
        _ address: String
    ) -> String {
        let octets = [198, 51, network, network].prefix((Int(bits) + 7) / 8)
        let option: [UInt8] = [0, 1, bits, 0] + octets
        var reply = player.ask("a.example", subnet: option)
        if let sent = player.sent().first {
            player.answer(sent) {
                if let scope {
                    $0.ednsSize = 1232
                    $0.options = [(8, [0, 1, bits, scope] + octets)]
                }
                $0.answer = ["a.example 300 A \(address)"]
            }
            reply = player.replies().first
        }
        let data = reply?.message.data.first ?? "nothing"
        return "\(data)/\(reply?.message.option(8)?[3] ?? 255)"
    }

    @Test("an answer for a shorter network serves all within, and nobody else (RFC 7871, 7.3.1)")
    func shorterScope() {
        let player = Player()
        #expect(Self.ask(player, for: 1, scope: 20, "203.0.113.1") == "203.0.113.1/20")
        #expect(Self.ask(player, for: 15, scope: 20, "203.0.113.2") == "203.0.113.1/20")
        #expect(Self.ask(player, for: 9, bits: 32, scope: 20, "203.0.113.2") == "203.0.113.1/20")
        #expect(Self.ask(player, for: 16, scope: 20, "203.0.113.3") == "203.0.113.3/20")
        #expect(Self.ask(player, for: 31, scope: 20, "203.0.113.4") == "203.0.113.3/20")
        #expect(
            Self.ask(player, for: 0, bits: 16, scope: 16, "203.0.113.5") == "203.0.113.5/16",
            "whoever speaks for more than the answer is for asks anew"
        )
        #expect(Self.ask(player, for: 1, scope: 20, "203.0.113.6") == "203.0.113.1/20")
        #expect(Self.ask(player, for: 99, scope: 20, "203.0.113.7") == "203.0.113.5/16")
        #expect(player.ask("a.example") == nil, "nor is it for whoever speaks for none")
    }

    @Test("an answer for a longer network than was asked about is for that question alone")
    func longerScope() {
        let player = Player()
        #expect(Self.ask(player, for: 0, bits: 16, scope: 24, "203.0.113.1") == "203.0.113.1/24")
        #expect(Self.ask(player, for: 0, bits: 16, scope: 24, "203.0.113.2") == "203.0.113.1/24")
        #expect(Self.ask(player, for: 7, scope: 24, "203.0.113.3") == "203.0.113.3/24")
    }

    @Test(
        "an answer with scope 0, or from an upstream that knows of no scopes, is for everybody",
        arguments: [0, nil] as [UInt8?]
    )
    func scopeZero(scope: UInt8?) {
        let player = Player()
        #expect(Self.ask(player, for: 1, scope: scope, "203.0.113.1") == "203.0.113.1/0")
        #expect(Self.ask(player, for: 2, scope: scope, "203.0.113.2") == "203.0.113.1/0")
        #expect(player.ask("a.example")?.message.data == ["203.0.113.1"])
        player.pass(milliseconds: 301_000)
        player.ask("a.example")
        for sent in player.sent() { player.answer(sent, "a.example 300 A 203.0.113.9") }
        #expect(player.replies().first?.message.data == ["203.0.113.9"])
        #expect(
            Self.ask(player, for: 2, scope: 24, "203.0.113.2") == "203.0.113.2/24",
            "what was said to us is not for the networks of others"
        )
    }

    @Test("past its TTL an answer for a network helps out, a newer one comes first")
    func staleScope() {
        let player = Player()
        _ = Self.ask(player, for: 1, scope: 24, "203.0.113.1")
        player.pass(milliseconds: 301_000)
        _ = Self.ask(player, for: 2, scope: 16, "203.0.113.2")
        #expect(Self.ask(player, for: 1, scope: 16, "203.0.113.3") == "203.0.113.2/16")
    }

    /// 198.51.1.0/24, and networks that a hash without a secret takes for it: one whose lower half
    /// cancels what the rest comes to, and ones that cancel the family and the length.
    @Test(
        "nobody can choose a network that is taken for another's",
        arguments: [
            [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0x16, 0x5E, 0xEB, 0xF3, 0x42, 0xD6, 0xD1, 0x89],
            [198, 51, 1, 0, 0, 0, 3, 0x98, 0, 0, 0, 0, 0, 0, 0, 0],
            [198, 51, 1, 0, 0, 0x98, 3, 0x98, 0, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]]
    )
    func chosenNetwork(address: [UInt8]) throws {
        let player = Player()
        let victim: [UInt8] = [0, 1, 24, 0, 198, 51, 1]
        func ask(_ name: String, _ option: [UInt8], scope: UInt8, _ data: String) -> [String]? {
            var reply = player.ask(name, subnet: option)
            if let sent = player.sent().first {
                player.answer(sent) {
                    $0.ednsSize = 1232
                    $0.options = [(8, option.prefix(3) + [scope] + option.dropFirst(4))]
                    $0.answer = ["\(name) 300 A \(data)"]
                }
                reply = player.replies().first
            }
            return reply?.message.data
        }
        // There are answers for networks of 24 bits.
        _ = ask("other.example", victim, scope: 24, "203.0.113.9")
        let chosen = [0, 2, 128, 0] + address
        #expect(ask("a.example", chosen, scope: 128, "203.0.113.66") == ["203.0.113.66"])
        #expect(ask("a.example", victim, scope: 24, "203.0.113.1") == ["203.0.113.1"])
    }

    @Test(
        "a subnet that breaks the rules is FORMERR",
        arguments: [
            [0, 1, 33, 0, 1, 2, 3, 4, 5], [0, 1, 24, 0, 1, 2], [0, 1, 20, 0, 1, 2, 0xFF], [0, 1],
        ] as [[UInt8]]
    )
    func badSubnet(option: [UInt8]) {
        #expect(Player().ask("a.example", subnet: option)?.message.code == 1)
    }
}
