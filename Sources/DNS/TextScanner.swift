/// A run of octets that stands for one field of a master file (RFC 1035, 5.1).
public struct Token: BitwiseCopyable, Equatable, Sendable {
    /// The offset of the first octet, behind an opening quote.
    public let start: Int
    /// The offset behind the last octet, in front of a closing quote.
    public let end: Int
    /// Whether it stood between quotes.
    public let isQuoted: Bool
    /// Whether a backslash is in it.
    public let hasEscape: Bool
    /// Whether an octet above 127 is in it.
    public let hasHighOctet: Bool

    /// A token that was found by other means than a `TextScanner`'s.
    public init(start: Int, end: Int, isQuoted: Bool, hasEscape: Bool, hasHighOctet: Bool) {
        self.start = start
        self.end = end
        self.isQuoted = isQuoted
        self.hasEscape = hasEscape
        self.hasHighOctet = hasHighOctet
    }
}

/// Cuts master-file text into entries and tokens; knows quotes, escapes, comments and parentheses.
///
/// An entry ends at a line's end outside parentheses. `next()` gives its tokens and then nil for as
/// long as it is asked; `endEntry()` goes on to the next line. A copy is a bookmark: assigning it
/// back returns to it. No entry may be longer than `maximumEntrySize`, so that a parenthesis or a
/// quote that is never closed costs no more than that.
public struct TextScanner: ~Escapable {
    /// The whole text.
    public let text: Span<UInt8>
    /// The offset of the octet that is read next.
    public private(set) var position: Int
    /// The number of the line that `position` is in, from 1.
    public private(set) var line: UInt32 = 1

    private var depth = 0
    private var opening = 0
    private var entryStart: Int

    /// How many octets of text an entry may have. 65 535 octets of data are 260 000 as `\DDD`.
    public static var maximumEntrySize: Int { 1 << 20 }

    /// A scanner at the offset `position` of `text`.
    @_lifetime(copy text)
    public init(_ text: Span<UInt8>, at position: Int = 0) {
        self.text = text
        self.position = position
        entryStart = position
    }

    /// Whether all text was read.
    public var isAtEnd: Bool { position >= text.count }

    /// The octets of a token of this text, escapes and all.
    @_lifetime(copy self)
    public func octets(of token: Token) -> Span<UInt8> {
        text.extracting(token.start..<token.end)
    }

    /// The next token of the entry, or nil at its end.
    ///
    /// Throws `unclosedQuote`, `unclosedParenthesis` or `unopenedParenthesis`.
    @_lifetime(self: copy self)
    public mutating func next() throws(PresentationError) -> Token? {
        guard try skipBlanks() else { return nil }
        return text[position] == UInt8(ascii: "\"") ? try quoted() : plain()
    }

    /// Whether the entry has another token; goes on to its first octet.
    @_lifetime(self: copy self)
    public mutating func hasMore() throws(PresentationError) -> Bool { try skipBlanks() }

    @_lifetime(self: copy self)
    @inline(__always)
    private mutating func skipBlanks() throws(PresentationError) -> Bool {
        let text = self.text
        var offset = position
        while offset < text.count && (text[offset] == 0x20 || text[offset] == 0x09) {
            offset &+= 1
        }
        position = offset
        if offset < text.count && !text[offset].endsToken { return true }
        return try skipStructure()
    }

