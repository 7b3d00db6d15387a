import DNS
import Testing
import Zones

@Suite struct DirectiveTests {
    @Test(arguments: [
        ("1-3 h$ A 10.0.0.$", ["h1 A 10.0.0.1", "h2 A 10.0.0.2", "h3 A 10.0.0.3"]),
        ("0-4/2 h$ A 10.0.0.$", ["h0 A 10.0.0.0", "h2 A 10.0.0.2", "h4 A 10.0.0.4"]),
        ("7-7 h${0,3,d} A 10.0.0.${3}", ["h007 A 10.0.0.10"]),
        ("10-10 h${-3} A 10.0.0.${-10,1,d}", ["h7 A 10.0.0.0"]),
        (
            "255-255 h${0,4,x} TXT ${0,0,X} ${0,4,o} $$ \\$",
            ["h00ff TXT \"FF\" \"0377\" \"$\" \"$\""]
        ),
        ("291-291 ${0,0,n} TXT ${0,9,n} ${0,3,N}", ["3.2.1 TXT \"3.2.1.0.0\" \"3.2.1\""]),
        ("1-2 m$ MX \"10 mail$\"", ["m1 MX 10 mail1.example.", "m2 MX 10 mail2.example."]),
        ("1-1 t$ TXT \"a b $\"", ["t1 TXT \"a b 1\""]),
        ("1-1 a$ 5 IN CNAME b.$", ["a1 CNAME b.1.example."]),
        ("1-1 @ NS ns$", ["@ NS ns1.example."]),
    ])
    func `a range generates records`(row: (String, [String])) {
        let result = scan("$GENERATE " + row.0)
        let expected = row.1.map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            let owner = words[0] == "@" ? "example." : "\(words[0]).example."
            return "\(owner) 5 IN \(words[1])"
        }
        #expect(result.records == expected)
        #expect(result.findings == [])
    }

    @Test(arguments: [
        ("", "1:11: error: the directive lacks a part"),
        ("1-2", "1:14: error: the directive lacks a part"),
        ("1-3/ $ A 1.2.3.$", "1:11: error: '1-3/' is not a range like 1-254 or 0-30/2"),
        ("1-3/0 $ A 1.2.3.$", "1:11: error: '1-3/0' is not a range like 1-254 or 0-30/2"),
        ("3-1 $ A 1.2.3.$", "1:11: error: '3-1' is not a range like 1-254 or 0-30/2"),
        (
            "0-2147483648 $ A 1.2.3.$",
            "1:11: error: '0-2147483648' is not a range like 1-254 or 0-30/2"
        ),
        ("0-2147483647 $ A 1.2.3.$", "1:11: error: the zone generates too many records"),
        (
            "1-1 ${x} A 1.2.3.4",
            "1:15: error: '${x} A 1.2.3.4' has a '${…}' that is not {offset,width,base}"
        ),
        (
            "1-1 ${1,2,q} A 1.2.3.4",
            "1:15: error: '${1,2,q} A 1.2.3.4' has a '${…}' that is not {offset,width,base}"
        ),
        (
            "1-1 ${1 A 1.2.3.4",
            "1:15: error: '${1 A 1.2.3.4' has a '${…}' that is not {offset,width,base}"
        ),
        ("254-257 h$ A 10.0.0.$", "1:19: error: '10.0.0.256' is not an IPv4 address"),
    ])
    func `what is not a range or a template is refused`(pair: (String, String)) {
        let result = scan("$GENERATE " + pair.0)
        #expect(result.findings.first == "test.zone:" + pair.1)
    }

    @Test func `a file is included where it stands, and the state is as before behind it`() {
        let result = scan(
            """
            $ORIGIN a.example.
            x A 192.0.2.1
            $INCLUDE sub/one.zone b.example.
              AAAA 2001:db8::1
            y A 192.0.2.3
            """,
            file: "/etc/zones/test.zone",
            files: [
                "sub/one.zone": "x A 192.0.2.2\n$INCLUDE two.zone\n$ORIGIN other.\nz A 192.0.2.9\n",
                "sub/two.zone": "$INCLUDE ../three.zone\n", "three.zone": "v A 192.0.2.8\nw A x\n",
            ]
        )
        #expect(
            result.records == [
                "x.a.example. 5 IN A 192.0.2.1", "x.b.example. 5 IN A 192.0.2.2",
                "v.b.example. 5 IN A 192.0.2.8", "z.other. 5 IN A 192.0.2.9",
                "x.a.example. 5 IN AAAA 2001:db8::1", "y.a.example. 5 IN A 192.0.2.3",
            ]
        )
        #expect(result.listing.places == ["0:2", "1:1", "3:1", "1:4", "0:4", "0:5"])
        #expect(
            result.report.files == [
                "/etc/zones/test.zone", "/etc/zones/sub/one.zone", "/etc/zones/sub/two.zone",
                "/etc/zones/three.zone",
            ]
        )
        #expect(result.findings == ["/etc/zones/three.zone:2:5: error: 'x' is not an IPv4 address"])
    }

    @Test(arguments: [
        "../x", "/etc/passwd", "sub/../../x", "/etc/zones", "/etc/zones/../x", ".", "sub/",
    ])
    func `no file outside the zone's directory is included`(path: String) {
        let result = scan(
            "$INCLUDE \(path)\na A 192.0.2.1",
            file: "/etc/zones/test.zone",
            files: ["x": "b A 192.0.2.2", "passwd": "", "sub": ""]
        )
        #expect(
            result.findings == [
                "/etc/zones/test.zone:1:10: error: '\(path)' is outside the directory of the zone's file"
            ]
        )
        #expect(result.records == ["a.example. 5 IN A 192.0.2.1"])
    }

    @Test func `an absolute path inside the directory is one`() {
        let result = scan(
            "$INCLUDE /etc/zones/./sub/../x",
            file: "/etc/zones/test.zone",
            files: ["x": "b A 192.0.2.2"]
        )
        #expect(result.records == ["b.example. 5 IN A 192.0.2.2"])
    }

    @Test func `a file that cannot be read is an error with the reason`() {
        #expect(
            scan("$INCLUDE nosuch\n").findings == [
                "test.zone:1:10: error: 'nosuch' cannot be read: no such file"
            ]
        )
    }

    @Test func `files that include themselves end`() {
        let once = scan("$INCLUDE a", files: ["a": "x A 192.0.2.1\n$INCLUDE a\n"])
        #expect(once.records.count == 16)
        #expect(once.findings == ["a:2:10: error: files include each other too deep"])
        let twice = scan("$INCLUDE a", files: ["a": "$INCLUDE a\n$INCLUDE a\n"])
        #expect(twice.report.files.count == 4096)
        #expect(twice.report.errorCount > 100)
    }
}
