/// One field of a record's data: how it stands on the wire and how it is written.
public enum RDataField: UInt8, Sendable {
    /// No further field.
    case end = 0
    /// A name that a message may compress (RFC 1035's types).
    case name
    /// A name that is not compressed when it is sent (RFC 3597, 4).
    case plainName
    /// An integer of 8 bits.
    case uint8
    /// An integer of 16 bits.
    case uint16
    /// An integer of 32 bits.
    case uint32
    /// An integer of 64 bits.
    case uint64
    /// Seconds, 32 bits, also written as `1h30m`.
    case ttl
    /// A point in time, 32 bits, also written as `YYYYMMDDHHmmSS` (RFC 4034, 3.2).
    case time
    /// A record type, 16 bits.
    case type
    /// A DNSSEC algorithm, 8 bits.
    case algorithm
    /// A DS digest type, 8 bits.
    case digestType
    /// A CERT certificate type, 16 bits.
    case certificateType
    /// A DSYNC scheme, 8 bits.
    case scheme
    /// An IPv4 address.
    case ipv4
    /// An IPv6 address.
    case ipv6
    /// Six octets as `00-00-5e-00-53-2a` (RFC 7043).
    case eui48
    /// Eight octets in the same form.
    case eui64
    /// Eight octets as four groups of hexadecimal digits (RFC 6742).
    case locator
    /// Octets to the end as `0x47.0005…` (RFC 1706).
    case nsap
    /// A character-string (RFC 1035, 3.3).
    case string
    /// A character-string, or nothing.
    case optionalString
    /// One or more character-strings to the end.
    case strings
    /// One string to the end, without a length octet.
    case text
    /// Letters and digits with a length octet (RFC 8659, 4.1).
    case tag
    /// Octets to the end in hexadecimal digits, at least one.
    case hex
    /// A digest of at least 12 octets in hexadecimal digits (RFC 8976, 2.2.4).
    case digest
    /// A digest in hexadecimal digits, as long as the digest type in front of it says where it is known.
    case typedDigest
    /// Octets to the end in Base64, at least one.
    case base64
    /// Octets to the end in Base64, or none.
    case optionalBase64
    /// As `base64`, and nothing where the flags in front say that there is no key (RFC 2535, 3.1.2).
    case key
    /// A length octet and octets in hexadecimal digits; `-` is none (RFC 5155, 3.3).
    case salt
    /// A length octet and octets in Base32 with the extended hex alphabet (RFC 5155, 3.3).
    case hash
    /// A type bitmap to the end (RFC 4034, 4.1.2).
    case types
    /// A type bitmap of the first 128 types to the end (RFC 2535, 5.2).
    case oldTypes
    /// Gateway type, algorithm and gateway of an IPSECKEY (RFC 4025).
    case gateway
    /// Discovery bit, relay type and relay of an AMTRELAY (RFC 8777).
    case relay
    /// Everything in a HIP record (RFC 8005).
    case hostIdentity
    /// Address prefixes to the end (RFC 3123).
    case prefixes
    /// Protocol and service bitmap of a WKS record (RFC 1035, 3.4.2).
    case services
    /// Everything in a LOC record (RFC 1876).
    case location
    /// Service parameters to the end (RFC 9460).
    case serviceParameters
    /// Everything in an A6 record (RFC 2874).
    case a6
    /// An ATM address to the end.
    case atm
    /// Octets to the end that have no form of their own.
    case opaque
}

/// What a type's data consists of: up to ten fields, six bits each, the first in the low bits.
struct RDataFormat: BitwiseCopyable {
    private var bits: UInt64

    @inline(__always)
    private init(
        _ a: RDataField,
        _ b: RDataField = .end,
        _ c: RDataField = .end,
        _ d: RDataField = .end,
        _ e: RDataField = .end,
        _ f: RDataField = .end,
        _ g: RDataField = .end,
        _ h: RDataField = .end,
        _ i: RDataField = .end
    ) {
        bits = UInt64(a.rawValue) | UInt64(b.rawValue) << 6 | UInt64(c.rawValue) << 12
        bits |= UInt64(d.rawValue) << 18 | UInt64(e.rawValue) << 24 | UInt64(f.rawValue) << 30
        bits |= UInt64(g.rawValue) << 36 | UInt64(h.rawValue) << 42 | UInt64(i.rawValue) << 48
    }

    /// Takes the next field off; `end` when all were taken.
    @inline(__always)
    mutating func next() -> RDataField {
        let field = RDataField(rawValue: UInt8(truncatingIfNeeded: bits & 63)) ?? .end
        bits >>= 6
        return field
    }

