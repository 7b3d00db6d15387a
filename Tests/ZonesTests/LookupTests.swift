import DNS
import Testing

@testable import Zones

/// Which entry decides: the rules of SEMANTICS 1 and 2, and RFC 4592 for the other kinds.
@Suite("Lookup")
struct LookupTests {
    private static func layer(
        _ text: String,
        kind: ZoneKind = .override,
        origin: String = "."
    ) -> CompiledLayer {
        let origin = (try? Name(scanning: origin)) ?? .root
        let source = ZoneSource(kind: kind, label: "t.zone", origin: origin)
        return ZoneCompiler.compile([ZoneFile(path: "t.zone", source: source)], seed: 3) {
            _ throws(IncludeError) in Array(text.utf8)
        }
    }

    private static func kind(
        _ name: String,
        _ type: RecordType,
        in layer: borrowing CompiledLayer
    ) -> Lookup.Kind {
        var folded = FoldedName()
        let name = (try? Name(scanning: name)) ?? .root
        guard folded.read(from: name.octets, at: 0) else { return .notOwned }
        return layer.index.lookup(folded, type: type).kind
    }

    private static let sparse = """
        api.example.    A 192.0.2.1
        *.cdn.example.  A 192.0.2.2
        a.cdn.example.  A 192.0.2.3
        *.a.cdn.example. AAAA 2001:db8::1
        www.example.    CNAME api.example.
        gone.example.   CNAME .
        empty.example.  CNAME *.
        *.example.net.  A 192.0.2.9
        pass.example.net. CNAME rpz-passthru.
        drop.example.   CNAME rpz-drop.
        tcp.example.    CNAME rpz-tcp-only.
        _srv.api.example. TXT "own"

        """

    @Test(
        "an override zone owns what it holds and nothing else",
        arguments: [
            ("api.example.", RecordType.a, Lookup.Kind.answer),
            ("API.Example.", .a, .answer),
            ("api.example.", .aaaa, .noData),
            ("api.example.", .https, .noData),
            ("api.example.", .any, .answer),
            ("api.example.", .ds, .forward),
            ("api.example.", .dnskey, .noData),
            ("x.api.example.", .a, .notOwned),
            ("example.", .a, .notOwned),
            ("_acme-challenge.api.example.", .txt, .notOwned),
            ("_8443._https.api.example.", .https, .noData),
            ("_8443._https.api.example.", .svcb, .noData),
            ("_8443._https.api.example.", .txt, .notOwned),
            ("_srv.api.example.", .txt, .answer),
            ("_443._https.b.cdn.example.", .https, .noData),
            ("b.cdn.example.", .a, .answer),
            ("c.b.cdn.example.", .a, .answer),
            ("cdn.example.", .a, .notOwned),
            ("_dmarc.cdn.example.", .txt, .notOwned),
            ("a.cdn.example.", .aaaa, .noData),
            ("b.a.cdn.example.", .aaaa, .answer),
            ("b.a.cdn.example.", .a, .noData),
            ("*.cdn.example.", .a, .answer),
            ("www.example.", .a, .cname),
            ("www.example.", .cname, .answer),
            ("gone.example.", .a, .nxDomain),
            ("gone.example.", .txt, .nxDomain),
            ("empty.example.", .a, .noData),
            ("y.example.net.", .a, .answer),
            ("pass.example.net.", .a, .forward),
            ("drop.example.", .a, .drop),
            ("tcp.example.", .a, .tcpOnly),
            ("1.2.0.192.in-addr.arpa.", .ptr, .notOwned),
        ]
    )
    func sparse(name: String, type: RecordType, expected: Lookup.Kind) {
        let layer = Self.layer(Self.sparse)
        let (isUsable, findings) = (layer.isUsable, layer.findings)
        #expect(isUsable && findings.isEmpty)
        #expect(Self.kind(name, type, in: layer) == expected)
    }

    private static let authoritative = """
        @ SOA ns h 1 2 3 4 5
        @ NS ns
        ns A 192.0.2.53
        a.b.c A 192.0.2.1
        *.w TXT "wild"
        host.w A 192.0.2.2
        d NS ns.d
        ns.d A 192.0.2.3
        r DNAME target.example.net.
        alias CNAME ns
        *.s.*.w A 192.0.2.4

        """

    @Test(
        "an authoritative zone owns its subtree (RFC 1034 4.3.2, RFC 4592, RFC 6672)",
        arguments: [
            ("example.", RecordType.soa, Lookup.Kind.answer),
            ("example.org.", .a, .notOwned),
            ("b.c.example.", .a, .noData),
            ("c.example.", .txt, .noData),
            ("x.c.example.", .a, .nxDomain),
            ("x.w.example.", .txt, .answer),
            ("y.x.w.example.", .txt, .answer),
            ("x.host.w.example.", .txt, .nxDomain),
            ("w.example.", .txt, .noData),
            ("x.w.example.", .a, .noData),
            ("_x.w.example.", .txt, .answer),
            ("d.example.", .a, .referral),
            ("x.d.example.", .a, .referral),
            ("ns.d.example.", .a, .referral),
            ("d.example.", .ds, .noData),
            ("r.example.", .a, .noData),
            ("r.example.", .dname, .answer),
            ("x.r.example.", .a, .dname),
            ("alias.example.", .a, .cname),
            ("nothing.example.", .a, .nxDomain),
            ("s.*.w.example.", .a, .noData),
            ("x.s.*.w.example.", .a, .answer),
            ("*.w.example.", .txt, .answer),
        ]
    )
    func authoritative(name: String, type: RecordType, expected: Lookup.Kind) {
        let layer = Self.layer(Self.authoritative, kind: .authoritative, origin: "example.")
        let (isUsable, findings) = (layer.isUsable, layer.findings)
        #expect(isUsable, "\(findings)")
        #expect(Self.kind(name, type, in: layer) == expected)
    }

