// JSON5 (spec.json5.org) to nodes that know where they stand. The toolchain's decoder takes JSON5,
// but says of a wrong value only its path: an operator looks for a line.

/// Reads one JSON5 document.
struct JSONParser {
    /// Text that is no JSON5: where, and why.
    struct Failure: Error {
        let line: Int
        let column: Int
        let sentence: String
    }

    private let text: [UInt8]
    private var position = 0
    private var line = 1
    private var lineStart = 0
    /// The last place whose column was counted: a document can be one long line.
    private var counted = (position: 0, column: 1)
    private var depth = 0

    /// Deeper than any setting, and shallow enough for every stack.
    private static let mostLevels = 32

    private init(_ text: [UInt8]) { self.text = text }

    /// The value that the text consists of.
    static func parse(_ text: [UInt8]) throws(Failure) -> JSONNode {
        var parser = JSONParser(text)
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            parser.position = 3
            parser.lineStart = 3
        }
        let node = try parser.value()
        try parser.skipSpace()
        guard parser.next == nil else { throw parser.failure("the document ends before this") }
        return node
    }

    // MARK: Places

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func column() -> Int {
        if counted.position < lineStart || counted.position > position {
            counted = (lineStart, 1)
        }
        counted.column += text[counted.position..<position].count { $0 & 0xC0 != 0x80 }
        counted.position = position
        return counted.column
    }

    private mutating func failure(_ sentence: String) -> Failure {
        Failure(line: line, column: column(), sentence: sentence)
    }

    private mutating func advance() {
        if text[position] == UInt8(ascii: "\n") {
            line += 1
            lineStart = position + 1
        }
        position += 1
    }

    private mutating func skipSpace() throws(Failure) {
        while let octet = next {
            if octet <= 0x20 {
                advance()
            } else if text[position...].starts(with: "//".utf8) {
                while let octet = next, octet != UInt8(ascii: "\n") { advance() }
            } else if text[position...].starts(with: "/*".utf8) {
                let start = failure("the comment that starts here has no end")
                advance()
                advance()
                while !text[position...].starts(with: "*/".utf8) {
                    guard next != nil else { throw start }
                    advance()
                }
                advance()
                advance()
            } else if text[position...].starts(with: [0xC2, 0xA0]) {
                position += 2
            } else {
                return
            }
        }
    }

    // MARK: Values

    private mutating func value() throws(Failure) -> JSONNode {
        try skipSpace()
        let (line, column) = (line, column())
        return JSONNode(line: line, column: column, value: try content())
    }

    private mutating func content() throws(Failure) -> JSONNode.Value {
        guard let first = next else { throw failure("a value is missing here") }
        switch first {
        case UInt8(ascii: "{"): return .object(try members())
        case UInt8(ascii: "["): return .array(try elements())
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        default: break
        }
        let start = position
        while let octet = next, JSONParser.isWordOctet(octet) || octet == UInt8(ascii: "+") {
            advance()
        }
        let word = String(decoding: text[start..<position], as: UTF8.self)
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if let number = JSONParser.number(word) { return .number(number, word) }
        position = start
        throw failure(
            word.isEmpty
                ? "'\(Character(Unicode.Scalar(first)))' starts no value"
                : "'\(word)' is no value; text stands in quotes"
        )
    }

    private mutating func enter() throws(Failure) {
        depth += 1
        guard depth <= JSONParser.mostLevels else { throw failure("nested too deep") }
        advance()
    }

    private mutating func members() throws(Failure) -> [JSONNode.Member] {
        let start = failure("the object that starts here has no '}'")
        try enter()
        var members: [JSONNode.Member] = []
        while true {
            try skipSpace()
            guard let octet = next else { throw start }
            if octet == UInt8(ascii: "}") { break }
            let (line, column) = (line, column())
            let key = try key()
            try skipSpace()
            guard next == UInt8(ascii: ":") else {
                throw failure("':' is missing behind the key \(key)")
            }
            advance()
            let value = try value()
            members.append(JSONNode.Member(key: key, line: line, column: column, value: value))
            try skipSpace()
            if next == UInt8(ascii: ",") {
                advance()
            } else if next != UInt8(ascii: "}") {
                guard next != nil else { throw start }
                throw failure("',' or '}' is missing here")
            }
        }
        advance()
        depth -= 1
        return members
    }

    private mutating func elements() throws(Failure) -> [JSONNode] {
        let start = failure("the list that starts here has no ']'")
        try enter()
        var elements: [JSONNode] = []
        while true {
            try skipSpace()
            guard let octet = next else { throw start }
            if octet == UInt8(ascii: "]") { break }
            elements.append(try value())
            try skipSpace()
            if next == UInt8(ascii: ",") {
                advance()
            } else if next != UInt8(ascii: "]") {
                guard next != nil else { throw start }
                throw failure("',' or ']' is missing here")
            }
        }
        advance()
        depth -= 1
        return elements
    }

    private mutating func key() throws(Failure) -> String {
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try string() }
        let start = position
        while let octet = next, JSONParser.isWordOctet(octet), octet != UInt8(ascii: "."),
            octet != UInt8(ascii: "-")
        {
            advance()
        }
        guard position > start else { throw failure("a key is missing here") }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    /// Letters, digits, `_`, `$`, `.`, `-`, and everything beyond ASCII.
    private static func isWordOctet(_ octet: UInt8) -> Bool {
        octet &- 0x30 < 10 || (octet | 0x20) &- 0x61 < 26 || octet >= 0x80
            || [0x24, 0x2D, 0x2E, 0x5F].contains(octet)
    }

    private static func number(_ word: String) -> Double? {
        var digits = Substring(word)
        var sign = 1.0
        if digits.first == "-" || digits.first == "+" {
            if digits.removeFirst() == "-" { sign = -1 }
        }
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            return Int(digits.dropFirst(2), radix: 16).map { sign * Double($0) }
        }
        guard let first = digits.first, first.isNumber || first == "." && digits.count > 1 else {
            return nil
        }
        return Double(digits).map { sign * $0 }
    }
}

