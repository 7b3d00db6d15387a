import DNS
import Platform

/// One client's connection: framed queries in, framed replies out (RFC 7766).
///
/// Holds only what cannot be done at once: octets of a query that is not complete, and replies
/// that the client has not read. On a quiet connection both are empty and take no memory.
struct TCPConnection: ~Copyable {
    var socket = StreamSocket.none
    /// Which of the connections that have used this slot.
    var generation: UInt32 = 0
    var client = IPAddress(high: 0, low: 0)
    var localAddress = IPAddress(high: 0, low: 0)
    /// Octets that were read and not yet handled.
    var unread = OctetQueue()
    /// Octets that are to be written, framed.
    var unsent = OctetQueue()
    /// Queries that wait for their reply.
    var inFlight = 0
    /// What the poller watches the socket for.
    var interest: Poller.Readiness = []
    /// The client has finished, or is not to be listened to any more.
    var isFinished = false
    /// The first message looked like DNS.
    var isVouchedFor = false
    /// Complete queries stand in `unread`, because there were too many replies to be read.
    var hasBacklog = false
    /// Replies were added in this turn, and not yet written.
    var isDirty = false
    /// How often the time ran out while something was in flight.
    var extensions: UInt8 = 0

    /// When something useful last happened, a whole query read or all replies written.
    var lastActivity: UInt64 = 0
    /// Neighbours in the order of `lastActivity`, or -1.
    var older: Int32 = -1
    var newer: Int32 = -1

    /// How many octets of replies may wait before the client's queries are left unread.
    static var unsentLimit: Int { 128 << 10 }
    /// How many queries may be in flight before the client's further ones are left unread.
    static var inFlightLimit: Int { 1024 }

    /// Whether the client must first take replies before another of its queries is handled.
    var isSaturated: Bool {
        unsent.count > TCPConnection.unsentLimit || inFlight >= TCPConnection.inFlightLimit
    }

    /// Writes what waits, as far as the client takes it.
    mutating func flush() throws(Errno) { try socket.write(from: &unsent) }

    /// Whether nothing more can come of the connection.
    var isDone: Bool { isFinished && inFlight == 0 && unsent.isEmpty && !hasBacklog }

    /// What the poller should watch the socket for.
    var wantedInterest: Poller.Readiness {
        var wanted: Poller.Readiness = []
        if !isFinished && !isSaturated { wanted.insert(.readable) }
        if !unsent.isEmpty { wanted.insert(.writable) }
        return wanted
    }
}

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
