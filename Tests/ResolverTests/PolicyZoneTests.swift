import DNS
import Resolver
import Testing
import Zones

@Suite("Policy zones") struct PolicyZoneTests {
    private let soa = "@ 60 SOA ns.rpz.example. hm.rpz.example. 7 1 1 1 1\n$TTL 5\n"
    private let shownSOA =
        "additional rpz.example. 60 IN SOA ns.rpz.example. hm.rpz.example. 7 1 1 1 1"

    private func scene(_ zones: String..., upstream: [String: [String]] = [:]) -> Scene {
        let layers = zones.enumerated().map { index, text in
            Scene.policyZone(
                (index == 0 ? soa : "") + text,
                origin: index == 0 ? "rpz.example." : "r\(index)."
            )
        }
        return Scene(Scene.policy(layers), upstream: upstream)
    }

    private let www = ["www.example. A": ["www.example. 30 A 192.0.2.1"]]

    // MARK: Actions by name

    @Test("CNAME . is NXDOMAIN, with the zone's SOA beside it") func nxDomain() throws {
        var scene = scene("www.example CNAME .")
        let answer = try scene.ask("www.example.")
        #expect(answer.first == "NXDOMAIN qr aa rd ra")
        #expect(answer.last == shownSOA)
        #expect(answer.count == 3)
    }

    @Test("CNAME *. is NODATA") func noData() throws {
        var scene = scene("www.example CNAME *.")
        let answer = try scene.ask("www.example.")
        #expect(answer.first == "NOERROR qr aa rd ra")
        #expect(answer.count == 3)
    }

