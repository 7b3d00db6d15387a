import DNS
import Zones

/// A worker's resolver: queries and upstream messages in, replies and upstream queries out. Sans-I/O.
///
/// A query passes these stages in order; each answers or falls through to the next:
///
/// 1. Read it: malformed -> FORMERR, a response -> dropped, a client that is not served -> REFUSED.
/// 2. Overrides: an owned name is answered here, before any cache, always.
/// 3. Special names, which never leave this machine.
/// 4. The cache.
/// 5. Forwarding: the query waits, with all others that ask the same.
///
/// An alias starts again at 2 with its target. A query that waited is decided anew, from the start,
/// when the answer it waited for has been put into the cache: so there is one way to an answer.
public struct Resolver: ~Copyable {
    var policy: Policy
    var layers: [Policy.Layer]
    var horizon: Horizon
    /// What the client at hand sees of `layers`.
    var sight = Horizon.Sight()
    let cache: Cache
    var limiter: ClientLimiter
    var forwarder: Forwarder
    var upstreamAnswer = UpstreamAnswer()
    /// The name that the answer at hand has come to: the question's, then each alias's target.
    var target = FoldedName()
    var scratch = FoldedName()
    var explanation = Explanation()
    /// A copy of the cache's entry, and the message that an entry or an answer is made into.
    var entry = OctetStore(count: Cache.largestEntry)
    var message = OctetStore(count: Cache.largestEntry)
    var counts = ResolverStatistics()
    /// What the answer at hand is made of.
    var source = AnswerSource.none
    var log = QueryLog()
    /// How long clients waited whose question went upstream.
    public internal(set) var latencies = LatencyHistogram()
    /// The cache has something for the name at hand, but past its TTL.
    var hasStale = false

    /// A resolver under a policy; its cache and its table of clients may be shared, its random
    /// numbers are its own. The policy's limits need a table.
    public init(
        policy: Policy,
        cache: Cache,
        clients: ClientTable = .unused,
        random: consuming RandomPool
    ) {
        self.policy = policy
        layers = policy.horizon.layers
        horizon = policy.horizon
        self.cache = cache
        limiter = ClientLimiter(policy.limits, in: clients)
        forwarder = Forwarder(random: random)
        forwarder.adopt(policy, at: Instant(nanoseconds: 0))
    }

    /// Answers from now on under another policy: the next query sees all of it.
    ///
    /// Who waits for an upstream that is gone is decided about anew; see `upstreams`.
    public mutating func adopt(_ policy: Policy, at now: Instant) {
        self.policy = policy
        layers = policy.horizon.layers
        horizon = policy.horizon
        limiter = limiter.adopting(policy.limits)
        forwarder.adopt(policy, at: now)
    }

    /// The upstreams by their numbers, as `UpstreamPath` has them: those of the policy, and those of
    /// former ones that may still answer. An upstream keeps its number; nil: nobody has it.
    public var upstreams: [Policy.Upstream?] { forwarder.upstreams }

    /// What has been done so far.
    public var statistics: ResolverStatistics {
        var statistics = counts
        statistics.upstreamQueries = forwarder.counts.attempts
        statistics.mismatches = forwarder.counts.mismatches
        statistics.doubtful = forwarder.counts.doubtful
        statistics.shed = forwarder.counts.shed
        statistics.loops = forwarder.counts.loops
        return statistics
    }

    // MARK: Queries in

    /// Decides what becomes of one query; the reply, if any, is at the start of `reply`.
    ///
    /// `reply` must have room for 65 535 octets over TCP, 1 232 over UDP.
    public mutating func handle(
        _ message: Span<UInt8>,
        from client: Client,
        at now: Instant,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        counts.queries &+= 1
        if client.transport == .udp, !limiter.answers(client.address, at: now) {
            return curb(message, from: client, at: now, into: &reply)
        }
        switch Query.parse(message, over: client.transport, name: &target) {
        case .drop:
            counts.ignored &+= 1
            return .drop
        case .error(let code, let query, let echoesQuestion):
            counts.malformed &+= 1
            let end = Header.size + (echoesQuestion ? query.questionSize : 0)
            return refuse(query, message.extracting(Header.size..<end), code, nil, into: &reply)
        case .query(let query):
            let end = Header.size + query.questionSize
            let question = message.extracting(Header.size..<end)
            if query.class == .chaos, isServed(client) {
                return answerChaos(query, question, into: &reply)
            }
            let waiter = Waiter(client: client, query: query, arrivedAt: now)
            let disposition: Disposition
            if query.class == .in, isServed(client) {
                disposition = respond(to: waiter, question: question, at: now, into: &reply)
            } else {
                counts.refused &+= 1
                source = .none
                let error: ExtendedError = query.class == .in ? .prohibited : .notSupported
                disposition = refuse(query, question, .refused, error, into: &reply)
            }
            if log.interval > 0 {
                note(disposition, of: waiter, question, reply.span, at: now)
            }
            return disposition
        }
    }

