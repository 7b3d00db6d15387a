// How an upstream's answer is kept: a fixed header, the folded name, and the sections as they stand
// in a response behind the question, compression pointers included.
//
//      0  size, a multiple of 8 (32)     4  AN, NS counts (16, 16)      8  hash (64, machine order)
//     16  stored at, nanoseconds (64, machine order)                  24  lifetime, seconds (32)
//     28  flags    29  response code    30  variant    31  name length
//     32  type, class (16, 16)          36  AR count (16)
//     38  error code of a failure (16)  40  body length (16)
//     42  how often it was asked for, up to 3    43  the scope of its subnet
//     44  until when it is served past its lifetime without asking, seconds (32)
//     48  partition (64, machine order)
//     56  the folded name, zeros up to a multiple of 8, then the body

import DNS

/// The question that an answer belongs to, with all that makes two answers to it differ.
struct CacheKey: BitwiseCopyable, Equatable {
    var type: RecordType
    var `class`: RecordClass
    var variant: Variant
    /// The upstream group and the asker's network, in one number.
    var partition: UInt64 = 0

    /// What of a query, beside its question, decides about the upstream's answer (SEMANTICS 7).
    struct Variant: RawRepresentable, Equatable, BitwiseCopyable {
        var rawValue: UInt8

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// DO and CD.
        init(wantsDNSSEC: Bool, isCheckingDisabled: Bool) {
            rawValue = (wantsDNSSEC ? 1 : 0) | (isCheckingDisabled ? 2 : 0)
        }

        var wantsDNSSEC: Bool { rawValue & 1 != 0 }
        var isCheckingDisabled: Bool { rawValue & 2 != 0 }
    }

    /// A keyed hash over the name and the rest of the key.
    func hash(_ name: borrowing FoldedName, seed: UInt64) -> UInt64 {
        let rest =
            UInt64(type.rawValue) << 32 | UInt64(`class`.rawValue) << 16
            | UInt64(variant.rawValue) ^ partition
        return name.hash(fromLabel: 0, seed: seed &+ rest &* 0x9E37_79B9_7F4A_7C15)
    }
}

/// One kept answer, as a view of its octets' header. `start` is where it begins in its memory.
struct CacheEntry {
    let start: Int
    let size: Int
    let answerCount: UInt16
    let authorityCount: UInt16
    let additionalCount: UInt16
    let storedAt: UInt64
    let lifetime: UInt32
    let flags: Flags
    let code: ResponseCode
    let error: ExtendedError
    let scope: UInt8
    let frequency: UInt8
    /// Until when it is served past its lifetime without asking, in seconds of the clock.
    let retryAt: UInt32
    let body: Range<Int>

    struct Flags: OptionSet, BitwiseCopyable {
        let rawValue: UInt8
        /// A newer answer is on its way.
        static let isRefreshing = Flags(rawValue: 1)
        /// Replaced by a newer answer; its octets wait to be reclaimed.
        static let dead = Flags(rawValue: 2)
        /// The answer section has aliases, whose targets may be owned by now.
        static let hasAliases = Flags(rawValue: 4)
        /// The answer section is a chain whose end is missing.
        static let isOpenChain = Flags(rawValue: 8)
        /// The upstream vouched for it (AD).
        static let isAuthenticData = Flags(rawValue: 16)
        /// No upstream gave an answer; the body is the reason, as text.
        static let isFailure = Flags(rawValue: 32)
        /// It was asked for a network, and is for everybody.
        static let isForAll = Flags(rawValue: 64)
    }

    static let headerSize = 56
    /// For how many seconds nobody asks again for what could not be renewed.
    static let retryInterval: UInt32 = 5

    /// Whether what `compose` made is a failure.
    static func isFailure(_ entry: Span<UInt8>) -> Bool {
        entry[28] & Flags.isFailure.rawValue != 0
    }

    /// The entry that begins at `start`. Inlined: most callers look at a few fields alone.
    @inline(__always)
    init(_ octets: Span<UInt8>, at start: Int) {
        self.start = start
        let header = octets.extracting(start..<(start &+ CacheEntry.headerSize))
        size = Int(header.uint32(at: 0))
        answerCount = header.uint16(at: 4)
        authorityCount = header.uint16(at: 6)
        storedAt = header.word(at: 16)
        lifetime = header.uint32(at: 24)
        flags = Flags(rawValue: header[28])
        code = ResponseCode(rawValue: UInt16(header[29]))
        additionalCount = header.uint16(at: 36)
        error = ExtendedError(rawValue: header.uint16(at: 38))
        scope = header[43]
        frequency = header[42]
        retryAt = header.uint32(at: 44)
        let name = CacheEntry.padded(Int(header[31]))
        let bodyStart = start &+ CacheEntry.headerSize &+ name
        body = bodyStart..<(bodyStart &+ Int(header.uint16(at: 40)))
    }

