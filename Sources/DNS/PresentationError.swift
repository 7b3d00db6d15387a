/// Why text is not a record, and where. Trivial, so that throwing it is cheap.
public struct PresentationError: Error, Equatable {
    /// What is wrong.
    public enum Kind: Equatable, Sendable {
        /// The entry ends where a field should be.
        case missing(RDataField)
        /// The text is not what the field holds.
        case malformed(RDataField)
        /// Text follows the last field.
        case surplus
        /// A name with two dots in a row, or a dot in front.
        case emptyLabel
        /// A label of more than 63 octets.
        case labelTooLong
        /// A name of more than 255 octets.
        case nameTooLong
        /// A backslash at the end, or `\DDD` that is not three digits up to 255.
        case badEscape
        /// A character-string of more than 255 octets.
        case stringTooLong
        /// Octets outside ASCII that are not UTF-8.
        case notUTF8
        /// A label outside ASCII that IDNA 2008 does not allow.
        case notIDNA
        /// A quoted string that does not end.
        case unclosedQuote
        /// A parenthesis that is not closed.
        case unclosedParenthesis
        /// A closing parenthesis without an opening one.
        case unopenedParenthesis
        /// A mnemonic that names no record type.
        case unknownType
        /// A type of messages only, which no zone holds.
        case notZoneData
        /// A type whose data is written only in the generic form of RFC 3597.
        case noTextFormat
        /// Data longer than 65 535 octets.
        case dataTooLong
        /// A generic form whose hexadecimal digits are not as many as its length says.
        case genericLength
        /// A generic form of a known type whose octets do not have that type's format.
        case genericFormat
        /// A service parameter's key that is not known.
        case unknownServiceKey
        /// A service parameter that stands there twice.
        case duplicateServiceKey
        /// A service parameter's value that its key does not allow.
        case badServiceValue
        /// A service parameter without the value that it needs.
        case missingServiceValue
        /// A service parameter with a value where it has none.
        case surplusServiceValue
        /// A key listed under `mandatory` that the record does not have.
        case mandatoryKeyMissing
        /// `no-default-alpn` without `alpn` (RFC 9460, 7.1.1).
        case noDefaultWithoutALPN
    }

    /// What is wrong.
    public let kind: Kind
    /// The offset of the first octet that is wrong.
    public let offset: Int
    /// How many octets are wrong from there on; 0 where something is missing.
    public let length: Int

    /// An error of a kind that some octets at an offset show.
    public init(_ kind: Kind, at offset: Int, length: Int = 0) {
        self.kind = kind
        self.offset = offset
        self.length = length
    }

    init(_ kind: Kind, _ token: Token) {
        self.init(kind, at: token.start, length: token.end - token.start)
    }
}
