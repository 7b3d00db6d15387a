import DNS
import Resolver
import Testing
import Zones

@Suite("Settings of a policy") struct SettingTests {
    @Test("class CH is answered where it is configured, else refused") func chaos() throws {
        var settings = Policy.Settings()
        settings.version = Array("detour 1".utf8)
        var scene = Scene(Scene.policy([], settings: settings))
        #expect(
            try scene.ask("version.bind.", .txt, in: .chaos)
                == ["NOERROR qr rd ra", "version.bind. 0 CH TXT \"detour 1\""]
        )
        #expect(try scene.ask("VERSION.server.", .txt, in: .chaos).count == 2)
        #expect(try scene.ask("id.server.", .txt, in: .chaos) == ["REFUSED qr rd ra"])
        #expect(try scene.ask("version.bind.", .txt, in: .hesiod) == ["REFUSED qr rd ra"])
    }

    @Test("types under passthrough are forwarded at owned names") func passthrough() throws {
        let file = ZoneFile(
            path: "z",
            source: ZoneSource(
                kind: .override,
                label: "z",
                ttl: 9,
                negativeTTL: 8,
                passthrough: [.mx]
            )
        )
        let layer = ZoneCompiler.compile([file], seed: 1) { (_) throws(IncludeError) in
            Array("www.example. A 10.0.0.1".utf8)
        }
        var scene = Scene(
            Scene.policy([Policy.Layer(layer.take())]),
            upstream: ["www.example. MX": ["www.example. 30 MX 10 mx.example."]]
        )
        #expect(try scene.ask("www.example.", .mx)[1] == "www.example. 30 IN MX 10 mx.example.")
        let negative = try scene.ask("www.example.", .txt)
        #expect(negative[0] == "NOERROR qr aa rd ra")
        #expect(negative[1].hasPrefix("authority www.example. 8 IN SOA "))
        #expect(negative[1].hasSuffix(" 8"))
    }

    @Test("private reverse zones and special names go where a rule sends them") func rules() throws
    {
        let policy = Policy(
            layers: [],
            upstreams: [Policy.Upstream(address: IPAddress(ipv4: 0x0909_0909))],
            forwardRules: [
                .init(suffix: try Name(scanning: "10.in-addr.arpa."), group: 0),
                .init(suffix: try Name(scanning: "local."), group: 0),
            ]
        )
        var scene = Scene(
            policy,
            upstream: ["1.0.0.10.in-addr.arpa. PTR": ["1.0.0.10.in-addr.arpa. 30 PTR a.corp."]]
        )
        #expect(try scene.ask("1.0.0.10.in-addr.arpa.", .ptr).count == 2)
        #expect(try scene.ask("1.0.168.192.in-addr.arpa.", .ptr)[0] == "NXDOMAIN qr rd ra")
        _ = try scene.ask("printer.local.")
        _ = try scene.ask("168.192.in-addr.arpa.", .ds)
        #expect(
            scene.asked == [
                "1.0.0.10.in-addr.arpa. PTR", "printer.local. A", "168.192.in-addr.arpa. DS",
            ]
        )
    }
}
