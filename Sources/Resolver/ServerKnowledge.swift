import DNS

/// What a server that runs knows beside its policy, at one moment.
///
/// To look at it changes nothing of it: nothing counts as asked for, and nothing is renewed.
public struct ServerKnowledge: Sendable {
    let now: Instant
    private let cache: Cache
    private let upstreams: [UpstreamStatistics]
    /// A cache with all of what was looked at, for a resolver that shows the answer.
    let seen: Cache

    /// What is in a cache, and how upstreams have been doing.
    public init(cache: Cache, upstreams: [UpstreamStatistics], at now: Instant) {
        self.cache = cache
        self.upstreams = upstreams
        self.now = now
        seen = Cache(bytes: 1 << 20, seed: cache.seed)
    }

    func isOut(_ upstream: Policy.Upstream) -> Bool {
        upstreams.first { $0.upstream == upstream }?.isOut ?? false
    }

    /// `up, 12 ms`; nil where nothing is known of an upstream.
    func state(of upstream: Policy.Upstream) -> String? {
        guard let known = upstreams.first(where: { $0.upstream == upstream }) else { return nil }
        if known.isOut { return "down" }
        if known.smoothedRTT == 0 { return known.queries == 0 ? "not asked yet" : "no answer yet" }
        return "up, \((known.smoothedRTT + 500) / 1000) ms"
    }

    /// The cached answer to a question; it is also put among what was seen.
    func answer(to key: CacheKey, name: borrowing FoldedName) -> CachedAnswer? {
        var octets = OctetStore(count: Cache.largestEntry)
        let found = cache.find(key, name: name, isHit: false, at: now, copy: &octets)
        guard found != .nothing else { return nil }
        let entry = CacheEntry(octets.span, at: 0)
        seen.insert(
            octets.span.extracting(0..<entry.size),
            key: key,
            name: name,
            hash: key.hash(name, seed: seen.seed),
            staleSeconds: 0,
            at: now
        )
        return CachedAnswer(entry, octets.span, name: name)
    }
}

/// A cached answer as people want to know it.
struct CachedAnswer {
    private let entry: CacheEntry
    private let reason: String
    /// Where the aliases in it lead, in their order.
    let aliases: [Name]

    init(_ entry: CacheEntry, _ octets: Span<UInt8>, name: borrowing FoldedName) {
        self.entry = entry
        var text: [UInt8] = []
        if entry.flags.contains(.isFailure) { text.append(octets.extracting(entry.body)) }
        reason = String(decoding: text, as: UTF8.self)
        aliases =
            entry.flags.contains(.hasAliases)
            ? CachedAnswer.aliases(entry, octets, name: name) : []
    }

    /// Whether the last alias leads to what is not in it.
    var isOpenChain: Bool { entry.flags.contains(.isOpenChain) }

    func isFresh(at now: Instant) -> Bool { entry.isFresh(at: now) }

    func isStale(at now: Instant, within seconds: UInt32) -> Bool {
        entry.isStale(at: now, within: seconds)
    }

    /// Whether it is the answer to who asks now, without asking further.
    func isServed(at now: Instant) -> Bool {
        entry.isFresh(at: now) || now.seconds < UInt64(entry.retryAt)
    }

    func secondsLeft(at now: Instant) -> UInt64 {
        let age = entry.age(at: now) / 1_000_000_000
        return UInt64(entry.lifetime) > age ? UInt64(entry.lifetime) - age : 0
    }

    func secondsPast(at now: Instant) -> UInt64 {
        let age = entry.age(at: now) / 1_000_000_000
        return age > UInt64(entry.lifetime) ? age - UInt64(entry.lifetime) : 0
    }

    /// `NOERROR, 2 records, 37 s of 300 s left`.
    func summary(at now: Instant) -> String {
        var summary = "\(entry.code)"
        if entry.flags.contains(.isFailure) {
            summary = "SERVFAIL"
        } else if entry.code == .noError, entry.answerCount == 0 {
            summary = "NODATA"
        } else if entry.answerCount > 0 {
            summary += ", \(entry.answerCount) record\(entry.answerCount == 1 ? "" : "s")"
        }
        summary += ", \(secondsLeft(at: now)) s of \(entry.lifetime) s left"
        return reason.isEmpty ? summary : summary + " (\(reason))"
    }

    private static func aliases(
        _ entry: CacheEntry,
        _ octets: Span<UInt8>,
        name: borrowing FoldedName
    ) -> [Name] {
        // The sections stand as they would in a message behind its question.
        var message = [UInt8](repeating: 0, count: Header.size)
        message.append(name.octets)
        message += [0, 0, 0, 0]
        var position = message.count
        message.append(octets.extracting(entry.body))
        var aliases: [Name] = []
        for _ in 0..<entry.answerCount {
            guard let record = try? ResourceRecord(parsing: message.span, at: position) else {
                break
            }
            position = record.end
            guard record.type == .cname else { continue }
            var store = OctetStore(count: 256)
            var out = store.mutableSpan
            var end = 0
            guard
                (try? Name.decompress(
                    in: message.span,
                    at: record.rdata,
                    limit: message.count,
                    into: &out,
                    end: &end
                )) != nil, let alias = try? Name(parsing: out.span.extracting(0..<end))
            else { break }
            aliases.append(alias)
        }
        return aliases
    }
}
