import DNS
import Testing

@Suite struct IPAddressTests {
    /// RFC 5952, 4 and 5.
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:db8::1", "2001:db8::1"),
        ("2001:0DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("0:0:0:0:0:0:0:0", "::"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
    ])
    func `addresses are read and printed in one form`(pair: (String, String)) {
        #expect(IPAddress(scanning: pair.0)?.description == pair.1)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", "1.2..4", ".1.2.3", "1.2.3.",
        "1.2.3.4 ",
        "+1.2.3.4", "0x1.2.3.4", "1.2.3.1000", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::", "::1::", "1:::2", "12345::", "g::", "1:2:3:4:5:6:7:1.2.3.4",
        "::1.2.3", "::1.2.3.4:5", "1:", ":1", "fe80::1%eth0", "1:2:3:4::5:6:7:8", "::1/64",
    ])
    func `what is not an address is refused`(text: String) {
        #expect(IPAddress(scanning: text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("0.0.0.0/0", "0.0.0.0/0"), ("192.0.2.1", "192.0.2.1/32"),
        ("::/0", "::/0"), ("2001:db8::/32", "2001:db8::/32"), ("::1", "::1/128"),
    ])
    func `prefixes are read and printed`(pair: (String, String)) {
        #expect(IPPrefix(scanning: pair.0)?.description == pair.1)
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.1/8", "::/129", "10.0.0.0/", "10.0.0.0/08", "/8", "x/8",
    ])
    func `what is not a prefix is refused`(text: String) {
        #expect(IPPrefix(scanning: text) == nil)
    }

    @Test func `an IPv4 prefix holds IPv4 addresses only`() throws {
        let all = try #require(IPPrefix(scanning: "0.0.0.0/0"))
        #expect(all.contains(IPAddress(ipv4: 0x7F00_0001)))
        #expect(!all.contains(IPAddress(high: 0, low: 1)))
    }
}

@Suite struct RecordTypeTests {
    @Test func `each number of 16 bits has a name that reads back`() {
        for number in 0...UInt16.max {
            let type = RecordType(rawValue: number)
            #expect(RecordType(scanning: type.description) == type)
            let recordClass = RecordClass(rawValue: number)
            #expect(RecordClass(scanning: recordClass.description) == recordClass)
        }
    }

    @Test(arguments: [
        ("a", 1), ("AaAa", 28), ("https", 65), ("TYPE65", 65), ("type0", 0), ("TYPE65535", 65535),
        ("openpgpkey", 61), ("*", nil), ("TYPE", nil), ("TYPE65536", nil), ("TYPE-1", nil),
        ("", nil),
        ("B", nil), ("AA", nil), ("TYPE1x", nil),
    ])
    func `names are read whatever their case`(pair: (String, UInt16?)) {
        #expect(RecordType(scanning: pair.0)?.rawValue == pair.1)
    }

    @Test(arguments: [
        ("in", 1), ("CH", 3), ("hs", 4), ("class32", 32), ("ANY", 255), ("IX", nil), ("CLASS", nil),
    ])
    func `classes too`(pair: (String, UInt16?)) {
        #expect(RecordClass(scanning: pair.0)?.rawValue == pair.1)
    }
}
