import Testing
import Zones

@Suite struct HostsFileScannerTests {
    @Test func `addresses and names are read, whatever surrounds them`() {
        let result = scanHosts(
            "\u{FEFF}127.0.0.1\tlocalhost loopback # here\r\n# 192.0.2.9 no\n\n  \t\n::1 localhost\n"
                + "fe80::1%eth0 router\n192.0.2.1   a.example A_b.example.#x\n2001:db8::1 bücher.example"
        )
        #expect(
            result.records == [
                "localhost. 5 IN A 127.0.0.1", "loopback. 5 IN A 127.0.0.1",
                "localhost. 5 IN AAAA ::1",
                "router. 5 IN AAAA fe80::1", "a.example. 5 IN A 192.0.2.1",
                "A_b.example. 5 IN A 192.0.2.1",
                "xn--bcher-kva.example. 5 IN AAAA 2001:db8::1",
            ]
        )
        #expect(result.listing.places == ["0:1", "0:1", "0:5", "0:6", "0:7", "0:7", "0:8"])
        #expect(result.listing.explicit.allSatisfy { !$0 })
        #expect(result.findings == [])
    }

    @Test(arguments: [
        ("192.0.2 a", "1:1: error: '192.0.2' is not an IP address"),
        ("a 192.0.2.1", "1:1: error: 'a' is not an IP address"),
        ("192.0.2.1%eth0 a", "1:1: error: '192.0.2.1%eth0' is not an IP address"),
        ("\n192.0.2.1", "2:10: error: a name is missing behind the address"),
        ("192.0.2.1 # a", "1:10: error: a name is missing behind the address"),
        ("192.0.2.1 a..b", "1:13: error: the name has an empty label"),
        ("192.0.2.1 @", "1:11: error: '@' is not a name"),
    ])
    func `a bad line is reported and left out`(pair: (String, String)) {
        let result = scanHosts(pair.0 + "\n192.0.2.7 good\n")
        #expect(result.findings == ["hosts:" + pair.1])
        #expect(result.records == ["good. 5 IN A 192.0.2.7"])
    }

    @Test func `where one name of a line is wrong the others stay`() {
        let result = scanHosts("192.0.2.1 a b..c d")
        #expect(result.records == ["a. 5 IN A 192.0.2.1", "d. 5 IN A 192.0.2.1"])
        #expect(result.report.errorCount == 1)
    }
}