    /// A client has sent too many queries over UDP: it is told to come over TCP, where its address is
    /// no forgery, or not answered at all.
    private mutating func curb(
        _ message: Span<UInt8>,
        from client: Client,
        at now: Instant,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        guard limiter.truncates(client.address, at: now),
            case .query(let query) = Query.parse(message, over: .udp, name: &target)
        else {
            counts.overRateDropped &+= 1
            return .drop
        }
        counts.overRateTruncated &+= 1
        let question = message.extracting(Header.size..<(Header.size + query.questionSize))
        return refuse(query, question, .noError, nil, isTruncated: true, into: &reply)
    }

    func isServed(_ client: Client) -> Bool {
        for prefix in policy.allowed where prefix.contains(client.address) { return true }
        return false
    }

    /// An error reply without any records.
    mutating func refuse(
        _ query: Query,
        _ question: Span<UInt8>,
        _ code: ResponseCode,
        _ error: ExtendedError?,
        isTruncated: Bool = false,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        var writer = MessageWriter(&reply, count: Header.size, limit: query.limit)
        guard (try? writer.append(question)) != nil else { return .drop }
        var response = Response()
        response.code = code
        response.error = error
        response.isTruncated = isTruncated
        explanation.clear()
        return .respond(
            response.finish(
                &writer,
                for: query,
                echoesQuestion: !question.isEmpty,
                explanation: explanation.text
            )
        )
    }

    /// Decides about a query whose name is in `target` and writes the reply, or lets it wait.
    mutating func respond(
        to waiter: Waiter,
        question: Span<UInt8>,
        at now: Instant,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        let query = waiter.query
        let limit = query.limit - Response.reserve(for: query)
        var writer = MessageWriter(&reply, count: Header.size, limit: limit)
        guard (try? writer.append(question)) != nil else { return .drop }
        var response = Response()
        source = .none
        explanation.clear()
        sight = horizon.sight(for: waiter.client)
        switch decide(waiter, question: question, at: now, response: &response, writer: &writer) {
        case .drop:
            counts.dropped &+= 1
            return .drop
        case .wait:
            return .wait
        case .respond:
            if response.policyLayer >= 0,
                layers[response.policyLayer].index.appendPolicySOA(to: &writer)
            {
                response.additionalCount &+= 1
            }
            if response.code == .serverFailure { counts.failed &+= 1 }
            if response.code == .refused { counts.refused &+= 1 }
            return .respond(
                response.finish(&writer, for: query, explanation: explanation.text)
            )
        }
    }

    // MARK: The decision

    enum Decision {
        case respond
        case wait
        case drop
    }

    /// What one stage did about the name at hand.
    enum Step {
        /// The answer is complete.
        case done
        /// The name is an alias; its target stands, spelled out, at this offset of the message.
        case alias(Int)
        /// The stage has nothing to say.
        case pass
        /// There is to be no answer.
        case drop
    }

    /// Aliases that are followed before it is taken for a loop (SEMANTICS 4).
    static let mostAliases = 16

    mutating func decide(
        _ waiter: Waiter,
        question: Span<UInt8>,
        at now: Instant,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Decision {
        let query = waiter.query
        var owner = Header.size
        var passage = Passage(policyEnd: sight.upper)
        for _ in 0...Resolver.mostAliases {
            var step = answerFromLayers(waiter, owner, &passage, &response, &writer)
            if case .pass = step, passage.isUnclaimed {
                step = answerSpecial(query, owner, &response, &writer)
                if owner == Header.size, case .done = step {
                    counts.special &+= 1
                    source = .special
                }
            }
            var asked: Forwarder.Question?
            if case .pass = step {
                asked = sight.forwards ? self.asked(by: query) : nil
                guard let asked else {
                    guard owner == Header.size else { return .respond }
                    response.code = .refused
                    response.error = .notAuthoritative
                    explanation.append("not an override, and nothing is forwarded")
                    return .respond
                }
                step = answerFromCache(
                    waiter,
                    asked,
                    owner,
                    triggersBelow: passage.triggerEnd,
                    at: now,
                    response: &response,
                    writer: &writer
                )
            }
            switch step {
            case .done:
                return .respond
            case .drop:
                return .drop
            case .pass:
                guard let asked else { return .drop }
                return forward(waiter, asked, question, at: now, &response, &writer)
            case .alias(let offset):
                owner = offset
                guard (try? target.read(from: writer.message, at: offset)) != nil else {
                    return fail("an alias's target is no name", &response, &writer, question)
                }
            }
        }
        return fail("alias chain is a loop or too long", &response, &writer, question)
    }

    /// SERVFAIL with a reason, in place of whatever has been written.
    mutating func fail(
        _ reason: StaticString,
        _ response: inout Response,
        _ writer: inout MessageWriter,
        _ question: Span<UInt8>
    ) -> Decision {
        response = Response()
        response.code = .serverFailure
        response.error = .other
        writer.rewind(to: Header.size + question.count)
        explanation.clear()
        explanation.append(reason)
        return .respond
    }
}
