import DNS

/// One question that upstreams are asked on behalf of everybody who waits for its answer.
struct Exchange {
    var key: CacheKey
    /// The keyed hash of question and key; equal questions share an exchange.
    var hash: UInt64
    /// The group that is asked, as an index of the forwarder's groups.
    var group = -1
    /// The network that the question is asked for; a part of the key.
    var subnet: ClientSubnet?
    var nameSize = 0
    var startedAt: Instant
    /// When those who wait are told that nothing came.
    var giveUpAt: Instant
    /// When the next attempt is due, or the end of the wait for late answers.
    var dueAt: Instant
    /// When those who wait are served what is past its TTL (RFC 8767); nil: never, or done.
    var staleAt: Instant?
    /// Clients that wait, in the order in which they came.
    var waiters = WaiterList()
    /// The next exchange in the same bucket of equal hashes.
    var nextInBucket: Int32 = -1
    /// The exchanges begun before and after this one; -1: none.
    var older: Int32 = -1
    var newer: Int32 = -1
    /// How many attempts have been made; the table has them.
    var attemptCount = 0
    /// Nobody waits any more; late answers still tell how long their upstream takes.
    var isFinished = false
    /// Its slot may be taken by another.
    var isFree = false
    /// The answer does not fit into a datagram: whoever is asked next is asked over a stream.
    var isTruncated = false
    /// What the last attempt that failed came to.
    var failure = Failure.silence
    /// The upstream of that attempt.
    var failedUpstream = 0

    init(key: CacheKey, hash: UInt64, at now: Instant) {
        self.key = key
        self.hash = hash
        startedAt = now
        giveUpAt = now
        dueAt = now
    }

    /// Most attempts of one exchange; a power of two.
    static let mostAttempts = 8

    /// Why an attempt came to nothing.
    enum Failure: Equatable {
        /// No answer came in time.
        case silence
        /// The path broke: ICMP, or a connection that failed.
        case unreachable
        /// The upstream said so itself, perhaps with a reason.
        case code(ResponseCode, ExtendedError?)
        /// The answer could not be read, or was no answer.
        case unusable
        /// The answer's aliases lead in a circle.
        case aliasLoop
    }

    /// One query that was sent for the exchange.
    struct Attempt: BitwiseCopyable {
        var upstream: UInt16 = 0
        /// The socket of the upstream's pool, or -1 for its stream.
        var socket: Int16 = -1
        var id: UInt16 = 0
        var state = State.unused
        var level = UpstreamDialect.Level.full
        /// Why it was made at that level.
        var cause = Cause.ordinary
        var hasCookie = false
        /// Which letters of the name are capitals, repeating; 0: none.
        var capitals: UInt64 = 0
        var sentAt = Instant(nanoseconds: 0)
        /// The next attempt in the same bucket of pending ids; -1: none.
        var nextInBucket: Int32 = -1

        enum State: UInt8 {
            case unused
            case waiting
            /// No answer came by the time one was expected; it may still come.
            case overdue
            case done
            /// The upstream said that it could not answer.
            case failed
        }

        enum Cause: UInt8 {
            case ordinary
            /// The upstream had said that it cannot take what was sent before.
            case complaint
            /// Nothing had come to what was sent before.
            case silence
        }

        var isPending: Bool { state == .waiting || state == .overdue }

        var isStream: Bool { socket < 0 }

        var path: UpstreamPath {
            isStream
                ? .stream(upstream: Int(upstream))
                : .datagram(upstream: Int(upstream), socket: Int(socket))
        }

        /// Eight octets of the folded name, from a multiple of eight on, as this attempt writes them.
        @inline(__always)
        func spelled(_ word: UInt64, at index: Int) -> UInt64 {
            let ones: UInt64 = 0x0101_0101_0101_0101
            let bits = capitals &>> UInt64(index & 63) & 0xFF
            // Bit i of eight becomes the top bit of octet i.
            let isCapital = (bits &* ones & 0x8040_2010_0804_0201) &+ (0x7F &* ones)
            let isLetter = word.octets(from: UInt8(ascii: "a"), through: UInt8(ascii: "z"))
            return word & ~((isLetter & isCapital) &>> 2)
        }
    }
}
