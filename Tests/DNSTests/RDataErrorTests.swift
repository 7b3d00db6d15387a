import DNS
import Testing

/// A text that is not a record's data, and where that shows.
struct BadText: CustomTestStringConvertible {
    let type: RecordType
    let text: String
    let kind: PresentationError.Kind
    let offset: Int
    let length: Int

    init(
        _ type: String,
        _ text: String,
        _ kind: PresentationError.Kind,
        _ offset: Int,
        _ length: Int = 0
    ) {
        self.type = RecordType(scanning: type) ?? .any
        self.text = text
        self.kind = kind
        self.offset = offset
        self.length = length
    }

    var testDescription: String { "\(type) \(text)" }
}

@Suite struct RDataErrorTests {
    @Test(arguments: [
        BadText("A", "", .missing(.ipv4), 0),
        BadText("A", "192.0.2", .malformed(.ipv4), 0, 7),
        BadText("A", "192.0.2.256", .malformed(.ipv4), 0, 11),
        BadText("A", "192.0.2.01", .malformed(.ipv4), 0, 10),
        BadText("A", "192.0.2.1 x", .surplus, 10, 1),
        BadText("AAAA", "1:2:3:4:5:6:7", .malformed(.ipv6), 0, 13),
        BadText("AAAA", "fe80::1%lo", .malformed(.ipv6), 0, 10),
        BadText("MX", "mail", .malformed(.uint16), 0, 4),
        BadText("MX", "65536 mail", .malformed(.uint16), 0, 5),
        BadText("MX", "10", .missing(.name), 2),
        BadText("NS", "a..b", .emptyLabel, 2, 1),
        BadText("NS", ".a", .emptyLabel, 0, 1),
        BadText("NS", "x\\25", .badEscape, 1, 1),
        BadText("NS", "x\\999", .badEscape, 1, 1),
        BadText("TXT", "a\\", .badEscape, 1, 1),
        BadText("TXT", "\"abc", .unclosedQuote, 0, 1),
        BadText("TXT", "( abc", .unclosedParenthesis, 0, 1),
        BadText("TXT", "abc )", .unopenedParenthesis, 4, 1),
        BadText("TXT", "", .missing(.strings), 0),
        BadText("SRV", "0 0 1h .", .malformed(.uint16), 4, 2),
        BadText("SOA", "a b x 1 1 1 1", .malformed(.uint32), 4, 1),
        BadText("SOA", "a b 1 1 1 1 1x", .malformed(.ttl), 12, 2),
        BadText("CAA", "0 is-sue x", .malformed(.tag), 2, 6),
        BadText("DS", "1 8 2 0g", .malformed(.hex), 6, 2),
        BadText("DS", "1 8 2 00ff", .malformed(.typedDigest), 6),
        BadText("DS", "1 8 99 0", .malformed(.hex), 8),
        BadText("DNSKEY", "256 3 8 AQI", .malformed(.base64), 11),
        BadText("DNSKEY", "256 3 8 AQJ=", .malformed(.base64), 8, 4),
        BadText("DNSKEY", "256 3 8", .missing(.base64), 7),
        BadText("DNSKEY", "256 3 NOSUCH AQID", .malformed(.algorithm), 6, 6),
        BadText("NSEC", "a A NOSUCH", .unknownType, 4, 6),
        BadText("RRSIG", "A 8 2 60 20300230000000 0 1 . AQID", .malformed(.time), 9, 14),
        BadText("RRSIG", "A 8 2 60 21070101000000 0 1 . AQID", .malformed(.time), 9, 14),
        BadText("NSEC3", "1 0 0 - 00=====", .malformed(.hash), 8, 7),
        BadText("NSEC3", "1 0 0 0 00", .malformed(.salt), 6, 1),
        BadText("LOC", "91 N 0 E 0", .malformed(.location), 0, 2),
        BadText("LOC", "90 1 N 0 E 0", .malformed(.location), 0, 2),
        BadText("LOC", "0 60 N 0 E 0", .malformed(.location), 2, 2),
        BadText("LOC", "0 0 60 N 0 E 0", .malformed(.location), 4, 2),
        BadText("LOC", "0 N 0 E -100000.01", .malformed(.location), 8, 10),
        BadText("LOC", "0 N 0 E 0 90000000.01", .malformed(.location), 10, 11),
        BadText("APL", "1:10.0.0.0/33", .malformed(.prefixes), 0, 13),
        BadText("APL", "1:10.0.0.1/8", .malformed(.prefixes), 0, 12),
        BadText("APL", "3:10.0.0.0/8", .malformed(.prefixes), 0, 12),
        BadText("EUI48", "00-00-5e-00-53", .malformed(.eui48), 0, 14),
        BadText("EUI48", "00-00-5e-00-53-2", .malformed(.eui48), 0, 16),
        BadText("NID", "1 0:0:0", .malformed(.locator), 2, 5),
        BadText("IPSECKEY", "1 1 0 2001:db8::1", .malformed(.ipv4), 6, 11),
        BadText("IPSECKEY", "1 0 0 gw", .malformed(.gateway), 6, 2),
        BadText("IPSECKEY", "1 4 0 .", .malformed(.gateway), 2, 1),
        BadText("ZONEMD", "1 1 1 0011", .missing(.digest), 10),
        BadText("TKEY", "x", .notZoneData, 0),
        BadText("ANY", "x", .notZoneData, 0),
        BadText("TYPE65280", "x", .noTextFormat, 0),
        BadText("TYPE65280", "\\#", .missing(.uint16), 2),
        BadText("TYPE65280", "\\# 3 0102", .genericLength, 3, 1),
        BadText("TYPE65280", "\\# 65536 00", .malformed(.uint16), 3, 5),
        BadText("A", "\\# 3 010203", .genericFormat, 0, 2),
        BadText("MX", "\\# 4 000ac00c", .genericFormat, 0, 2),
        BadText("SVCB", "1 . alpn", .missingServiceValue, 4, 4),
        BadText("SVCB", "1 . alpn=", .missingServiceValue, 4, 5),
        BadText("SVCB", "1 . alpn=h2,,h3", .badServiceValue, 4, 11),
        BadText("SVCB", "1 . alpn=\\,h2", .badServiceValue, 4, 9),
        BadText("SVCB", "1 . alpn=h2\\\\", .badServiceValue, 4, 9),
        BadText("SVCB", "1 . port=65536", .badServiceValue, 4, 10),
        BadText("SVCB", "1 . port=1 port=2", .duplicateServiceKey, 11, 6),
        BadText("SVCB", "1 . key3=\\001\\002 port=2", .duplicateServiceKey, 18, 6),
        BadText("SVCB", "1 . mandatory=port", .mandatoryKeyMissing, 4, 14),
        BadText("SVCB", "1 . mandatory=mandatory", .badServiceValue, 4, 19),
        BadText("SVCB", "1 . mandatory=port,port port=1", .badServiceValue, 4, 19),
        BadText("SVCB", "1 . no-default-alpn", .noDefaultWithoutALPN, 4),
        BadText("SVCB", "1 . no-default-alpn=x", .surplusServiceValue, 4, 17),
        BadText("SVCB", "1 . ipv4hint=1.2.3.4,", .badServiceValue, 4, 17),
        BadText("SVCB", "1 . ipv6hint=1.2.3.4", .badServiceValue, 4, 16),
        BadText("SVCB", "1 . ech=AQI", .badServiceValue, 4, 7),
        BadText("SVCB", "1 . dohpath=dns-query", .badServiceValue, 4, 17),
        BadText("SVCB", "1 . dohpath=/dns-query", .badServiceValue, 4, 18),
        BadText("SVCB", "1 . nosuch=1", .unknownServiceKey, 4, 8),
        BadText("SVCB", "1 . key07=1", .unknownServiceKey, 4, 7),
        BadText("SVCB", "1 . key65535=1", .unknownServiceKey, 4, 10),
        BadText("SVCB", "1 . tls-supported-groups=29,29", .badServiceValue, 4, 26),
    ])
    func `what is wrong is named with its place`(bad: BadText) {
        let expected = PresentationError(bad.kind, at: bad.offset, length: bad.length)
        #expect(failure(bad.type, bad.text) == expected)
    }

