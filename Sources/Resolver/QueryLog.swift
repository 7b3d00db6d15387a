// Queries noted for a log: a bounded buffer that a resolver writes to and never waits for. It is
// handed over whole, and an empty one taken in its place; what does not fit is counted and dropped.
//
//      0  size, a multiple of 8 (16)    2  type (16)    4  microseconds that the answer took (32)
//      8  when, nanoseconds (64)       16  client (64, 64)
//     32  transport    33  source    34  response code    35  name length    36  the name

public import DNS

/// What an answer was made of.
@frozen
public enum AnswerSource: UInt8, BitwiseCopyable, Sendable, CaseIterable {
    /// Nothing: no answer was given, or only an error.
    case none
    /// An override zone.
    case override
    /// A name that never leaves the machine.
    case special
    /// An upstream's answer to an earlier query.
    case cache
    /// The same, past its TTL.
    case stale
    /// An upstream's answer to this query.
    case upstream
}

/// One query and what became of it.
public struct LoggedQuery: BitwiseCopyable, Sendable {
    /// When it came.
    public let arrivedAt: Instant
    /// How long its answer took, in microseconds; 0: it was answered at once.
    public let microseconds: UInt32
    /// Who asked.
    public let client: IPAddress
    /// What it came over.
    public let transport: Transport
    /// What was asked for.
    public let type: RecordType
    /// What the answer was made of.
    public let source: AnswerSource
    /// The answer's code; nil: there was no answer.
    public let code: ResponseCode?
    /// Where its name stands in the batch.
    let nameStart: Int
    let nameCount: Int
}

/// Queries that a resolver has noted.
public struct QueryBatch: ~Copyable, Sendable {
    private var octets: OctetStore
    private var used = 0
    /// How many queries found no room.
    public private(set) var dropped: UInt64 = 0

    private static let headerSize = 36
    private static let dropCode: UInt8 = 0xFF

    /// An empty batch of so many octets; a query takes about 60.
    public init(capacity: Int) { octets = OctetStore(count: capacity) }

    /// How many octets there is room for.
    public var capacity: Int { octets.count }

    /// Whether there is no query in it, and none was dropped.
    public var isEmpty: Bool { used == 0 && dropped == 0 }

    /// Empties the batch, for it to be used again.
    public mutating func clear() {
        used = 0
        dropped = 0
    }

    /// A place in a batch; a new one is before its first query.
    public struct Position {
        fileprivate var offset = 0

        /// The place before the first query.
        public init() {}
    }

    /// The query at a place, which moves behind it; nil at the end.
    public func next(_ position: inout Position) -> LoggedQuery? {
        let offset = position.offset
        guard offset < used else { return nil }
        let octets = octets.span
        position.offset = offset + Int(octets.uint16(at: offset))
        let code = octets[offset + 34]
        return LoggedQuery(
            arrivedAt: Instant(nanoseconds: octets.word(at: offset + 8)),
            microseconds: octets.uint32(at: offset + 4),
            client: IPAddress(
                high: octets.word(at: offset + 16),
                low: octets.word(at: offset + 24)
            ),
            transport: Transport(rawValue: octets[offset + 32]) ?? .udp,
            type: RecordType(rawValue: octets.uint16(at: offset + 2)),
            source: AnswerSource(rawValue: octets[offset + 33]) ?? .none,
            code: code == QueryBatch.dropCode ? nil : ResponseCode(rawValue: UInt16(code)),
            nameStart: offset + QueryBatch.headerSize,
            nameCount: Int(octets[offset + 35])
        )
    }

    /// The name of one of its queries, in wire format, with the client's capitals.
    @_lifetime(borrow self)
    public func name(of query: LoggedQuery) -> Span<UInt8> {
        octets.span.extracting(query.nameStart..<(query.nameStart + query.nameCount))
    }

    /// Notes a query, whose question stands in `question`.
    mutating func append(
        _ question: Span<UInt8>,
        from client: Client,
        arrivedAt: Instant,
        microseconds: UInt32,
        source: AnswerSource,
        code: ResponseCode?
    ) {
        let length = question.count - 4
        guard length > 0, length <= 255 else { return }
        let size = (QueryBatch.headerSize + length + 7) & ~7
        guard used + size <= octets.count else {
            dropped &+= 1
            return
        }
        let start = used
        var span = octets.mutableSpan
        span.store(UInt16(truncatingIfNeeded: size), at: start)
        span.store(question.uint16(at: length), at: start + 2)
        span.store(microseconds, at: start + 4)
        span.store(word: arrivedAt.nanoseconds, at: start + 8)
        span.store(word: client.address.high, at: start + 16)
        span.store(word: client.address.low, at: start + 24)
        span[start + 32] = client.transport.rawValue
        span[start + 33] = source.rawValue
        span[start + 34] =
            code.map { UInt8(truncatingIfNeeded: $0.rawValue) } ?? QueryBatch.dropCode
        span[start + 35] = UInt8(truncatingIfNeeded: length)
        span.copy(question.extracting(0..<length), at: start + QueryBatch.headerSize)
        used += size
    }
}

/// What a resolver notes, and where.
struct QueryLog: ~Copyable {
    private var batch = QueryBatch(capacity: 0)
    /// One query in so many is noted; 0: none.
    private(set) var interval: UInt32 = 0
    private var untilNext: UInt32 = 0

    mutating func begin(every interval: UInt32) {
        self.interval = interval
        untilNext = 0
    }

    /// Gives what was noted, and goes on in the batch that was given.
    mutating func exchange(_ other: inout QueryBatch) { swap(&batch, &other) }

    mutating func note(
        _ question: Span<UInt8>,
        from client: Client,
        arrivedAt: Instant,
        microseconds: UInt32,
        source: AnswerSource,
        code: ResponseCode?
    ) {
        guard untilNext == 0 else {
            untilNext &-= 1
            return
        }
        untilNext = interval &- 1
        batch.append(
            question,
            from: client,
            arrivedAt: arrivedAt,
            microseconds: microseconds,
            source: source,
            code: code
        )
    }
}

extension Resolver {
    /// Notes one query in `interval` from now on; 0: none. There is room once batches were exchanged.
    public mutating func logQueries(every interval: UInt32) { log.begin(every: interval) }

    /// Gives the queries that were noted, and goes on in the batch that was given, which is empty.
    public mutating func exchangeLog(_ batch: inout QueryBatch) { log.exchange(&batch) }

    /// Notes what became of a query for the log; one that waits is noted when it is answered.
    mutating func note(
        _ disposition: Disposition,
        of waiter: Waiter,
        _ question: Span<UInt8>,
        _ reply: Span<UInt8>,
        at now: Instant
    ) {
        let code: ResponseCode?
        switch disposition {
        case .wait: return
        case .drop: code = nil
        case .respond: code = Header(parsing: reply)?.flags.responseCode
        }
        log.note(
            question,
            from: waiter.client,
            arrivedAt: waiter.arrivedAt,
            microseconds: UInt32(
                clamping: (now.nanoseconds &- waiter.arrivedAt.nanoseconds) / 1000
            ),
            source: source,
            code: code
        )
    }
}
