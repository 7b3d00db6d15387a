import DNS
import Resolver
import Testing

@Suite("Views") struct ViewTests {
    private func view(
        _ name: String,
        _ clients: [String],
        _ addresses: [String],
        _ text: String,
        forwards: Bool = true
    ) -> Policy.View {
        Policy.View(
            name: name,
            clients: clients.compactMap { IPPrefix(scanning: $0) },
            addresses: addresses.compactMap { IPAddress(scanning: $0) },
            layers: [Scene.layer(text)],
            forwards: forwards
        )
    }

    private var policy: Policy {
        Scene.policy(
            [Scene.layer("a.example. A 10.0.0.1\nb.example. A 10.0.0.2")],
            views: [
                view("wide", ["10.0.0.0/8"], [], "a.example. A 10.8.0.1"),
                view(
                    "narrow",
                    ["10.1.0.0/16", "fd00::/8"],
                    [],
                    "a.example. A 10.16.0.1\nc.example. A 10.16.0.3"
                ),
                view("local", [], ["10.0.0.53"], "a.example. A 10.53.0.1"),
                view(
                    "both",
                    ["10.1.0.0/16"],
                    ["10.0.0.53"],
                    "a.example. A 10.99.0.1",
                    forwards: false
                ),
            ]
        )
    }

    @Test(
        "the longest network wins, at equal length the one that names our address",
        arguments: [
            ("192.168.0.1", "127.0.0.1", "10.0.0.1"), ("10.2.0.1", "127.0.0.1", "10.8.0.1"),
            ("10.1.0.1", "127.0.0.1", "10.16.0.1"), ("fd00::1", "127.0.0.1", "10.16.0.1"),
            ("192.168.0.1", "10.0.0.53", "10.53.0.1"), ("10.1.0.1", "10.0.0.53", "10.99.0.1"),
            ("10.2.0.1", "10.0.0.53", "10.8.0.1"),
        ]
    )
    func choice(client: String, local: String, address: String) throws {
        var scene = Scene(policy)
        #expect(
            try scene.ask("a.example.", from: client, at: local)
                == ["NOERROR qr aa rd ra", "a.example. 5 IN A \(address)"]
        )
    }

    @Test("what a view does not own, it has from the base") func inheritance() throws {
        var scene = Scene(policy)
        #expect(try scene.ask("b.example.", from: "10.1.0.1")[1] == "b.example. 5 IN A 10.0.0.2")
        #expect(try scene.ask("c.example.", from: "10.1.0.1")[1] == "c.example. 5 IN A 10.16.0.3")
        #expect(try scene.ask("c.example.", from: "10.2.0.1")[0] == "NXDOMAIN qr rd ra")
    }

    @Test("a view without upstreams refuses what is not owned") func noUpstreams() throws {
        var scene = Scene(policy)
        #expect(
            try scene.ask("x.example.", from: "10.1.0.1", at: "10.0.0.53") == ["REFUSED qr rd ra"]
        )
        #expect(scene.asked.isEmpty)
    }

    @Test("answers of one view's upstreams are not another's") func groups() throws {
        let other = Policy.Upstream(address: IPAddress(ipv4: 0x0808_0808))
        let policy = Policy(
            layers: [],
            views: [
                Policy.View(
                    name: "v",
                    clients: [IPPrefix(IPAddress(ipv4: 0x0A00_0000), length: 104)],
                    layers: [],
                    group: 1
                )
            ],
            upstreams: [Policy.Upstream(address: IPAddress(ipv4: 0x0909_0909)), other],
            groups: [.init(members: [0]), .init(members: [1])]
        )
        var scene = Scene(policy, upstream: ["x.example. A": ["x.example. 30 A 192.0.2.1"]])
        for client in ["192.168.0.1", "10.0.0.1", "192.168.0.1", "10.0.0.1"] {
            #expect(try scene.ask("x.example.", from: client).count == 2)
        }
        #expect(scene.asked.count == 2)
    }
}
