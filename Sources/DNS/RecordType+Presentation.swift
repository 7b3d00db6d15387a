// Types and classes as text: mnemonics, and `TYPE65280` or `CLASS32` (RFC 3597, 5).

extension RecordType {
    /// The type that `text` names; nil where it names none.
    public init?(scanning text: String) { self.init(scanning: Array(text.utf8).span) }

    /// The type that the octets of `text` name, the case apart; nil where they name none.
    public init?(scanning text: Span<UInt8>) {
        // The types that zones with a million records consist of, before the table.
        switch text.count {
        case 1 where text[0] | 0x20 == UInt8(ascii: "a"):
            self = .a
        case 4 where text.isSameText(as: RecordType.quadA.span):
            self = .aaaa
        default:
            if let number = RecordType.mnemonics.number(of: text) {
                self.init(rawValue: number)
            } else if let number = scanNumbered(text, behind: RecordType.prefix.span) {
                self.init(rawValue: number)
            } else {
                return nil
            }
        }
    }

    /// Whether the type is for queries and messages only, so that no zone holds it (RFC 6895, 3.1).
    public var isMeta: Bool {
        rawValue == 0 || rawValue == 41 || (rawValue >= 128 && rawValue <= 255)
    }

    private static let quadA: InlineArray<4, UInt8> = [0x41, 0x41, 0x41, 0x41]
    private static let prefix: InlineArray<4, UInt8> = [0x54, 0x59, 0x50, 0x45]  // TYPE
    private static let mnemonics = Mnemonics([
        "CNAME": 5, "TXT": 16, "NS": 2, "MX": 15, "SRV": 33, "HTTPS": 65, "PTR": 12, "SOA": 6,
        "A": 1, "AAAA": 28, "MD": 3, "MF": 4, "MB": 7, "MG": 8, "MR": 9, "NULL": 10, "WKS": 11,
        "HINFO": 13, "MINFO": 14, "RP": 17, "AFSDB": 18, "X25": 19, "ISDN": 20, "RT": 21,
        "NSAP": 22, "NSAP-PTR": 23, "SIG": 24, "KEY": 25, "PX": 26, "GPOS": 27, "LOC": 29,
        "NXT": 30, "EID": 31, "NIMLOC": 32, "ATMA": 34, "NAPTR": 35, "KX": 36, "CERT": 37,
        "A6": 38, "DNAME": 39, "SINK": 40, "OPT": 41, "APL": 42, "DS": 43, "SSHFP": 44,
        "IPSECKEY": 45, "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "DHCID": 49, "NSEC3": 50,
        "NSEC3PARAM": 51, "TLSA": 52, "SMIMEA": 53, "HIP": 55, "NINFO": 56, "RKEY": 57,
        "TALINK": 58, "CDS": 59, "CDNSKEY": 60, "OPENPGPKEY": 61, "CSYNC": 62, "ZONEMD": 63,
        "SVCB": 64, "DSYNC": 66, "HHIT": 67, "BRID": 68, "SPF": 99, "UINFO": 100, "UID": 101,
        "GID": 102, "UNSPEC": 103, "NID": 104, "L32": 105, "L64": 106, "LP": 107, "EUI48": 108,
        "EUI64": 109, "NXNAME": 128, "TKEY": 249, "TSIG": 250, "IXFR": 251, "AXFR": 252,
        "MAILB": 253, "MAILA": 254, "ANY": 255, "URI": 256, "CAA": 257, "AVC": 258, "DOA": 259,
        "AMTRELAY": 260, "RESINFO": 261, "WALLET": 262, "CLA": 263, "IPN": 264, "TA": 32768,
        "DLV": 32769,
    ])
}

extension RecordType: CustomStringConvertible {
    /// The mnemonic, or `TYPE` and the number.
    public var description: String { RecordType.mnemonics.name(of: rawValue) ?? "TYPE\(rawValue)" }
}

extension RecordClass {
    /// The class that `text` names; nil where it names none.
    public init?(scanning text: String) { self.init(scanning: Array(text.utf8).span) }

    /// The class that the octets of `text` name, the case apart; nil where they name none.
    public init?(scanning text: Span<UInt8>) {
        if text.count == 2 && text[0] | 0x20 == UInt8(ascii: "i")
            && text[1] | 0x20 == UInt8(ascii: "n")
        {
            self = .in
        } else if let number = RecordClass.mnemonics.number(of: text) {
            self.init(rawValue: number)
        } else if let number = scanNumbered(text, behind: RecordClass.prefix.span) {
            self.init(rawValue: number)
        } else {
            return nil
        }
    }

    private static let prefix: InlineArray<5, UInt8> = [0x43, 0x4C, 0x41, 0x53, 0x53]  // CLASS
    private static let mnemonics = Mnemonics([
        "IN": 1, "CH": 3, "CHAOS": 3, "HS": 4, "HESIOD": 4, "NONE": 254, "ANY": 255,
    ])
}

extension RecordClass: CustomStringConvertible {
    /// The mnemonic, or `CLASS` and the number.
    public var description: String {
        RecordClass.mnemonics.name(of: rawValue) ?? "CLASS\(rawValue)"
    }
}

/// The number in `TYPE123` or `CLASS123`.
private func scanNumbered(_ text: Span<UInt8>, behind prefix: Span<UInt8>) -> UInt16? {
    guard text.count > prefix.count, text.extracting(first: prefix.count).isSameText(as: prefix),
        let number = text.extracting(droppingFirst: prefix.count).decimal(upTo: 65535)
    else { return nil }
    return UInt16(number)
}