    /// The format of a type's data; `opaque` where the type is not known.
    init(_ type: RecordType) {
        switch type.rawValue {
        case 1: self.init(.ipv4)  // A
        case 2, 3, 4, 5, 7, 8, 9, 12: self.init(.name)  // NS MD MF CNAME MB MG MR PTR
        case 6: self.init(.name, .name, .uint32, .ttl, .ttl, .ttl, .ttl)  // SOA
        case 11: self.init(.ipv4, .services)  // WKS
        case 13: self.init(.string, .string)  // HINFO
        case 14: self.init(.name, .name)  // MINFO
        case 15: self.init(.uint16, .name)  // MX
        // TXT SPF NINFO AVC RESINFO WALLET CLA
        case 16, 99, 56, 258, 261, 262, 263: self.init(.strings)
        case 17, 58: self.init(.plainName, .plainName)  // RP TALINK
        case 18, 21, 36, 107: self.init(.uint16, .plainName)  // AFSDB RT KX LP
        case 19: self.init(.string)  // X25
        case 20: self.init(.string, .optionalString)  // ISDN
        case 22: self.init(.nsap)
        case 23, 39: self.init(.plainName)  // NSAP-PTR DNAME
        case 24, 46:  // SIG RRSIG
            self.init(
                .type,
                .algorithm,
                .uint8,
                .ttl,
                .time,
                .time,
                .uint16,
                .plainName,
                .base64
            )
        // KEY DNSKEY RKEY CDNSKEY
        case 25, 48, 57, 60: self.init(.uint16, .uint8, .algorithm, .key)
        case 26: self.init(.uint16, .plainName, .plainName)  // PX
        case 27: self.init(.string, .string, .string)  // GPOS
        case 28: self.init(.ipv6)  // AAAA
        case 29: self.init(.location)
        case 30: self.init(.plainName, .oldTypes)  // NXT
        case 31, 32: self.init(.hex)  // EID NIMLOC
        case 33: self.init(.uint16, .uint16, .uint16, .plainName)  // SRV
        case 34: self.init(.atm)
        case 35: self.init(.uint16, .uint16, .string, .string, .string, .plainName)  // NAPTR
        case 37: self.init(.certificateType, .uint16, .algorithm, .base64)
        case 38: self.init(.a6)
        case 40: self.init(.uint8, .uint8, .uint8, .optionalBase64)  // SINK
        case 42: self.init(.prefixes)
        // DS CDS TA DLV
        case 43, 59, 32768, 32769: self.init(.uint16, .algorithm, .digestType, .typedDigest)
        case 44: self.init(.uint8, .uint8, .hex)  // SSHFP
        case 45: self.init(.uint8, .gateway, .optionalBase64)  // IPSECKEY
        case 47: self.init(.plainName, .types)  // NSEC
        case 49, 61, 67, 68: self.init(.base64)  // DHCID OPENPGPKEY HHIT BRID
        case 50: self.init(.uint8, .uint8, .uint16, .salt, .hash, .types)  // NSEC3
        case 51: self.init(.uint8, .uint8, .uint16, .salt)  // NSEC3PARAM
        case 52, 53: self.init(.uint8, .uint8, .uint8, .hex)  // TLSA SMIMEA
        case 55: self.init(.hostIdentity)
        case 62: self.init(.uint32, .uint16, .types)  // CSYNC
        case 63: self.init(.uint32, .uint8, .uint8, .digest)  // ZONEMD
        case 64, 65: self.init(.uint16, .plainName, .serviceParameters)  // SVCB HTTPS
        case 66: self.init(.type, .scheme, .uint16, .plainName)  // DSYNC
        case 104, 106: self.init(.uint16, .locator)  // NID L64
        case 105: self.init(.uint16, .ipv4)  // L32
        case 108: self.init(.eui48)
        case 109: self.init(.eui64)
        case 256: self.init(.uint16, .uint16, .text)  // URI
        case 257: self.init(.uint8, .tag, .text)  // CAA
        case 259: self.init(.uint32, .uint32, .uint8, .string, .optionalBase64)  // DOA
        case 260: self.init(.uint8, .relay)  // AMTRELAY
        case 264: self.init(.uint64)  // IPN
        default: self.init(.opaque)
        }
    }
}

/// A record's data (RDATA): text to octets, octets to text, and the checks of both.
///
/// One table, `RDataFormat`, says for each type which fields there are; each operation is one loop
/// over a type's fields.
public enum RData {}

extension RData {
    /// Whether the first field of a type's data, behind its numbers, is a string.
    public static func startsWithString(_ type: RecordType) -> Bool {
        var format = RDataFormat(type)
        while true {
            switch format.next() {
            case .uint8, .uint16, .uint32: continue
            case .string, .optionalString, .strings, .text, .tag: return true
            default: return false
            }
        }
    }
}