    /// Goes on behind blanks, comments, parentheses and the lines' ends in them.
    @_lifetime(self: copy self)
    private mutating func skipStructure() throws(PresentationError) -> Bool {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
                position &+= 1
            case UInt8(ascii: "\n"):
                guard depth > 0 else { return false }
                position &+= 1
                line &+= 1
                guard position &- entryStart < TextScanner.maximumEntrySize else {
                    throw PresentationError(.unclosedParenthesis, at: opening, length: 1)
                }
            case UInt8(ascii: ";"):
                skipToLineEnd()
            case UInt8(ascii: "("):
                if depth == 0 { opening = position }
                depth &+= 1
                position &+= 1
            case UInt8(ascii: ")"):
                guard depth > 0 else {
                    throw PresentationError(.unopenedParenthesis, at: position, length: 1)
                }
                depth &-= 1
                position &+= 1
            default:
                return true
            }
        }
        guard depth == 0 else {
            throw PresentationError(.unclosedParenthesis, at: opening, length: 1)
        }
        return false
    }

    /// Goes on to the start of the next entry; call it when `next()` gave nil.
    @_lifetime(self: copy self)
    public mutating func endEntry() {
        if position < text.count {
            position &+= 1
            line &+= 1
        }
        depth = 0
        entryStart = position
    }

    /// Goes on to the start of the next line, whatever is open.
    @_lifetime(self: copy self)
    public mutating func skipLine() {
        skipToLineEnd()
        endEntry()
    }

    @_lifetime(self: copy self)
    private mutating func skipToLineEnd() {
        while position &+ 8 <= text.count {
            let found = text.littleEndianWord(at: position).octets(equalTo: 0x0A)
            if found != 0 {
                position &+= found.trailingZeroBitCount >> 3
                return
            }
            position &+= 8
        }
        while position < text.count && text[position] != UInt8(ascii: "\n") { position &+= 1 }
    }

    /// A token without quotes: to a blank, a line's end, or one of `"();`.
    @_lifetime(self: copy self)
    @inline(__always)
    private mutating func plain() -> Token {
        // Locals: what lives in `self` is stored at each step.
        let text = self.text
        let start = position
        var offset = start
        var seen: UInt64 = 0
        while offset &+ 8 <= text.count {
            let word = text.littleEndianWord(at: offset)
            let found = word.delimiters
            if found == 0 {
                seen |= word
                offset &+= 8
                continue
            }
            seen |= word & ((found & (0 &- found)) &- 1)
            offset &+= found.trailingZeroBitCount >> 3
            let octet = text[offset]
            if octet.endsToken {
                position = offset
                return Token(
                    start: start,
                    end: offset,
                    isQuoted: false,
                    hasEscape: false,
                    hasHighOctet: seen & 0x8080_8080_8080_8080 != 0
                )
            }
            if octet == UInt8(ascii: "\\") { break }
            offset &+= 1
        }
        return plainSlowly(from: start, at: offset, seen: seen)
    }

    /// The rest of a token that has a backslash in it, or ends the text.
    @_lifetime(self: copy self)
    private mutating func plainSlowly(from start: Int, at offset: Int, seen: UInt64) -> Token {
        var isEscaped = false
        var seen = seen
        position = offset
        while position < text.count && !text[position].endsToken {
            isEscaped = isEscaped || text[position] == UInt8(ascii: "\\")
            if text[position] == UInt8(ascii: "\\"), position &+ 1 < text.count,
                text[position &+ 1] != UInt8(ascii: "\n")  // A backslash does not join lines.
            {
                position &+= 1
            }
            seen |= UInt64(text[position])
            position &+= 1
        }
        return Token(
            start: start,
            end: position,
            isQuoted: false,
            hasEscape: isEscaped,
            hasHighOctet: seen & 0x8080_8080_8080_8080 != 0
        )
    }

    /// A token between quotes, over several lines where it must be.
    @_lifetime(self: copy self)
    private mutating func quoted() throws(PresentationError) -> Token {
        let start = position &+ 1
        var escaped = false
        var high: UInt8 = 0
        position = start
        while position < text.count && position &- entryStart < TextScanner.maximumEntrySize {
            let octet = text[position]
            position &+= 1
            switch octet {
            case UInt8(ascii: "\""):
                return Token(
                    start: start,
                    end: position &- 1,
                    isQuoted: true,
                    hasEscape: escaped,
                    hasHighOctet: high & 0x80 != 0
                )
            case UInt8(ascii: "\\"):
                escaped = true
                if position < text.count {
                    if text[position] == UInt8(ascii: "\n") { line &+= 1 }
                    position &+= 1
                }
            case UInt8(ascii: "\n"):
                line &+= 1
            default:
                high |= octet
            }
        }
        throw PresentationError(.unclosedQuote, at: start &- 1, length: 1)
    }
}

extension UInt8 {
    /// Whether an octet that is not escaped ends a token without quotes: a blank, a line's end, `"();`.
    ///
    /// One bit for each octet up to `;`: a switch becomes a jump through a table.
    @inline(__always)
    fileprivate var endsToken: Bool {
        self <= 0x3B && 0x0800_0305_0000_2600 >> UInt64(self) & 1 != 0
    }
}

extension UInt64 {
    /// Marks octets that may end a token: 0 to 44, `;` and `\`. The lowest mark is exact.
    ///
    /// A borrow may set marks above a true one, never below it: only the lowest counts. One
    /// comparison covers blanks, quotes and parentheses, and some octets that end nothing.
    fileprivate var delimiters: UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let semicolon = self ^ (0x3B &* ones)
        let backslash = self ^ (0x5C &* ones)
        let low = self &- 0x2D &* ones
        // No octet from 128 on is one of them, so that one mask with `~self` serves all three.
        return (low | (semicolon &- ones) | (backslash &- ones)) & ~self & 0x8080_8080_8080_8080
    }

    /// Marks, with its high bit, each octet that is `octet`.
    func octets(equalTo octet: UInt8) -> UInt64 {
        let sevens: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        let difference = self ^ (UInt64(octet) &* 0x0101_0101_0101_0101)
        return ~(((difference & sevens) &+ sevens) | difference | sevens)
    }
}

extension Span where Element == UInt8 {
    /// Eight octets at `offset`, the first in the low bits.
    func littleEndianWord(at offset: Int) -> UInt64 { UInt64(littleEndian: word(at: offset)) }
}