    @Test("rpz-passthru forwards, and shows no SOA") func passthru() throws {
        var scene = scene("www.example CNAME rpz-passthru.\n*.example CNAME .", upstream: www)
        #expect(
            try scene.ask("www.example.") == ["NOERROR qr rd ra", "www.example. 30 IN A 192.0.2.1"]
        )
    }

    @Test("a name that leads to itself is let pass too") func oldPassthru() throws {
        var scene = scene("www.example CNAME www.example.\n*.example CNAME .", upstream: www)
        #expect(try scene.ask("www.example.").count == 2)
    }

    @Test("rpz-drop gives no answer") func drop() throws {
        var scene = scene("www.example CNAME rpz-drop.")
        #expect(try scene.ask("www.example.").isEmpty)
    }

    @Test("rpz-tcp-only truncates over UDP and forwards over TCP") func tcpOnly() throws {
        var scene = scene("www.example CNAME rpz-tcp-only.", upstream: www)
        #expect(try scene.ask("www.example.") == ["NOERROR qr aa tc rd ra"])
        #expect(try scene.ask("www.example.", over: .tcp).count == 2)
    }

    @Test("local data answer, with the zone's SOA") func localData() throws {
        var scene = scene("www.example A 10.0.0.1")
        #expect(
            try scene.ask("www.example.")
                == ["NOERROR qr aa rd ra", "www.example. 5 IN A 10.0.0.1", shownSOA]
        )
    }

    @Test("a CNAME to a wildcard is filled in with the name") func filledAlias() throws {
        var scene = scene(
            "*.example CNAME *.garden.test.net.",
            upstream: [
                "www.example.garden.test.net. A": ["www.example.garden.test.net. 30 A 192.0.2.7"]
            ]
        )
        #expect(
            try scene.ask("www.example.") == [
                "NOERROR qr aa rd ra", "www.example. 5 IN CNAME www.example.garden.test.net.",
                "www.example.garden.test.net. 30 IN A 192.0.2.7", shownSOA,
            ]
        )
        #expect(
            try scene.ask("www.example.", .cname)
                == [
                    "NOERROR qr aa rd ra", "www.example. 5 IN CNAME www.example.garden.test.net.",
                    shownSOA,
                ]
        )
        let long = String(repeating: String(repeating: "a", count: 60) + ".", count: 4) + "example."
        #expect(try scene.ask(long).first == "YXDOMAIN qr aa rd ra")
    }

    @Test("of several zones the first that matches decides") func order() throws {
        var scene = scene(
            "a.example CNAME rpz-passthru.",
            "*.example CNAME .\nb.example A 10.0.0.2",
            upstream: [
                "a.example. A": ["a.example. 30 A 192.0.2.1"]
            ]
        )
        #expect(try scene.ask("a.example.").first == "NOERROR qr rd ra")
        #expect(try scene.ask("b.example.")[1] == "b.example. 5 IN A 10.0.0.2")
        #expect(try scene.ask("c.example.").first == "NXDOMAIN qr aa rd ra")
    }

    @Test("an upstream's alias is cut where its target has an entry") func cutAlias() throws {
        var scene = scene(
            "bad.example CNAME .",
            upstream: [
                "www.example. A": [
                    "www.example. 30 CNAME bad.example.", "bad.example. 30 A 192.0.2.9",
                ]
            ]
        )
        let answer = try scene.ask("www.example.")
        #expect(answer[0] == "NXDOMAIN qr rd ra")
        #expect(answer[1] == "www.example. 30 IN CNAME bad.example.")
    }

    // MARK: Clients

    @Test(
        "a client's address decides before the name does, the longest block first",
        arguments: [
            ("10.0.0.1", "NXDOMAIN qr aa rd ra"), ("10.0.0.9", "NOERROR qr rd ra"),
            ("10.1.0.1", "NOERROR qr aa rd ra"), ("fd00::1", "NXDOMAIN qr aa rd ra"),
            ("fd00::2:1", "NOERROR qr aa rd ra"),
        ]
    )
    func clients(address: String, status: String) throws {
        var scene = scene(
            """
            24.0.0.0.10.rpz-client-ip CNAME .
            32.9.0.0.10.rpz-client-ip CNAME rpz-passthru.
            112.zz.fd00.rpz-client-ip CNAME .
            www.example CNAME *.
            """,
            upstream: www
        )
        #expect(try scene.ask("www.example.", from: address).first == status)
    }

    @Test("a client that is let pass is let pass by later zones and at an alias's target too")
    func clientPasses() throws {
        var scene = scene(
            "32.1.0.0.10.rpz-client-ip CNAME rpz-passthru.",
            "www.example CNAME .\nbad.example CNAME .\n32.9.2.0.192.rpz-ip CNAME .",
            upstream: [
                "www.example. A": [
                    "www.example. 30 CNAME bad.example.", "bad.example. 30 A 192.0.2.9",
                ],
                "bad.example. A": ["bad.example. 30 A 192.0.2.9"],
            ]
        )
        let passed = try scene.ask("www.example.", from: "10.0.0.1")
        #expect(
            passed.first == "NOERROR qr rd ra" && passed.last == "bad.example. 30 IN A 192.0.2.9"
        )
        #expect(try scene.ask("www.example.", from: "10.0.0.2").first == "NXDOMAIN qr aa rd ra")
    }

    @Test("a client's entry that is an alias is followed, not repeated") func clientAlias() throws {
        var scene = scene(
            "8.0.0.0.10.rpz-client-ip CNAME www.example.",
            upstream: www
        )
        #expect(
            try scene.ask("other.example.", from: "10.0.0.1") == [
                "NOERROR qr aa rd ra", "other.example. 5 IN CNAME www.example.",
                "www.example. 30 IN A 192.0.2.1", shownSOA,
            ]
        )
    }

    // MARK: Answers

    private let answers = [
        "www.example. A": ["www.example. 30 A 198.51.100.1", "www.example. 30 A 192.0.2.1"],
        "www.example. AAAA": ["www.example. 30 AAAA 2001:db8::7"],
        "alias.example. A": [
            "alias.example. 30 CNAME www.example.", "www.example. 30 A 192.0.2.1",
        ],
    ]

    @Test(
        "an address in an answer triggers each action",
        arguments: [
            ("CNAME .", ["NXDOMAIN qr aa rd ra"]), ("CNAME *.", ["NOERROR qr aa rd ra"]),
            ("CNAME rpz-drop.", []), ("CNAME rpz-tcp-only.", ["NOERROR qr aa tc rd ra"]),
            (
                "CNAME rpz-passthru.",
                [
                    "NOERROR qr rd ra", "www.example. 30 IN A 198.51.100.1",
                    "www.example. 30 IN A 192.0.2.1",
                ]
            ),
            ("A 10.0.0.1", ["NOERROR qr aa rd ra", "www.example. 5 IN A 10.0.0.1"]),
            ("AAAA fd00::1", ["NOERROR qr aa rd ra"]),
        ]
    )
    func responses(action: String, expected: [String]) throws {
        var scene = scene("24.0.2.0.192.rpz-ip \(action)", upstream: answers)
        // From the upstream, then from the cache.
        for _ in 0..<2 {
            let answer = try scene.ask("www.example.")
            #expect(Array(answer.prefix(expected.count)) == expected)
            #expect(answer.filter { !$0.contains(" SOA ") }.count == expected.count)
        }
        #expect(scene.asked == ["www.example. A"])
    }

    @Test("at the end of an alias the alias stays") func responseBehindAlias() throws {
        var scene = scene("32.1.2.0.192.rpz-ip A 10.0.0.1", upstream: answers)
        #expect(
            try scene.ask("alias.example.") == [
                "NOERROR qr rd ra", "alias.example. 30 IN CNAME www.example.",
                "www.example. 5 IN A 10.0.0.1", shownSOA,
            ]
        )
    }

    @Test("IPv6 blocks are written with zz") func sixes() throws {
        var scene = scene("128.7.zz.db8.2001.rpz-ip AAAA fd00::1", upstream: answers)
        #expect(try scene.ask("www.example.", .aaaa)[1] == "www.example. 5 IN AAAA fd00::1")
    }

    @Test("zones in front of the one that lets a name pass have their say about its answer")
    func passthruAndResponse() throws {
        var first = scene(
            "32.1.2.0.192.rpz-ip CNAME .",
            "www.example CNAME rpz-passthru.",
            upstream: www
        )
        #expect(try first.ask("www.example.").first == "NXDOMAIN qr aa rd ra")
        var second = scene(
            "www.example CNAME rpz-passthru.",
            "32.1.2.0.192.rpz-ip CNAME .",
            upstream: www
        )
        #expect(try second.ask("www.example.").first == "NOERROR qr rd ra")
    }

    @Test("the name of a trigger is no name that is asked for") func triggerNames() throws {
        var scene = scene("32.1.2.0.192.rpz-ip CNAME .\n32.1.2.0.192.rpz-client-ip CNAME .")
        _ = try scene.ask("32.1.2.0.192.rpz-ip.")
        _ = try scene.ask("32.1.2.0.192.rpz-client-ip.")
        #expect(scene.asked == ["32.1.2.0.192.rpz-ip. A", "32.1.2.0.192.rpz-client-ip. A"])
    }

    @Test("what a forwarder cannot see, or nobody can read, is refused with its line")
    func refusedTriggers() {
        let text = """
            $TTL 5
            ns.example.rpz-nsdname CNAME .
            32.1.2.0.192.rpz-nsip CNAME .
            33.1.2.0.192.rpz-ip CNAME .
            32.zz.2.zz.192.rpz-ip CNAME .
            x.rpz-client-ip CNAME .
            ok.example CNAME .
            """
        let file = ZoneFile(
            path: "p.rpz",
            source: ZoneSource(kind: .rpz, label: "p.rpz", origin: .root)
        )
        let layer = ZoneCompiler.compile([file], seed: 1) { (_) throws(IncludeError) in
            Array(text.utf8)
        }
        let tail = "is no address block; write it as 24.0.2.0.192.rpz-ip or 48.zz.2.db8.2001.rpz-ip"
        #expect(
            layer.findings.map(\.description) == [
                "p.rpz:2: warning: ns.example.rpz-nsdname. is a trigger on name servers, which a "
                    + "forwarder never sees; it is left out",
                "p.rpz:3: warning: 32.1.2.0.192.rpz-nsip. is a trigger on name servers, which a "
                    + "forwarder never sees; it is left out",
                "p.rpz:4: warning: 33.1.2.0.192.rpz-ip. \(tail)",
                "p.rpz:5: warning: 32.zz.2.zz.192.rpz-ip. \(tail)",
                "p.rpz:6: warning: x.rpz-client-ip. \(tail)",
            ]
        )
        #expect(layer.isUsable && layer.index.nameCount == 1)
    }
}