    private static let policy = """
        @ SOA localhost. h. 1 2 3 4 5
        @ NS localhost.
        bad.example CNAME .
        *.bad.example CNAME .
        ok.bad.example CNAME rpz-passthru.
        *.a A 192.0.2.1
        b.a A 192.0.2.2

        """

    @Test(
        "a policy zone's triggers are relative to it; a wildcard stops at the closest encloser",
        arguments: [
            ("bad.example.", RecordType.a, Lookup.Kind.nxDomain),
            ("x.y.bad.example.", .mx, .nxDomain),
            ("ok.bad.example.", .a, .forward),
            ("x.ok.bad.example.", .a, .notOwned),
            ("x.a.", .a, .answer),
            ("x.b.a.", .a, .notOwned),
            ("b.a.", .aaaa, .noData),
            ("a.", .a, .notOwned),
            ("rpz.", .soa, .notOwned),
            ("other.", .a, .notOwned),
        ]
    )
    func policy(name: String, type: RecordType, expected: Lookup.Kind) {
        let layer = Self.layer(Self.policy, kind: .rpz, origin: "rpz.")
        let isUsable = layer.isUsable
        #expect(isUsable)
        #expect(Self.kind(name, type, in: layer) == expected)
    }

    @Test("PTR records are made of exact private addresses, the first name of each")
    func pointers() {
        let layer = Self.layer(
            """
            first.example.  A 10.0.0.1
            second.example. A 10.0.0.1
            v6.example.     AAAA fd00::1
            public.example. A 203.0.113.1
            *.wild.example. A 10.0.0.2
            9.0.0.10.in-addr.arpa. PTR explicit.example.
            nine.example.   A 10.0.0.9

            """
        )
        #expect(Self.kind("1.0.0.10.in-addr.arpa.", .ptr, in: layer) == .pointer)
        #expect(Self.kind("1.0.0.10.in-addr.arpa.", .a, in: layer) == .notOwned)
        let v6 = "1." + String(repeating: "0.", count: 29) + "d.f.ip6.arpa."
        #expect(Self.kind(v6, .ptr, in: layer) == .pointer)
        #expect(Self.kind("1.113.0.203.in-addr.arpa.", .ptr, in: layer) == .notOwned)
        #expect(Self.kind("2.0.0.10.in-addr.arpa.", .ptr, in: layer) == .notOwned)
        #expect(Self.kind("9.0.0.10.in-addr.arpa.", .ptr, in: layer) == .answer)
    }

    @Test("the first file that defines a name owns it whole, and the other is told")
    func precedence() {
        let texts = ["a.zone": "n. A 192.0.2.1\n", "b.zone": "n. AAAA ::1\nm. A 192.0.2.2\n"]
        let files = ["a.zone", "b.zone"].map {
            ZoneFile(path: $0, source: ZoneSource(kind: .override, label: $0))
        }
        #expect(ZoneCompiler.layers(of: files).count == 1)
        let layer = ZoneCompiler.compile(files, seed: 1) { path throws(IncludeError) in
            Array((texts[path] ?? "").utf8)
        }
        #expect(Self.kind("n.", .aaaa, in: layer) == .noData)
        #expect(Self.kind("m.", .a, in: layer) == .answer)
        let (isUsable, findings) = (layer.isUsable, layer.findings)
        #expect(isUsable)
        #expect(findings.map(\.line) == [1])
        #expect(findings.first?.sentence.contains("a.zone:1") == true)
    }

    @Test(
        "what no answer could be made of is refused, with its line",
        arguments: [
            ("a. CNAME b.\na. A 192.0.2.1\n", 2 as UInt32),
            ("a. CNAME b.\nb. CNAME c.\nc. CNAME a.\n", 1),
            ("x. A 192.0.2.1\na. CNAME a.\n", 2),
            ("a. CNAME b.\na. CNAME c.\n", 2),
        ]
    )
    func refused(text: String, line: UInt32) {
        let layer = Self.layer(text)
        let (isUsable, findings) = (layer.isUsable, layer.findings)
        #expect(!isUsable)
        #expect(findings.contains { $0.severity == .error && $0.line == line })
    }

    @Test("names that share hash slots are all found, and no others: 20 000 names")
    func manyNames() {
        var text = ""
        for number in 0..<20_000 { text += "h\(number).x\(number % 7).example. A 192.0.2.1\n" }
        let layer = Self.layer(text)
        let count = layer.index.nameCount
        #expect(count == 20_000)
        for number in stride(from: 0, to: 20_000, by: 7) {
            #expect(Self.kind("h\(number).x\(number % 7).example.", .a, in: layer) == .answer)
            #expect(Self.kind("h\(number).x\(number % 7 + 1).example.", .a, in: layer) == .notOwned)
        }
    }

    @Test("a million names at one address compile in linear time")
    func oneAddress() {
        var text = ""
        for number in 0..<30_000 { text += "h\(number).example. A 127.0.0.1\n" }
        let clock = ContinuousClock()
        let time = clock.measure { _ = Self.layer(text).index.nameCount }
        // Quadratic, it would take minutes.
        #expect(time < .seconds(20))
    }
}
