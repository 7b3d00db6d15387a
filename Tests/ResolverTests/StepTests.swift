import DNS
import Resolver
import Testing
import Zones

/// What is said about a decision, against the decision.
@Suite("Steps of a decision") struct StepTests {
    private let policy = Policy(
        layers: [
            Scene.layer(
                """
                a.example. A 10.0.0.1
                *.example. A 10.0.0.2
                alias.example. CNAME a.example.
                far.example. CNAME www.test.net.
                round.example. CNAME about.loop.
                gone.example. CNAME .
                empty.example. CNAME *.
                pass.example. CNAME rpz-passthru.
                drop.example. CNAME rpz-drop.
                tcp.example. CNAME rpz-tcp-only.
                """
            ),
            Scene.policyZone(
                """
                about.loop CNAME round.example.
                a.example A 10.9.9.9
                bad.net CNAME .
                *.fill.net CNAME *.example.
                32.9.0.0.10.rpz-client-ip CNAME rpz-passthru.
                32.8.0.0.10.rpz-client-ip CNAME .
                """
            ),
            Scene.layer(
                "@ SOA ns hm 1 1 1 1 1\nsub NS ns.sub\nhost A 10.0.0.5\nd DNAME test.net.",
                .authoritative,
                origin: "corp."
            ),
        ],
        views: [
            Policy.View(
                name: "v",
                clients: [IPPrefix(IPAddress(ipv4: 0x0A01_0000), length: 112)],
                layers: [Scene.layer("a.example. A 10.1.1.1")],
                forwards: false
            )
        ],
        upstreams: [Policy.Upstream(address: IPAddress(ipv4: 0x0909_0909))]
    )

    private static let names = [
        "a.example.", "x.example.", "alias.example.", "far.example.", "round.example.",
        "gone.example.",
        "empty.example.", "pass.example.", "drop.example.", "bad.net.", "a.fill.net.", "other.net.",
        "tcp.example.", "x.d.corp.", "d.corp.",
        "host.corp.", "nx.corp.", "x.sub.corp.", "printer.local.", "_x.example.", "localhost.",
    ]

    @Test("the last decisive step is what becomes of the query", arguments: names)
    func agreement(name: String) throws {
        for client in ["192.168.0.1", "10.1.0.1", "10.0.0.9", "10.0.0.8", "203.0.113.1"] {
            for type in [RecordType.a, .cname, .ds] {
                let address = try #require(IPAddress(scanning: client))
                let account = policy.account(
                    of: try Name(scanning: name),
                    type: type,
                    from: Client(
                        address: address,
                        localAddress: address,
                        transport: .udp,
                        returnPath: .init(0, 0)
                    )
                )
                let last = try #require(account.steps.last { $0.isDecisive })
                var scene = Scene(policy)
                let answer = try scene.ask(name, type, from: client, at: client)
                let isForwarded = last.stage == .forwarding && !last.sentence.hasSuffix("REFUSED")
                #expect(
                    isForwarded == !scene.asked.isEmpty,
                    "\(client) \(type): \(last), \(answer)"
                )
                guard !isForwarded else { continue }
                let status = answer.first?.split(separator: " ").first ?? "nothing"
                for word in ["NXDOMAIN", "SERVFAIL"] {
                    #expect(
                        last.sentence.hasSuffix(word) == (status == word),
                        "\(client) \(type): \(last), \(answer)"
                    )
                }
                #expect(last.sentence.hasSuffix("there is no answer") == answer.isEmpty)
            }
        }
    }

    @Test("entries say where they are, and what they shadow") func places() throws {
        let client = Client(
            address: IPAddress(ipv4: 0xC0A8_0001),
            localAddress: IPAddress(ipv4: 0x7F00_0001),
            transport: .udp,
            returnPath: .init(0, 0)
        )
        let steps = policy.account(of: try Name(scanning: "a.example."), type: .a, from: client)
            .steps
        #expect(
            steps.map { ($0.isDecisive ? "* " : "  ") + $0.sentence + " \($0.place?.line ?? 0)" }
                == [
                    "  192.168.0.1 is served 0", "  the base, no view 0",
                    "* a.example. is owned: it has A records 1", "  *.example. is shadowed 2",
                    "  a.example. is shadowed 2",
                ]
        )
    }
}
