import DNS
import Testing
import Zones

@Suite struct MasterFileScannerTests {
    @Test func `a zone is read`() {
        let result = scan(
            """
            ; The example of RFC 1035, 5.3, in short.
            @   IN  SOA     VENERA      Action\\.domains (
                                             20     ; SERIAL
                                             7200   ; REFRESH
                                             600    ; RETRY
                                             3600000; EXPIRE
                                             60)    ; MINIMUM
                    NS      A.ISI.EDU.
                    MX      10      VENERA
            A       A       26.3.0.103
            VENERA  A       10.1.0.52
                    A       128.9.0.32
            """,
            origin: "isi.edu."
        )
        #expect(
            result.records == [
                "isi.edu. 5 IN SOA VENERA.isi.edu. Action\\.domains.isi.edu. 20 7200 600 3600000 60",
                "isi.edu. 5 IN NS A.ISI.EDU.", "isi.edu. 5 IN MX 10 VENERA.isi.edu.",
                "A.isi.edu. 5 IN A 26.3.0.103", "VENERA.isi.edu. 5 IN A 10.1.0.52",
                "VENERA.isi.edu. 5 IN A 128.9.0.32",
            ]
        )
        #expect(result.listing.places == ["0:2", "0:8", "0:9", "0:10", "0:11", "0:12"])
        #expect(result.report.findings.isEmpty)
        #expect(result.report.recordCount == 6)
    }

    @Test(arguments: [
        "a 60 IN A 192.0.2.1", "a IN 60 A 192.0.2.1", "a 1m in a 192.0.2.1", "a 60 A 192.0.2.1",
        "a\t60\tCLASS1\tTYPE1\t192.0.2.1", "a 60 IN A 192.0.2.1\r\n", "a 60 IN A 192.0.2.1;x",
        "a 60 IN A ( 192.0.2.1 )", "a (\n60 ; x\nIN\n\n A\n) 192.0.2.1", "(a 60 IN A 192.0.2.1)",
        "\u{FEFF}a 60 IN A 192.0.2.1", "\n \n;\n ; x\r\n\t\na 60 IN A 192.0.2.1\n\n",
        "a 60 IN A \\# 4 c0000201", "a 60 IN TYPE1 \\# ( 4 c0\n00 0201 )",
        "$TTL 60\na A 192.0.2.1", "$ttl 1m\na A 192.0.2.1 ; x",
        "$ORIGIN a.example.\n@ 60 A 192.0.2.1",
        "$ORIGIN a\n@ 60 A 192.0.2.1", "a.example. 60 A 192.0.2.1", "\\097 60 A 192.0.2.1",
    ])
    func `one record in many spellings`(text: String) {
        let result = scan(text)
        #expect(result.records == ["a.example. 60 IN A 192.0.2.1"])
        #expect(result.findings == [])
    }

    @Test func `the TTL is the record's, then $TTL, then the last one, then the default`() {
        let text = """
            a A 192.0.2.1
            b 60 A 192.0.2.2
            c A 192.0.2.3
            $TTL 1h
            d A 192.0.2.4
            e 70 A 192.0.2.5
            f A 192.0.2.6
            """
        let result = scan(text)
        #expect(
            result.records.map { $0.split(separator: " ")[1] } == [
                "5", "60", "60", "3600", "70", "3600",
            ]
        )
        #expect(result.listing.explicit == [false, true, true, true, true, true])
    }

    @Test func `a TTL above 2^31 - 1 is taken as that, with a warning`() {
        let result = scan("$TTL 4294967295\na A 192.0.2.1\nb 2147483648 A 192.0.2.2")
        #expect(
            result.records == [
                "a.example. 2147483647 IN A 192.0.2.1", "b.example. 2147483647 IN A 192.0.2.2",
            ]
        )
        #expect(
            result.findings == [
                "test.zone:1:6: warning: the TTL 4294967295 is taken as 2147483647",
                "test.zone:3:3: warning: the TTL 2147483648 is taken as 2147483647",
            ]
        )
    }

    @Test func `quoted strings go over lines and hold what ends a token`() {
        let result = scan("t TXT \"a;b\nc\" \"(\" d\\ e\nu A 192.0.2.1")
        #expect(
            result.records == [
                "t.example. 5 IN TXT \"a;b\\010c\" \"(\" \"d e\"", "u.example. 5 IN A 192.0.2.1",
            ]
        )
        #expect(result.listing.places == ["0:1", "0:3"])
    }

    @Test func `owners keep their case and any octet`() {
        let result = scan(
            "MiXed.\\000\\255 A 192.0.2.1\n*.w A 192.0.2.2\n_a._b TXT x\nbücher A 192.0.2.3"
        )
        #expect(
            result.records.map { $0.split(separator: " ")[0] } == [
                "MiXed.\\000\\255.example.", "*.w.example.", "_a._b.example.",
                "xn--bcher-kva.example.",
            ]
        )
    }

    @Test(arguments: [
        ("a A 192.0.2", "1:5: error: '192.0.2' is not an IPv4 address"),
        ("a A", "1:4: error: an IPv4 address is missing"),
        ("a", "1:2: error: a record type is missing"),
        ("a 60 60 A 192.0.2.1", "1:6: error: '60' is not a record type"),
        ("a IN IN A 192.0.2.1", "1:6: error: 'IN' is not a record type"),
        ("a 1y A 192.0.2.1", "1:3: error: '1y' is not a time in seconds (3600, or 1h30m)"),
        ("a NOSUCH x", "1:3: error: 'NOSUCH' is not a record type"),
        ("a CH A 192.0.2.1", "1:1: error: the zone does not hold records of class CH"),
        ("a..b A 192.0.2.1", "1:3: error: the name has an empty label"),
        ("  A 192.0.2.1", "1:1: error: the first record of a file must name its owner"),
        ("a A (\n192.0.2.1\n192.0.2.2 )", "3:1: error: '192.0.2.2' follows the last field"),
        ("a A ( 192.0.2.1", "1:5: error: the parenthesis is not closed"),
        ("a A 192.0.2.1 )", "1:15: error: the parenthesis was not opened"),
        ("a TXT \"x", "1:7: error: the quotation mark is not closed"),
        ("ä A 192.0.2", "1:5: error: '192.0.2' is not an IPv4 address"),
        ("$NOSUCH x", "1:1: error: '$NOSUCH' is not a directive"),
        ("$TTL", "1:5: error: a time in seconds (3600, or 1h30m) is missing"),
        ("$TTL x", "1:6: error: 'x' is not a time in seconds (3600, or 1h30m)"),
        ("$TTL 1 2", "1:8: error: '2' follows the last field"),
        ("$ORIGIN", "1:8: error: the directive lacks a part"),
        ("$INCLUDE", "1:9: error: the directive lacks a part"),
        ("a SVCB 1 . port=1 port=2", "1:19: error: the key of 'port=2' stands there twice"),
        ("a A \\# 4 010203", "1:8: error: there are not 4 octets behind the length 4"),
    ])
    func `what is wrong is named with its place`(pair: (String, String)) {
        let result = scan(pair.0)
        #expect(result.findings == ["test.zone:" + pair.1])
        #expect(result.records == [])
        #expect(result.report.errorCount == 1)
    }

    @Test func `a finding shows its line and a caret`() {
        let result = scan("$TTL 60\n\ta\t\nb\tMX\tten mail ; priority\n")
        #expect(
            result.report.findings.last?.description == """
                test.zone:3:6: error: 'ten' is not a number from 0 to 65535
                b\tMX\tten mail ; priority
                 \t  \t^
                """
        )
    }

    @Test func `after an error reading goes on at the next entry`() {
        let result = scan(
            """
            a A 192.0.2
            b A 192.0.2.2
            c MX ( x
               y )
            d A 192.0.2.4
            e..f A 192.0.2.5
              AAAA 2001:db8::5
            g A 192.0.2.6
            h TXT ( x
            i A 192.0.2.7
            """
        )
        #expect(
            result.records == [
                "b.example. 5 IN A 192.0.2.2", "d.example. 5 IN A 192.0.2.4",
                "g.example. 5 IN A 192.0.2.6", "i.example. 5 IN A 192.0.2.7",
            ]
        )
        #expect(result.report.findings.map(\.line) == [1, 3, 6, 9])
    }

    @Test func `findings are kept up to a limit, and counted`() {
        let result = scan(String(repeating: "a A x\n", count: 1000) + "b A 192.0.2.1\n")
        #expect(result.report.findings.count == 100)
        #expect(result.report.errorCount == 1000)
        #expect(result.records.count == 1)
    }

    @Test func `an at sign under the root origin is the zone, as registrars mean it`() {
        let export =
            "$ORIGIN .\n@ 3600 IN SOA ns.example.net. hm.example.net. 1 2 3 4 5\n@ NS ns.example.net.\nwww.example.com. A 192.0.2.1\n"
        let named = scan(export, origin: "example.com.")
        #expect(named.records.count == 3)
        #expect(named.records[0].hasPrefix("example.com. 3600 IN SOA"))
        #expect(
            named.findings.allSatisfy { $0.contains("warning: '@' under '$ORIGIN .' is taken") }
        )
        let unnamed = scan(export, origin: ".")
        #expect(unnamed.records == ["www.example.com. 3600 IN A 192.0.2.1"])
        #expect(unnamed.report.warningCount == 2)
        #expect(unnamed.report.errorCount == 0)
        let root = scan(export, kind: .authoritative, origin: ".")
        #expect(root.records.count == 3)
        #expect(root.findings == [])
    }
}
