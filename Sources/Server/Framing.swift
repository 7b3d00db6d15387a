import DNS

/// How a stream of octets divides into messages: each behind its length in 16 bits (RFC 1035, 4.2.2).
enum Framing {
    /// What stands at the start of a run of octets.
    enum Frame: Equatable {
        /// A message of so many octets, behind two octets of length.
        case message(Int)
        /// The beginning of a message.
        case incomplete
        /// No message is so short: it has no header.
        case malformed
    }

    /// The frame that begins at `offset`.
    static func frame(in octets: Span<UInt8>, at offset: Int) -> Frame {
        let available = octets.count - offset
        guard available >= 2 else { return .incomplete }
        let length = Int(octets.uint16(at: offset))
        guard length >= Header.size else { return .malformed }
        return available - 2 >= length ? .message(length) : .incomplete
    }

    /// What the first octets of a connection tell.
    enum Opening {
        case isDNS
        case isNotDNS
        case undecided
    }

    /// Judges the first octets of a connection, so that a browser or a TLS client on the wrong
    /// port is closed at once, and does not wait for an answer of 18 245 octets ("GE").
    ///
    /// Only a length that spells two capital letters or a TLS handshake is looked at further: then
    /// the header must not claim more than the message can hold. What else is malformed is the
    /// resolver's to answer.
    static func opening(of octets: Span<UInt8>) -> Opening {
        guard octets.count >= 2 else { return .undecided }
        let spellsHTTP = isCapital(octets[0]) && isCapital(octets[1])
        let spellsTLS = octets[0] == 0x16 && octets[1] == 0x03
        guard spellsHTTP || spellsTLS else { return .isDNS }
        guard octets.count >= 2 + Header.size else { return .undecided }
        guard let header = Header(parsing: octets.extracting(2..<octets.count)) else {
            return .isNotDNS
        }
        let records =
            Int(header.answerCount) + Int(header.authorityCount) + Int(header.additionalCount)
        // The shortest question is a root, a type and a class; a record has a TTL and a length too.
        let least = Header.size + Int(header.questionCount) * 5 + records * 11
        return least <= Int(octets.uint16(at: 0)) ? .isDNS : .isNotDNS
    }

    private static func isCapital(_ octet: UInt8) -> Bool { octet >= 0x41 && octet <= 0x5A }
}
