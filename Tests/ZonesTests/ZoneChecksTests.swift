import DNS
import Testing
import Zones

/// What is found in a zone of a kind named `example.`, without the texts that show it.
private func findings(_ text: String, _ kind: ZoneKind, origin: String = "example.") -> [String] {
    judge(Array(text.utf8), kind, origin: origin).map {
        String($0.description.split(separator: "\n")[0])
    }
}

@Suite struct ZoneChecksTests {
    private let apex = "@ SOA ns hm 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n"

    @Test(
        arguments: [
            ("", []),
            (
                "a CNAME b\na CNAME b",
                ["z:5: warning: a.example. has the same CNAME record twice"]
            ),
            (
                "a CNAME b\nA.example. CNAME B",
                ["z:5: warning: a.example. has the same CNAME record twice"]
            ),
            ("a CNAME b\na RRSIG A 8 2 60 0 0 1 . AQID\na NSEC b A\na KEY 0 3 8 AQID", []),
            (
                "a CNAME b\na A 192.0.2.1",
                ["z:5: error: a.example. has a CNAME record, and beside it A"]
            ),
            (
                "a A 192.0.2.1\nb A 192.0.2.2\nA CNAME b",
                ["z:4: error: a.example. has a CNAME record, and beside it A"]
            ),
            ("a CNAME b\na CNAME c", ["z:5: error: a.example. has several CNAME records"]),
            ("a DNAME b\na DNAME c", ["z:5: error: a.example. has several DNAME records"]),
            ("a DNAME b\na A 192.0.2.1", []),
            (
                "a DNAME b\nx.y.a A 192.0.2.1",
                ["z:5: error: x.y.a.example. is below a DNAME record, which hides it"]
            ),
            ("a DNAME b\nh.a NSEC3 1 0 0 - 00000000", []),
            ("a DNAME b\na NS ns", ["z:4: error: a.example. has a DNAME record and is delegated"]),
            ("@ DNAME b.", ["z:3: error: ns.example. is below a DNAME record, which hides it"]),
            (
                "a 5 A 192.0.2.1\na 6 A 192.0.2.2\na 7 TXT x",
                ["z:5: warning: the A records of a.example. have different TTLs"]
            ),
            (
                "x.other. A 192.0.2.1",
                ["z:4: warning: x.other. is not in the zone; the record is left out"]
            ),
            (
                "@ DS 1 8 2 "
                    + "0102030405060708091011121314151617181920212223242526272829303132",
                [
                    "z:4: error: example. is the zone's own name; its DS record belongs into the zone "
                        + "above"
                ]
            ),
            (
                "a DS 1 8 99 0102",
                ["z:4: warning: a.example. has a DS record and is not delegated"]
            ),
            ("a DS 1 8 99 0102\na NS ns", []),
            (
                "a HTTPS 0 . port=443",
                [
                    "z:4: warning: the HTTPS record of a.example. is an alias (priority 0): clients "
                        + "ignore its parameters"
                ]
            ),
            ("a HTTPS 0 b", []), ("a SVCB 1 b port=853", []), ("_dns SVCB 0 b", []),
            ("_dns SVCB 1 b alpn=dot", []),
            ("_8443._dns SVCB 1 b alpn=dot,h2 dohpath=/q{?dns}", []),
            (
                "_dns SVCB 1 b alpn=h3",
                [
                    "z:4: error: the SVCB record of _dns.example. is for DNS over HTTP, and has no "
                        + "dohpath"
                ]
            ),
            (
                "_853._dns.a SVCB 1 b port=853",
                [
                    "z:4: warning: the SVCB record of _853._dns.a.example. has no alpn: clients know no "
                        + "protocol to ask it by"
                ]
            ),
            (
                "sub NS ns.sub",
                ["z:4: warning: the name server ns.sub.example. has no address in the zone"]
            ),
            ("sub NS ns.sub\nns.sub AAAA ::1", []), ("sub NS ns.other.", []),
            (
                "@ SOA ns hm 1 2 3 4 5",
                ["z:4: warning: example. has the same SOA record twice"]
            ),
            (
                "@ SOA ns hm 2 2 3 4 5",
                ["z:4: error: example. has another SOA record than the zone"]
            ),
            (
                "a SOA ns hm 1 2 3 4 5",
                ["z:4: error: a.example. has another SOA record than the zone"]
            ),
        ] as [(String, [String])]
    )
    func `an authoritative zone is judged`(row: (String, [String])) {
        #expect(findings(apex + row.0, .authoritative) == row.1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a name may have any number of records, and copies of them`() {
        let lines = ["a A 192.0.2.1", "a A 192.0.2.2"].flatMap {
            [String](repeating: $0, count: 25_000)
        }
        let found = findings(lines.joined(separator: "\n"), .override)
        #expect(found.first == "z:2: warning: a.example. has the same A record twice")
        #expect(found.allSatisfy { $0.hasSuffix("a.example. has the same A record twice") })
        let distinct = (0..<30_000).map { "a A 10.0.\($0 >> 8).\($0 & 255)" }
        #expect(
            findings(distinct.joined(separator: "\n"), .override).first
                == "z:1: error: the A records of a.example. fit into no message"
        )
    }

    @Test func `an authoritative zone needs an SOA record`() {
        #expect(
            findings("a A 192.0.2.1", .authoritative) == [
                "z: error: the zone example. has no SOA record"
            ]
        )
        #expect(
            findings("@ SOA . . 1 2 3 4 5", .authoritative) == [
                "z: warning: the zone example. has no NS record"
            ]
        )
    }

    @Test func `an override zone needs nothing, and CNAMEs stand alone in it too`() {
        #expect(findings("a.other. A 192.0.2.1", .override) == [])
        #expect(
            findings("a A 192.0.2.1\na CNAME b", .override) == [
                "z:1: error: a.example. has a CNAME record, and beside it A"
            ]
        )
    }

    @Test func `names that clients do not ask for are warned of`() {
        #expect(
            findings(
                "printer.LOCAL. A 192.0.2.1\napi.dev. A 192.0.2.1\ndev.example. A 192.0.2.1",
                .override
            )
                == [
                    "z:1: warning: clients ask for printer.LOCAL. by multicast, not here (.local)",
                    "z:2: warning: browsers open api.dev. by HTTPS only; it needs a certificate",
                ]
        )
    }

    @Test func `an empty zone and a zone of the root are judged`() {
        #expect(findings("", .override) == [])
        #expect(
            findings("@ SOA . . 1 2 3 4 5\n@ NS a.\na. A 192.0.2.1", .authoritative, origin: ".")
                == []
        )
    }
}
