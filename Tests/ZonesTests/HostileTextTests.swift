import DNS
import Testing
import Zones

/// Text that is meant to do harm: nothing traps, and nothing takes long.
@Suite struct HostileTextTests {
    private static let zone = """
        $ORIGIN example.\n$TTL 1h ; x
        @ IN SOA ns h\\.m ( 1 2 3 ; (
          4 5 )\n  NS ns\nns 60 A 192.0.2.1\n   AAAA 2001:db8::1
        t TXT "a b\\"c" d\\032e\n$GENERATE 1-3 h${0,2,n} A 10.0.0.$
        $INCLUDE sub.zone x\nhttps HTTPS 1 . alpn="h2\\\\,,h3" ipv6hint=::1 key9=x mandatory=alpn
        bücher.\\200 TYPE65280 \\# 3 01 0203\nx LOC 1 2 3.4 N 5 6 7 E 8m\nx APL 1:10.0.0.0/8
        x NSEC3 1 0 0 aa 00000000 A TYPE1234\nx RRSIG A 8 2 60 20300101000000 0 1 . AQID
        """

    private func run(_ octets: [UInt8]) {
        let result = scan(octets, files: ["sub.zone": "a A 192.0.2.1\n"])
        for finding in result.report.findings { _ = finding.description }
        _ = scan(octets, kind: .authoritative, origin: ".")
        var listing = Listing()
        _ = HostsFileScanner.scan(
            octets.span,
            file: "h",
            settings: ScanSettings(kind: .hosts),
            into: &listing
        )
    }

    @Test func `the text itself is good`() {
        let result = scan(HostileTextTests.zone, files: ["sub.zone": "a A 192.0.2.1\n"])
        #expect(result.report.errorCount == 1)  // key9's value is no list of groups.
        #expect(result.records.count == 14)
    }

    @Test func `each beginning of a file is read`() {
        let octets = Array(HostileTextTests.zone.utf8)
        for size in 0...octets.count { run(Array(octets[..<size])) }
    }

    @Test func `each end of a file is read`() {
        let octets = Array(HostileTextTests.zone.utf8)
        for start in 0...octets.count { run(Array(octets[start...])) }
    }

    @Test func `text with octets changed is read`() {
        let octets = Array(HostileTextTests.zone.utf8)
        let favourites = Array("();\"\\$@{}.\n\r\t \0=,/-9".utf8) + [0xFF, 0x80, 0xC3]
        var random = SplitMix(state: 1)
        for _ in 0..<1000 {
            var changed = octets
            for _ in 0..<(1 + random.next() % 6) {
                let place = Int(random.next() % UInt64(changed.count))
                let octet = favourites[Int(random.next() % UInt64(favourites.count))]
                switch random.next() % 3 {
                case 0: changed[place] = octet
                case 1: changed.insert(octet, at: place)
                default: changed.remove(at: place)
                }
            }
            run(changed)
        }
    }

    @Test func `random octets are read`() {
        var random = SplitMix(state: 2)
        for size in 0..<500 {
            run((0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
    }

    @Test(arguments: [
        "(", ")", "\"", "\\", ";", "\0", "(\n", "\"\n", " ", "a ", "a\n", "$", "@", ".", "ä",
    ])
    func `much of one thing is read`(piece: String) {
        run(Array(String(repeating: piece, count: 20_000).utf8))
        run(Array(("a TXT " + String(repeating: piece, count: 20_000)).utf8))
    }

    @Test func `quotes and parentheses that stay open end a file after a hundred`() {
        let result = scan(String(repeating: "a TXT (\n", count: 5000))
        #expect(result.findings.count == 100)
        #expect(result.report.errorCount == 101)
    }

    @Test func `deep parentheses and long ranges of nothing cost nothing`() {
        let deep = String(repeating: "(", count: 100_000)
        let result = scan(
            "a \(deep)A 192.0.2.1\(String(repeating: ")", count: 100_000))\nb A 192.0.2.2"
        )
        #expect(result.records.count == 2)
        #expect(
            scan("$GENERATE 0-999999 \(String(repeating: "a", count: 1000)) A x").report.errorCount
                == 1
        )
    }
}

/// Numbers that are the same in each run.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
