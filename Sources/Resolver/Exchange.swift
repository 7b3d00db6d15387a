import DNS

/// One question that upstreams are asked on behalf of everybody who waits for its answer.
struct Exchange {
    var key: CacheKey
    /// The keyed hash of question and key; equal questions share an exchange.
    var hash: UInt64
    var nameSize = 0
    var startedAt: Instant
    /// When those who wait are told that nothing came.
    var giveUpAt: Instant
    /// When the next attempt is due, or the end of the wait for late answers.
    var dueAt: Instant
    /// Clients that wait, in the order in which they came.
    var waiters = WaiterList()
    /// The next exchange in the same bucket of equal hashes.
    var nextInBucket: Int32 = -1
    /// The exchanges begun before and after this one; -1: none.
    var older: Int32 = -1
    var newer: Int32 = -1
    var attempts = InlineArray<8, Attempt>(repeating: Attempt())
    var attemptCount = 0
    /// Nobody waits any more; late answers still tell how long their upstream takes.
    var isFinished = false
    /// What the last attempt that failed came to.
    var failure = Failure.silence
    /// The upstream of that attempt.
    var failedUpstream = 0

    /// Most attempts of one exchange; a power of two.
    static let mostAttempts = 8

    /// Why an attempt came to nothing.
    enum Failure: Equatable {
        /// No answer came in time.
        case silence
        /// The path broke: ICMP, or a connection that failed.
        case unreachable
        /// The upstream said so itself.
        case code(ResponseCode)
        /// The answer could not be read, or was no answer.
        case unusable
        /// The answer's aliases lead in a circle.
        case aliasLoop
    }

    /// One query that was sent for the exchange.
    struct Attempt {
        var upstream: UInt8 = 0
        /// The socket of the upstream's pool, or -1 for its stream.
        var socket: Int16 = -1
        var id: UInt16 = 0
        var state = State.unused
        var hasEDNS = true
        var sentAt = Instant(nanoseconds: 0)
        /// The next attempt in the same bucket of pending ids; -1: none.
        var nextInBucket: Int32 = -1

        enum State: UInt8 {
            case unused
            case waiting
            /// No answer came by the time one was expected; it may still come.
            case overdue
            case done
        }

        var isPending: Bool { state == .waiting || state == .overdue }

        var path: UpstreamPath {
            socket < 0
                ? .stream(upstream: Int(upstream))
                : .datagram(upstream: Int(upstream), socket: Int(socket))
        }
    }

    /// Whether an answer may still come.
    var hasPendingAttempts: Bool {
        for index in 0..<attemptCount where attempts[index].isPending { return true }
        return false
    }

    /// How often an upstream has been asked.
    func attempts(at upstream: Int) -> Int {
        var count = 0
        for index in 0..<attemptCount where Int(attempts[index].upstream) == upstream {
            count &+= 1
        }
        return count
    }
}
