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
    /// What came is not DNS, or no longer: where the next message begins cannot be known.
    var isNotDNS = false
    /// Complete queries stand in `unread`, because there were too many replies to be read.
    var hasBacklog = false
    /// Replies were added in this turn, and not yet written.
    var isDirty = false
    /// Its client has asked too much over TCP: it is read again when the pause ends.
    var isPaused = false
    /// How often the time ran out while something was in flight.
    var extensions: UInt8 = 0

    /// How many octets of replies may wait before the client's queries are left unread.
    static var unsentLimit: Int { 128 << 10 }
    /// How many queries may be in flight before the client's further ones are left unread.
    static var inFlightLimit: Int { 1024 }

    /// Whether the client must first take replies, or let time pass, before another of its queries is
    /// handled.
    var isSaturated: Bool {
        isPaused || unsent.count > TCPConnection.unsentLimit
            || inFlight >= TCPConnection.inFlightLimit
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
