import DNS
import Testing
import Zones

@testable import Configuration

@Suite("The configuration") struct ConfigurationTests {
    private func decode(_ text: String, file: String = "d/x.json5") -> Result<
        Configuration, RejectedConfiguration
    > {
        do throws(RejectedConfiguration) {
            return .success(try Configuration(parsing: Array(text.utf8), file: file))
        } catch {
            return .failure(error)
        }
    }

    private func errors(_ text: String) -> [String] {
        if case .failure(let rejected) = decode(text) { return rejected.errors.map(\.description) }
        return []
    }

    @Test("an empty document has the defaults") func defaults() throws {
        let configuration = try decode("{}").get()
        #expect(configuration.listen == nil && configuration.allow == nil)
        #expect(configuration.upstreams == nil && configuration.zones.isEmpty)
        #expect(configuration.ttl == 5 && configuration.negativeTTL == 5)
        #expect(configuration.servedTTL == 60 && configuration.blocksBypass)
        #expect(configuration.cache.octets == 64 << 20 && configuration.cache.staleFor == 86_400)
    }

    @Test("every documented key is decoded") func complete() throws {
        let text = try octets(of: "Tests/Golden/configuration/complete.json5")
        let all = try Configuration(parsing: text, file: "etc/detour.json5")
        #expect(all.listen?.map(\.description) == ["0.0.0.0:53", "[::]:53", "[fe80::1%eth0]:53"])
        #expect(
            all.allow?.map(\.description) == [
                "10.0.0.0/8", "192.168.0.0/16", "127.0.0.0/8", "::1/128",
            ]
        )
        #expect(
            all.zones.map(\.path) == [
                "etc/zones/staging.zone", "etc/zones/corp.zone", "etc/zones/block.rpz",
                "/srv/team.hosts",
            ]
        )
        #expect(all.zones.map(\.source.kind) == [.override, .authoritative, .rpz, .hosts])
        #expect(all.zones.map(\.source.ttl) == [7, 7, 7, 10])
        #expect(all.zones.map(\.source.negativeTTL) == [6, 6, 60, 6])
        #expect(all.zones.map(\.source.makesPointers) == [true, true, true, false])
        #expect(all.zones[1].source.origin.description == "corp.example.")
        #expect(all.zones[3].source.passthrough == [.mx, .txt])
        #expect(all.zones[3].source.label == "team.hosts")
        #expect(all.servedTTL == 50 && !all.blocksBypass && all.strategy == .race)
        #expect(all.upstreams?.map(\.description) == ["9.9.9.9:53", "149.112.112.112:5353"])
        #expect(all.forward.map(\.suffix.description) == ["corp.internal."])
        #expect(all.upstreamAnchors == "etc/ca.pem")
        #expect(all.forward[0].strategy == .sequential)
        #expect(all.forward[0].upstreamAnchors == "etc/corp-ca.pem")
        #expect(all.views[0].name == "phones" && all.views[0].upstreams?.isEmpty == true)
        #expect(all.views[0].clients.map(\.description) == ["10.1.0.0/16"])
        #expect(all.views[0].addresses.map(\.description) == ["10.0.0.53"])
        #expect(all.views[0].zones.map(\.path) == ["etc/zones/phones.zone"])
        #expect(all.cache.octets == 32 << 20 && all.cache.staleFor == 43_200)
        #expect(all.cache.minimumTTL == 5 && all.cache.maximumTTL == 86_400)
        #expect(all.control == "etc/run/control.sock" && all.state == "/var/lib/detour")
        #expect(all.metrics?.description == "127.0.0.1:9153" && all.user == "detour")
        #expect(all.workers == 4 && all.log.queries == .all && all.log.format == .json)
        #expect(all.limits.queries == 100 && all.limits.burst == 200 && all.limits.waiting == 50)
        #expect(all.limits.connections == 64 && all.limits.connectionsPerClient == 8)
        #expect(all.limits.ipv4Prefix == 24 && all.limits.ipv6Prefix == 56)
        #expect(all.limits.exempt == [IPPrefix(IPAddress(ipv4: 0x0A09_0000), length: 112)])
        #expect(all.chaos.version == "detour" && all.chaos.id == "lab")
        #expect(all.verify.general.anchors == ["etc/zones/anchors/"])
        #expect(all.verify.general.system == true && all.verify.general.warnDays == 30)
        #expect(all.verify.general.basic?.passwordFile == "etc/p")
        #expect(all.verify.names[0].match == "*.staging.example.com")
        #expect(all.verify.names[0].requirements.ports == [443, 8443])
        #expect(all.verify.names[0].requirements.expect?.status == [200, 401])
        #expect(all.verify.names[0].requirements.expect?.headers.first?.text == "json")
        #expect(all.verify.names[0].requirements.clientCertificate?.key == "etc/k.pem")
        #expect(all.verify.samples.first?.names == ["a.cdn.example.com"])
        #expect(all.verify.baseline == "etc/baseline.json" && all.verify.timeout == 20)
        #expect(all.verify.jobs == 8)
    }

    @Test(
        "what is wrong is told with its place, what was found and what is allowed",
        arguments: [
            (
                "{ lisen: [] }",
                "d/x.json5:1:3: error: lisen: there is no such key; did you mean listen?"
            ),
            (
                "{ cache: { zzz: 1 } }",
                "d/x.json5:1:12: error: cache.zzz: there is no such key; there are bytes, staleFor, "
                    + "minimumTTL, maximumTTL"
            ),
            (
                "{\n  allow: [\"10.0.0.0/8\",\n    \"10.0.0.1/8\"],\n}",
                "d/x.json5:3:5: error: allow[1]: found \"10.0.0.1/8\"; write a network such as "
                    + "\"192.168.0.0/16\" or \"2001:db8::/32\", or one address"
            ),
            ("{ ttl: 1, ttl: 2 }", "d/x.json5:1:11: error: ttl: the key stands twice"),
            (
                "{ policy: \"fastst\" }",
                "d/x.json5:1:11: error: policy: found \"fastst\"; did you mean \"fastest\"? Allowed are "
                    + "sequential, fastest, race"
            ),
            (
                "{ workers: 0 }",
                "d/x.json5:1:12: error: workers: found 0; write a number from 1 to 256"
            ),
            (
                "{ cache: { bytes: \"64 MiBs\" } }",
                "d/x.json5:1:19: error: cache.bytes: found \"64 MiBs\"; write octets as a number, or a "
                    + "size such as \"512KiB\", \"64MiB\" or \"2GiB\", 1048576 octets at least"
            ),
            (
                "{ ttl: -1 }",
                "d/x.json5:1:8: error: ttl: found -1; write seconds as a number, or a duration such as "
                    + "\"30s\", \"45m\", \"12h\" or \"1d\""
            ),
            (
                "{ zones: [{ kind: \"rpz\", file: \"a\" }] }",
                "d/x.json5:1:11: error: zones[0]: a zone of the kind rpz needs its origin"
            ),
            (
                "{ zones: [{ kind: \"hosts\" }] }",
                "d/x.json5:1:11: error: zones[0]: the key file is missing"
            ),
            (
                "{ views: [{ name: \"a\" }] }",
                "d/x.json5:1:11: error: views[0]: no client can have this view; give it clients, "
                    + "addresses that they ask, or both"
            ),
            (
                "{ upstreams: \"9.9.9.9\" }",
                "d/x.json5:1:14: error: upstreams: found \"9.9.9.9\"; write a list of addresses"
            ),
            (
                "{ upstreamAnchors: [\"ca.pem\"] }",
                "d/x.json5:1:20: error: upstreamAnchors: found a list; write a path"
            ),
            (
                "{ forward: [{ suffix: \"a.\", upstreams: [\"1.1.1.1\"], upstreamAnchors: \"c.pem\" }] }",
                "d/x.json5:1:70: error: forward[0].upstreamAnchors: none of the upstreams here is "
                    + "asked over TLS (tls://…)"
            ),
            (
                "{ views: [{ name: \"a\", clients: [\"::1\"], upstreamAnchors: \"c.pem\" }] }",
                "d/x.json5:1:59: error: views[0].upstreamAnchors: none of the upstreams here is "
                    + "asked over TLS (tls://…)"
            ),
            ("[]", "d/x.json5:1:1: error: found a list; write an object"),
            ("{ ttl 5 }", "d/x.json5:1:7: error: ':' is missing behind the key ttl"),
            (
                "{ user: detour }",
                "d/x.json5:1:9: error: 'detour' is no value; text stands in quotes"
            ),
            ("{ zones: [", "d/x.json5:1:10: error: the list that starts here has no ']'"),
            ("{ user: 'x", "d/x.json5:1:9: error: the text that starts here has no end"),
            ("{} {}", "d/x.json5:1:4: error: the document ends before this"),
        ]
    )
    func rejects(text: String, error: String) {
        #expect(errors(text) == [error])
    }

    @Test("all errors of a file are told, in its order") func several() {
        let found = errors("{ views: [{ name: 'a', clients: [1, 'x'] }], ttl: 'x', allo: [] }")
        #expect(found.count == 4)
        #expect(found.map { $0.split(separator: ":")[2] } == ["34", "37", "51", "56"])
    }

    @Test(
        "JSON5 is read: comments, bare keys, single quotes, escapes, trailing commas, hexadecimal"
    )
    func notation() throws {
        let configuration = try decode(
            "\u{FEFF}// one\n{ 'user': 'a\\u0062\\x63\\\nd', /* two */ ttl: +0x10, workers: 2., }"
        ).get()
        #expect(configuration.user == "abcd")
        #expect(configuration.ttl == 16 && configuration.workers == 2)
    }

    @Test(
        "durations and sizes have units",
        arguments: [
            ("\"1d\"", 86_400), ("\"45m\"", 2_700), ("\"1h 30m\"", 5_400), ("90", 90),
            ("\"2w\"", 1_209_600),
        ]
    )
    func durations(text: String, seconds: UInt32) throws {
        #expect(try decode("{ ttl: \(text) }").get().ttl == seconds)
    }

    @Test("nesting is bounded") func nesting() {
        let text = String(repeating: "[", count: 100_000)
        #expect(errors(text).first?.contains("nested too deep") == true)
    }
}