    @Test func `labels, names and strings have their limits`() {
        let label = String(repeating: "a", count: 63)
        #expect(failure(.ns, label + ".") == nil)
        #expect(failure(.ns, label + "a.")?.kind == .labelTooLong)
        // Three labels of 63, one of 61 and the root: 255 octets.
        let name = [label, label, label, String(label.dropLast(2))].joined(separator: ".") + "."
        #expect(failure(.ns, name) == nil)
        #expect(failure(.ns, String(name.dropLast()) + "a.")?.kind == .nameTooLong)
        #expect(failure(.ns, String(name.dropLast()))?.kind == .nameTooLong)
        #expect(failure(.txt, String(repeating: "a", count: 255)) == nil)
        #expect(failure(.txt, String(repeating: "a", count: 256))?.kind == .stringTooLong)
    }

    @Test func `data over 65535 octets are refused`() {
        let string = String(repeating: "a", count: 255) + " "
        #expect(failure(.txt, String(repeating: string, count: 255)) == nil)
        #expect(failure(.txt, String(repeating: string, count: 257))?.kind == .dataTooLong)
    }

    @Test func `an entry may not be longer than a mebibyte`() {
        let lines = String(repeating: "\n", count: TextScanner.maximumEntrySize)
        #expect(failure(.txt, "(" + lines)?.kind == .unclosedParenthesis)
        #expect(failure(.txt, "\"" + lines + "\"")?.kind == .unclosedQuote)
    }
}