// MARK: Strings

extension JSONParser {
    private mutating func string() throws(Failure) -> String {
        let start = failure("the text that starts here has no end")
        let quote = text[position]
        advance()
        var octets: [UInt8] = []
        while let octet = next, octet != UInt8(ascii: "\n") {
            advance()
            if octet == quote { return String(decoding: octets, as: UTF8.self) }
            if octet == UInt8(ascii: "\\") {
                try appendEscape(to: &octets)
            } else {
                octets.append(octet)
            }
        }
        throw start
    }

    private mutating func appendEscape(to octets: inout [UInt8]) throws(Failure) {
        guard let octet = next else { return }
        advance()
        switch octet {
        case UInt8(ascii: "n"): octets.append(0x0A)
        case UInt8(ascii: "t"): octets.append(0x09)
        case UInt8(ascii: "r"): octets.append(0x0D)
        case UInt8(ascii: "b"): octets.append(0x08)
        case UInt8(ascii: "f"): octets.append(0x0C)
        case UInt8(ascii: "v"): octets.append(0x0B)
        case UInt8(ascii: "0"): octets.append(0)
        case UInt8(ascii: "\n"): break
        case UInt8(ascii: "\r"): if next == UInt8(ascii: "\n") { advance() }
        case UInt8(ascii: "x"): append(try hexadecimal(digits: 2), to: &octets)
        case UInt8(ascii: "u"):
            var value = try hexadecimal(digits: 4)
            if value &- 0xD800 < 0x400, text[position...].starts(with: "\\u".utf8) {
                advance()
                advance()
                let low = try hexadecimal(digits: 4)
                value = 0x10000 + (value - 0xD800) << 10 + (low & 0x3FF)
            }
            append(value, to: &octets)
        default: octets.append(octet)
        }
    }

    private func append(_ value: UInt32, to octets: inout [UInt8]) {
        octets += String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8
    }

    private mutating func hexadecimal(digits: Int) throws(Failure) -> UInt32 {
        let end = position + digits
        guard end <= text.count,
            let value = UInt32(String(decoding: text[position..<end], as: UTF8.self), radix: 16)
        else { throw failure("\(digits) hexadecimal digits are missing here") }
        position = end
        return value
    }
}