    /// Whether the entry at `start` is the one for a question.
    @inline(__always)
    static func matches(
        _ octets: Span<UInt8>,
        at start: Int,
        key: CacheKey,
        name: borrowing FoldedName
    ) -> Bool {
        let header = octets.extracting(start..<(start &+ headerSize))
        return header.uint16(at: 32) == key.type.rawValue
            && header.uint16(at: 34) == key.class.rawValue
            && header[30] == key.variant.rawValue
            && header.word(at: 48) == key.partition
            && Int(header[31]) == name.count
            && name.matches(octets, at: start &+ headerSize, fromLabel: 0)
    }

    /// What `compose` needs to know beside the body.
    struct Description: BitwiseCopyable {
        var answerCount: UInt16 = 0
        var authorityCount: UInt16 = 0
        var additionalCount: UInt16 = 0
        var lifetime: UInt32 = 0
        var flags: Flags = []
        var code = ResponseCode.noError
        var error = ExtendedError.other
        var scope: UInt8 = 0
    }

    /// Writes an entry, its body a range of another store, to the start of a store; gives its size.
    static func compose(
        _ description: Description,
        key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        storedAt: Instant,
        body: borrowing OctetStore,
        _ range: Range<Int>,
        into store: inout OctetStore
    ) -> Int {
        let body = body.span.extracting(range)
        var octets = store.mutableSpan
        let nameSize = padded(name.count)
        let size = padded(headerSize + nameSize + body.count)
        octets.store(UInt32(truncatingIfNeeded: size), at: 0)
        octets.store(description.answerCount, at: 4)
        octets.store(description.authorityCount, at: 6)
        octets.store(word: hash, at: 8)
        octets.store(word: storedAt.nanoseconds, at: 16)
        octets.store(description.lifetime, at: 24)
        octets[28] = description.flags.rawValue
        octets[29] = UInt8(truncatingIfNeeded: description.code.rawValue)
        octets[30] = key.variant.rawValue
        octets[31] = UInt8(truncatingIfNeeded: name.count)
        octets.store(key.type.rawValue, at: 32)
        octets.store(key.class.rawValue, at: 34)
        octets.store(description.additionalCount, at: 36)
        octets.store(description.error.rawValue, at: 38)
        octets.store(UInt16(truncatingIfNeeded: body.count), at: 40)
        octets[42] = 0
        octets[43] = description.scope
        octets.store(0 as UInt32, at: 44)
        octets.store(word: key.partition, at: 48)
        octets.store(word: 0, at: headerSize + nameSize - 8)
        octets.copy(name.octets, at: headerSize)
        octets.copy(body, at: headerSize + nameSize)
        return size
    }

    /// How old the answer is, in nanoseconds.
    func age(at now: Instant) -> UInt64 {
        now.nanoseconds > storedAt ? now.nanoseconds - storedAt : 0
    }

    /// Whether its TTL has not run out.
    func isFresh(at now: Instant) -> Bool { age(at: now) < UInt64(lifetime) * 1_000_000_000 }

    /// Whether it may be served while no upstream gives a newer one (RFC 8767). What was never to be
    /// kept is not kept for that either.
    func isStale(at now: Instant, within seconds: UInt32) -> Bool {
        seconds > 0 && lifetime > 0 && !flags.contains(.isFailure)
            && age(at: now) < (UInt64(lifetime) + UInt64(seconds)) * 1_000_000_000
    }

    /// Whether a newer answer should be fetched already: little of its life is left, and it is asked
    /// for often.
    func isWorthRefreshing(at now: Instant) -> Bool {
        let life = UInt64(lifetime) * 1_000_000_000
        return lifetime >= 10 && frequency >= 2 && age(at: now) >= life - life / 10
            && flags.isDisjoint(with: [.isRefreshing, .isFailure])
    }

    /// Rounded up to a multiple of eight.
    static func padded(_ count: Int) -> Int { (count &+ 7) & ~7 }
}
