import DNS

/// What an upstream understands of EDNS, mixed case and cookies: learned from what it answers, and
/// asked anew after a while, because servers are replaced.
struct UpstreamDialect {
    /// How much is put into a query.
    enum Level: UInt8, Comparable {
        /// EDNS with options.
        case full
        /// EDNS without options of ours.
        case plain
        /// No EDNS.
        case none

        static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// Whether a thing that makes forgery harder can be relied on.
    private enum Trait {
        /// It is tried; an answer without it is taken.
        case unknown
        /// It was there several times: an answer without it is doubtful.
        case reliable
        /// It is not used until then.
        case absent(until: Instant)
    }

    private var level = Level.full
    private var levelUntil = Instant(nanoseconds: 0)
    /// Questions in a row that were answered without EDNS after silence with it.
    private var silences = 0
    private(set) var lastEDNSAnswerAt = Instant(nanoseconds: 0)
    private var mixedCase = Trait.unknown
    private var caseEchoes = 0
    private var doubts = 0
    private var cookies = Trait.unknown
    /// Our half of the cookie; each upstream has one of its own (RFC 7873, 4.1).
    private(set) var clientCookie: UInt64
    /// The upstream's half, as it gave it last.
    private(set) var serverCookie = InlineArray<32, UInt8>(repeating: 0)
    private(set) var serverCookieSize = 0

    /// A failure that was said counts at once, and for a quarter of an hour; silence may be loss,
    /// and counts when it comes twice.
    private static let memory: UInt64 = 900_000
    private static let silenceMemory: UInt64 = 300_000
    private static let traitMemory: UInt64 = 3_600_000
    private static let echoesUntilReliable = 4
    /// So many doubtful answers in a row, and not one that is as it should be, come from the
    /// upstream: whoever can forge that many needs no luck any more.
    private static let mostDoubts = 8

    init(clientCookie: UInt64) { self.clientCookie = clientCookie }

    // MARK: EDNS

    /// How much a query may hold now.
    func level(at now: Instant) -> Level { now < levelUntil ? level : .full }

    /// An answer came to a query at a level that a failure had led to.
    mutating func settled(on level: Level, at now: Instant) {
        guard level > self.level(at: now) else { return }
        self.level = level
        levelUntil = now.advanced(byMilliseconds: UpstreamDialect.memory)
    }

    /// An answer came without EDNS where nothing had come with it.
    mutating func answeredAfterSilence(at now: Instant) {
        silences += 1
        guard silences >= 2 else { return }
        level = .none
        levelUntil = now.advanced(byMilliseconds: UpstreamDialect.silenceMemory)
    }

    /// An answer came to a query with EDNS.
    mutating func answeredWithEDNS(at now: Instant) {
        silences = 0
        lastEDNSAnswerAt = now
    }

    // MARK: Mixed case (draft-vixie-dnsext-dns0x20)

    /// Whether queries go out in mixed case.
    func mixesCase(at now: Instant) -> Bool {
        if case .absent(let until) = mixedCase { return now >= until }
        return true
    }

    /// Whether an answer in another case must be taken for a forgery.
    var reliesOnCase: Bool {
        if case .reliable = mixedCase { return true }
        return false
    }

    /// The question came back exactly as it was sent.
    mutating func echoedCase() {
        caseEchoes += 1
        doubts = 0
        if caseEchoes >= UpstreamDialect.echoesUntilReliable { mixedCase = .reliable }
    }

    /// The question came back in another case, from the upstream without doubt.
    mutating func alteredCase(at now: Instant) {
        caseEchoes = 0
        mixedCase = .absent(until: now.advanced(byMilliseconds: UpstreamDialect.traitMemory))
    }

    /// An answer came that is not what the upstream is known to send; gives whether it is still
    /// doubtful that it has changed its ways.
    mutating func isDoubtful() -> Bool {
        doubts += 1
        return doubts <= UpstreamDialect.mostDoubts
    }

    // MARK: Cookies

    /// Whether queries carry a cookie.
    func sendsCookie(at now: Instant) -> Bool {
        if case .absent(let until) = cookies { return now >= until }
        return true
    }

    /// Whether an answer without our cookie must be taken for a forgery.
    var reliesOnCookies: Bool {
        if case .reliable = cookies { return true }
        return false
    }

    /// The upstream sent our half back, and its own.
    mutating func learnCookie(_ message: Span<UInt8>, serverPart: Range<Int>) {
        guard (8...32).contains(serverPart.count) else { return }
        serverCookieSize = serverPart.count
        for index in 0..<serverPart.count {
            serverCookie[index] = message[serverPart.lowerBound + index]
        }
        doubts = 0
        cookies = .reliable
    }

    /// An answer without a cookie came from the upstream without doubt.
    mutating func lacksCookie(at now: Instant) {
        serverCookieSize = 0
        cookies = .absent(until: now.advanced(byMilliseconds: UpstreamDialect.traitMemory))
    }
}
