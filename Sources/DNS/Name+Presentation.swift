// Names as text (RFC 1035, 5.1): labels between dots, `\DDD` and `\X` for what would not be plain.

extension Name {
    /// Why text is not a name.
    public enum TextError: Error, Equatable {
        /// Two dots without a label between them, or one at the start.
        case emptyLabel
        /// A label of more than 63 octets.
        case labelTooLong
        /// A name of more than 255 octets.
        case nameTooLong
        /// A backslash at the end, or `\DDD` that is not three digits up to 255.
        case badEscape
        /// Nothing at all.
        case empty
    }

    /// The name that `text` spells, with `origin` behind it where no dot ends it.
    ///
    /// `@` alone is the origin. The octets of `text` are taken as they are: no IDNA here.
    public init(scanning text: String, origin: Name = .root) throws(TextError) {
        try self.init(scanning: Array(text.utf8).span, origin: origin)
    }

    /// The name that the octets of `text` spell, with `origin` behind it where no dot ends it.
    public init(scanning text: Span<UInt8>, origin: Name = .root) throws(TextError) {
        guard !text.isEmpty else { throw .empty }
        if text.count == 1 && text[0] == UInt8(ascii: "@") {
            self = origin
            return
        }
        if text.count == 1 && text[0] == UInt8(ascii: ".") {
            self = .root
            return
        }
        var octets: [UInt8] = [0]
        var labelStart = 0
        var position = 0
        while position < text.count {
            var octet = text[position]
            position += 1
            if octet == UInt8(ascii: ".") {
                guard octets.count - labelStart > 1 else { throw .emptyLabel }
                octets[labelStart] = UInt8(octets.count - labelStart - 1)
                labelStart = octets.count
                octets.append(0)
                continue
            }
            if octet == UInt8(ascii: "\\") { octet = try Name.unescape(text, &position) }
            octets.append(octet)
            guard octets.count - labelStart <= 64 else { throw .labelTooLong }
        }
        if octets.count - labelStart > 1 {
            octets[labelStart] = UInt8(octets.count - labelStart - 1)
            octets += origin.octets
        }
        guard octets.count <= 255 else { throw .nameTooLong }
        self.init(octets: octets)
    }

    private static func unescape(
        _ text: Span<UInt8>,
        _ position: inout Int
    ) throws(TextError) -> UInt8 {
        guard position < text.count else { throw .badEscape }
        let first = text[position]
        guard first &- 0x30 < 10 else {
            position += 1
            return first
        }
        guard position + 3 <= text.count else { throw .badEscape }
        var value = 0
        for index in position..<(position + 3) {
            guard text[index] &- 0x30 < 10 else { throw .badEscape }
            value = value * 10 + Int(text[index] &- 0x30)
        }
        guard value <= 255 else { throw .badEscape }
        position += 3
        return UInt8(value)
    }
}

extension Name: CustomStringConvertible {
    /// The presentation format, absolute: a dot at the end.
    public var description: String {
        guard !isRoot else { return "." }
        var text: [UInt8] = []
        var position = 0
        while octets[position] != 0 {
            let length = Int(octets[position])
            for octet in octets[(position + 1)...(position + length)] {
                appendEscaped(octet, to: &text, special: Name.specialCharacters)
            }
            text.append(UInt8(ascii: "."))
            position += length + 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Characters that need a backslash in a master file's name.
    static let specialCharacters: [UInt8] = Array(".\\\"();@$".utf8)
}

/// Appends an octet as master-file text: itself, `\X` where it is special, `\DDD` where it does not print.
func appendEscaped(_ octet: UInt8, to text: inout [UInt8], special: [UInt8]) {
    if special.contains(octet) {
        text += [UInt8(ascii: "\\"), octet]
    } else if octet > 0x20 && octet < 0x7F {
        text.append(octet)
    } else {
        text += [
            UInt8(ascii: "\\"), 0x30 + octet / 100, 0x30 + octet / 10 % 10, 0x30 + octet % 10,
        ]
    }
}
