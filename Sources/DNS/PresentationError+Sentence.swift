extension PresentationError.Kind {
    /// What is wrong, in one clause; `token` is the text that shows it.
    public func sentence(about token: String) -> String {
        switch self {
        case .missing(let field): "\(field.noun) is missing"
        case .malformed(let field):
            token.isEmpty ? "this is not \(field.noun)" : "'\(token)' is not \(field.noun)"
        case .surplus: "'\(token)' follows the last field"
        case .emptyLabel: "the name has an empty label"
        case .labelTooLong: "the label '\(token)' is longer than 63 octets"
        case .nameTooLong: "the name '\(token)' is longer than 255 octets"
        case .badEscape: "a backslash must be followed by a character or three digits up to 255"
        case .stringTooLong: "the string is longer than 255 octets; split it into several"
        case .notUTF8: "'\(token)' is not UTF-8; write such octets as \\DDD"
        case .notIDNA: "'\(token)' is not a label that IDNA 2008 allows"
        case .unclosedQuote: "the quotation mark is not closed"
        case .unclosedParenthesis: "the parenthesis is not closed"
        case .unopenedParenthesis: "the parenthesis was not opened"
        case .unknownType: "'\(token)' is not a record type"
        case .notZoneData: "records of this type stand in messages only, not in zones"
        case .noTextFormat: "data of this type are written as \\# length hexadecimal-digits"
        case .dataTooLong: "the data are longer than 65535 octets"
        case .genericLength: "there are not \(token) octets behind the length \(token)"
        case .genericFormat: "the octets do not have the format of the record's type"
        case .unknownServiceKey: "'\(token)' does not start with the key of a service parameter"
        case .duplicateServiceKey: "the key of '\(token)' stands there twice"
        case .badServiceValue: "'\(token)' does not have a value that its key allows"
        case .missingServiceValue: "'\(token)' needs a value"
        case .surplusServiceValue: "the key of '\(token)' has no value"
        case .mandatoryKeyMissing: "a key that '\(token)' lists is not in the record"
        case .noDefaultWithoutALPN: "no-default-alpn needs alpn beside it"
        }
    }
}

extension RDataField {
    /// The field with its article.
    var noun: String {
        switch self {
        case .end: "the end"
        case .name, .plainName: "a name"
        case .uint8: "a number from 0 to 255"
        case .uint16: "a number from 0 to 65535"
        case .uint32: "a number from 0 to 4294967295"
        case .uint64: "a number of 64 bits"
        case .ttl: "a time in seconds (3600, or 1h30m)"
        case .time: "a time (YYYYMMDDHHmmSS, or seconds since 1970)"
        case .type: "a record type"
        case .algorithm: "a DNSSEC algorithm"
        case .digestType: "a digest type"
        case .certificateType: "a certificate type"
        case .scheme: "a DSYNC scheme"
        case .ipv4: "an IPv4 address"
        case .ipv6: "an IPv6 address"
        case .eui48: "an address like 00-00-5e-00-53-2a"
        case .eui64: "an address like 00-00-5e-ef-10-00-00-2a"
        case .locator: "an identifier like 2001:0db8:1140:1000"
        case .nsap: "an NSAP address like 0x47.0005"
        case .string, .optionalString, .strings, .text: "a string"
        case .tag: "a tag of letters and digits"
        case .hex: "an even number of hexadecimal digits"
        case .digest: "a digest of at least 12 octets in hexadecimal digits"
        case .typedDigest: "a digest of the length that its type has"
        case .base64, .optionalBase64, .key: "Base64"
        case .salt: "a salt ('-', or hexadecimal digits)"
        case .hash: "a hash in Base32 with the extended hex alphabet"
        case .types, .oldTypes: "a list of record types"
        case .gateway: "a gateway (type 0: '.', 1: IPv4, 2: IPv6, 3: a name)"
        case .relay: "a relay (discovery 0 or 1; type 0: '.', 1: IPv4, 2: IPv6, 3: a name)"
        case .hostIdentity: "a host identity"
        case .prefixes: "an address prefix like 1:192.0.2.0/24"
        case .services: "a protocol or a service"
        case .location: "a part of a location (52 22 23.000 N 4 53 32.000 E -2.00m)"
        case .serviceParameters: "a service parameter"
        case .a6: "an A6 address"
        case .atm: "an ATM address"
        case .opaque: "\\# and a length"
        }
    }
}
