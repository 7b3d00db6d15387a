/// Names for the numbers of a registry, both ways; the case does not matter.
struct Mnemonics: Sendable {
    private let entries: [(name: [UInt8], number: UInt16)]

    /// The first name of a number is the one that is printed.
    init(_ pairs: KeyValuePairs<StaticString, UInt16>) {
        entries = pairs.map { (Array($0.key.description.utf8), $0.value) }
    }

    /// The number of a name. Complexity: O(names).
    func number(of text: Span<UInt8>) -> UInt16? {
        entries.first { $0.name.span.isSameText(as: text) }?.number
    }

    /// The name of a number. Complexity: O(names).
    func name(of number: UInt16) -> String? {
        guard let entry = entries.first(where: { $0.number == number }) else { return nil }
        return String(decoding: entry.name, as: UTF8.self)
    }
}

extension Span where Element == UInt8 {
    /// Whether both are the same ASCII text, the case apart.
    func isSameText(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count
        where asciiLowercased(self[index]) != asciiLowercased(other[index]) {
            return false
        }
        return true
    }

    /// The integer that decimal digits spell, nothing else in them, if it is at most `maximum`.
    func decimal(upTo maximum: UInt64) -> UInt64? {
        guard count > 0 && count <= 20 else { return nil }
        var value: UInt64 = 0
        for index in 0..<count {
            let digit = self[index] &- 0x30
            guard digit < 10 else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(digit))
            guard !overflow && !carry && sum <= maximum else { return nil }
            value = sum
        }
        return value
    }
}

extension Mnemonics {
    /// DNSSEC algorithms (RFC 4034, appendix A.1, and the IANA registry).
    static let algorithms = Mnemonics([
        "RSAMD5": 1, "DH": 2, "DSA": 3, "ECC": 4, "RSASHA1": 5, "DSA-NSEC3-SHA1": 6,
        "NSEC3DSA": 6, "RSASHA1-NSEC3-SHA1": 7, "NSEC3RSASHA1": 7, "RSASHA256": 8,
        "RSASHA512": 10, "ECC-GOST": 12, "ECCGOST": 12, "ECDSAP256SHA256": 13,
        "ECDSAP384SHA384": 14, "ED25519": 15, "ED448": 16, "SM2SM3": 17, "ECC-GOST12": 23,
        "INDIRECT": 252, "PRIVATEDNS": 253, "PRIVATEOID": 254,
    ])

    /// DS digest types.
    static let digestTypes = Mnemonics([
        "SHA-1": 1, "SHA1": 1, "SHA-256": 2, "SHA256": 2, "GOST": 3, "SHA-384": 4, "SHA384": 4,
    ])

    /// Certificate types (RFC 4398, 2.1).
    static let certificateTypes = Mnemonics([
        "PKIX": 1, "SPKI": 2, "PGP": 3, "IPKIX": 4, "ISPKI": 5, "IPGP": 6, "ACPKIX": 7,
        "IACPKIX": 8, "URI": 253, "OID": 254,
    ])

    /// DSYNC schemes (RFC 9859).
    static let schemes = Mnemonics(["NOTIFY": 1])

    /// Service parameter keys (RFC 9460, 14.3.2; RFC 9461; RFC 9540; RFC 9848).
    static let serviceKeys = Mnemonics([
        "mandatory": 0, "alpn": 1, "no-default-alpn": 2, "port": 3, "ipv4hint": 4, "ech": 5,
        "ipv6hint": 6, "dohpath": 7, "ohttp": 8, "tls-supported-groups": 9,
    ])

    /// IP protocols that WKS records name.
    static let protocols = Mnemonics(["icmp": 1, "tcp": 6, "udp": 17])

    /// Services that WKS records name.
    static let services = Mnemonics([
        "tcpmux": 1, "echo": 7, "discard": 9, "daytime": 13, "chargen": 19, "ftp-data": 20,
        "ftp": 21,
        "ssh": 22, "telnet": 23, "smtp": 25, "time": 37, "nameserver": 42, "whois": 43,
        "nicname": 43, "domain": 53, "tftp": 69, "gopher": 70, "finger": 79, "http": 80,
        "kerberos": 88, "hostnames": 101, "pop2": 109, "pop3": 110, "sunrpc": 111, "auth": 113,
        "sftp": 115, "nntp": 119, "ntp": 123, "imap": 143, "imap2": 143, "snmp": 161, "bgp": 179,
        "irc": 194, "ldap": 389, "https": 443,
    ])
}
