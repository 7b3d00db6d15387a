public import DNS
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
    private var policy: Policy
    private var layers: [Policy.Layer]
    private let cache: Cache
    private var forwarder: Forwarder
    private var upstreamAnswer = UpstreamAnswer()
    /// The name that the answer at hand has come to: the question's, then each alias's target.
    private var target = FoldedName()
    private var scratch = FoldedName()
    private var explanation = Explanation()
    /// A copy of the cache's entry, and the message that an entry or an answer is made into.
    private var entry = OctetStore(count: Cache.largestEntry)
    private var message = OctetStore(count: Cache.largestEntry)
    private var question = OctetStore(count: 512)
    private var counts = ResolverStatistics()

    /// A resolver under a policy; its cache may be shared, its random numbers are its own.
    public init(policy: Policy, cache: Cache, random: consuming RandomPool) {
        self.policy = policy
        layers = policy.views[0].layers
        self.cache = cache
        forwarder = Forwarder(upstreams: policy.upstreams, random: random)
    }

    /// Answers from now on under another policy: the next query sees all of it.
    ///
    /// The upstreams stay those that the resolver was made with.
    public mutating func adopt(_ policy: Policy) {
        self.policy = policy
        layers = policy.views[0].layers
    }

    /// What has been done so far.
    public var statistics: ResolverStatistics {
        var statistics = counts
        statistics.upstreamQueries = forwarder.attemptsSent
        statistics.mismatches = forwarder.mismatches
        statistics.shed = forwarder.shed
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
        switch Query.parse(message, over: client.transport, name: &target) {
        case .drop:
            counts.dropped &+= 1
            return .drop
        case .error(let code, let query, let echoesQuestion):
            counts.malformed &+= 1
            let end = Header.size + (echoesQuestion ? query.questionSize : 0)
            return refuse(query, message.extracting(Header.size..<end), code, nil, into: &reply)
        case .query(let query):
            let end = Header.size + query.questionSize
            let question = message.extracting(Header.size..<end)
            guard query.class == .in, isServed(client) else {
                counts.refused &+= 1
                let error: ExtendedError = query.class == .in ? .prohibited : .notSupported
                return refuse(query, question, .refused, error, into: &reply)
            }
            let waiter = Waiter(client: client, query: query, arrivedAt: now)
            return respond(to: waiter, question: question, at: now, into: &reply)
        }
    }

    private func isServed(_ client: Client) -> Bool {
        for prefix in policy.allowed where prefix.contains(client.address) { return true }
        return false
    }

    /// An error reply without any records.
    private mutating func refuse(
        _ query: Query,
        _ question: Span<UInt8>,
        _ code: ResponseCode,
        _ error: ExtendedError?,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        var writer = MessageWriter(
            reply.extracting(0..<reply.count), count: Header.size, limit: query.limit
        )
        guard (try? writer.append(question)) != nil else { return .drop }
        var response = Response()
        response.code = code
        response.error = error
        explanation.clear()
        return .respond(
            response.finish(
                &writer, for: query, echoesQuestion: !question.isEmpty, explanation: explanation.text
            )
        )
    }

    /// Decides about a query whose name is in `target` and writes the reply, or lets it wait.
    private mutating func respond(
        to waiter: Waiter,
        question: Span<UInt8>,
        at now: Instant,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        let query = waiter.query
        var writer = MessageWriter(
            reply.extracting(0..<reply.count),
            count: Header.size,
            limit: query.limit - Response.reserve(for: query)
        )
        guard (try? writer.append(question)) != nil else { return .drop }
        var response = Response()
        explanation.clear()
        switch decide(waiter, question: question, at: now, response: &response, writer: &writer) {
        case .drop:
            counts.dropped &+= 1
            return .drop
        case .wait:
            return .wait
        case .respond:
            if response.code == .serverFailure { counts.failed &+= 1 }
            if response.code == .refused { counts.refused &+= 1 }
            return .respond(
                response.finish(&writer, for: query, explanation: explanation.text)
            )
        }
    }

    // MARK: The decision

    private enum Decision {
        case respond
        case wait
        case drop
    }

    /// What one stage did about the name at hand.
    private enum Step {
        /// The answer is complete.
        case done
        /// The name is an alias; its target stands, spelled out, at this offset of the message.
        case alias(Int)
        /// The stage has nothing to say.
        case pass
    }

    /// Aliases that are followed before it is taken for a loop (SEMANTICS 4).
    private static let mostAliases = 16

    private mutating func decide(
        _ waiter: Waiter,
        question: Span<UInt8>,
        at now: Instant,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Decision {
        let query = waiter.query
        var owner = Header.size
        for _ in 0...Resolver.mostAliases {
            var isSpecial = true
            var step = Step.pass
            search: for index in layers.indices {
                let lookup = layers[index].index.lookup(target, type: query.type)
                switch lookup.kind {
                case .notOwned:
                    continue search
                case .drop:
                    return .drop
                case .tcpOnly where !query.isStream:
                    response.isTruncated = true
                    return .respond
                case .forward, .tcpOnly:
                    isSpecial = false
                    break search
                case .referral where query.flags.wantsRecursion && !policy.upstreams.isEmpty:
                    isSpecial = false
                    break search
                default:
                    step = answerLocally(
                        layers[index].index, lookup, query, owner, &response, &writer
                    )
                    break search
                }
            }
            if case .pass = step, isSpecial { step = answerSpecial(query, owner, &response, &writer) }
            if case .pass = step, policy.upstreams.isEmpty {
                guard owner == Header.size else { return .respond }
                response.code = .refused
                response.error = .notAuthoritative
                explanation.append("not an override, and nothing is forwarded")
                return .respond
            }
            if case .pass = step {
                step = answerFromCache(waiter, owner, at: now, response: &response, writer: &writer)
            }
            switch step {
            case .done:
                return .respond
            case .pass:
                return forward(waiter, question, at: now, response: &response, writer: &writer)
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
    private mutating func fail(
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

    private mutating func forward(
        _ waiter: Waiter,
        _ question: Span<UInt8>,
        at now: Instant,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Decision {
        let query = waiter.query
        guard query.flags.wantsRecursion else {
            response.code = .refused
            response.error = .notAuthoritative
            explanation.append("recursion was not asked for, and the answer is not at hand")
            return .respond
        }
        guard waiter.exchanges < Forwarder.mostExchanges else {
            return fail("too many queries in flight, or too long a chain", &response, &writer, question)
        }
        var waiter = waiter
        waiter.exchanges += 1
        guard
            forwarder.wait(
                for: target, key: key(of: query), waiter: waiter, question: question, at: now
            )
        else { return fail("too many clients are waiting", &response, &writer, question) }
        if waiter.exchanges == 1 { counts.waited &+= 1 }
        return .wait
    }

    private func key(of query: Query) -> CacheKey {
        CacheKey(
            type: query.type,
            class: query.class,
            variant: .init(
                wantsDNSSEC: query.wantsDNSSEC,
                isCheckingDisabled: query.flags.isCheckingDisabled
            )
        )
    }

    // MARK: Stage 2: overrides

    private mutating func answerLocally(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ query: Query,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        if owner == Header.size {
            response.isAuthoritative = true
            counts.overridden &+= 1
        }
        explain(index, lookup, query, &response)
        switch lookup.kind {
        case .answer:
            if let node = lookup.node {
                appendAnswer(index, node, query, owner, &response, &writer)
            }
        case .cname:
            guard let node = lookup.node, let rrset = index.rrset(.cname, at: node) else { break }
            let target = writer.count + 12
            guard append(rrset, of: index, owner, &response, &writer) else { break }
            return .alias(target)
        case .dname:
            return answerWithDNAME(index, lookup, owner, &response, &writer)
        case .referral:
            refer(index, lookup, owner, &response, &writer)
        case .pointer:
            guard let node = lookup.node else { break }
            if index.appendPointer(to: node, owner: owner, writer: &writer) {
                response.answerCount &+= 1
            } else {
                response.isTruncated = true
            }
        case .noData, .nxDomain:
            if lookup.kind == .nxDomain { response.code = .nxDomain }
            let hasRoom = index.appendSOA(
                for: lookup, name: target, owner: owner,
                generation: policy.settings.generation, to: &writer
            )
            if hasRoom { response.authorityCount &+= 1 } else { response.isTruncated = true }
        case .notOwned, .forward, .drop, .tcpOnly:
            return .pass
        }
        return .done
    }

    /// Says which file and line decided, where the answer is not what the public DNS has.
    private mutating func explain(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ query: Query,
        _ response: inout Response
    ) {
        guard query.hasEDNS, index.kind != .authoritative, let node = lookup.node else { return }
        response.error = .forgedAnswer
        explanation.clear()
        index.withLabel(of: node) { explanation.append($0) }
        var line = index.line(of: node)
        if lookup.kind == .answer || lookup.kind == .cname,
            let rrset = index.rrset(lookup.kind == .cname ? .cname : query.type, at: node)
        {
            line = rrset.line
        }
        guard line > 0 else { return }
        explanation.append(UInt8(ascii: ":"))
        explanation.append(decimal: UInt64(line))
    }

    private mutating func appendAnswer(
        _ index: borrowing ZoneIndex,
        _ node: ZoneIndex.Node,
        _ query: Query,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) {
        let start = writer.count
        if query.type == .any {
            // Over UDP one RRset is enough of an answer (RFC 8482, 4.1).
            let count = query.isStream ? index.rrsetCount(of: node) : 1
            for number in 0..<count {
                guard let rrset = index.rrset(number: number, at: node),
                    append(rrset, of: index, owner, &response, &writer)
                else { return }
            }
            return
        }
        guard let rrset = index.rrset(query.type, at: node),
            append(rrset, of: index, owner, &response, &writer), index.kind == .authoritative
        else { return }
        let addresses = index.appendAddresses(
            forRecordsIn: start..<writer.count, scratch: &scratch, to: &writer
        )
        response.additionalCount &+= addresses.count
    }

    /// Appends an RRset to the answer section; false where the message is full.
    private func append(
        _ rrset: ZoneIndex.RRset,
        of index: borrowing ZoneIndex,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Bool {
        let appended = index.append(rrset, owner: owner, to: &writer)
        response.answerCount &+= appended.count
        if !appended.isComplete { response.isTruncated = true }
        return appended.isComplete
    }

    private func answerWithDNAME(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        guard let node = lookup.node, let rrset = index.rrset(.dname, at: node) else { return .done }
        let place = owner + target.start(ofLabel: lookup.label)
        let record = writer.count
        guard append(rrset, of: index, place, &response, &writer) else { return .done }
        do throws(WireError) {
            let alias = try index.appendSynthesizedCNAME(
                name: target, owner: owner, label: lookup.label, target: record + 12,
                ttl: writer.message.uint32(at: record + 6), to: &writer
            )
            response.answerCount &+= 1
            return .alias(alias)
        } catch {
            if error.kind == .nameTooLong {
                response.code = .yxDomain
            } else {
                response.isTruncated = true
            }
            return .done
        }
    }

    private mutating func refer(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) {
        guard let node = lookup.node, let rrset = index.rrset(.ns, at: node) else { return }
        if owner == Header.size { response.isAuthoritative = false }
        let start = writer.count
        let place = owner + target.start(ofLabel: lookup.label)
        let servers = index.append(rrset, owner: place, to: &writer)
        response.authorityCount &+= servers.count
        guard servers.isComplete else {
            response.isTruncated = true
            return
        }
        let glue = index.appendAddresses(
            forRecordsIn: start..<writer.count, scratch: &scratch, to: &writer
        )
        response.additionalCount &+= glue.count
        // Without glue the servers cannot be found (RFC 9471).
        if !glue.isComplete { response.isTruncated = true }
    }

    // MARK: Stage 3: special names

    private func answerSpecial(
        _ query: Query,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        let special = SpecialName(target, settings: policy.settings)
        switch special {
        case .none:
            return .pass
        case .loopback where query.type == .a || query.type == .aaaa:
            do throws(WireError) {
                try writer.append(0xC000 | UInt16(truncatingIfNeeded: owner))
                try writer.append(query.type.rawValue)
                try writer.append(RecordClass.in.rawValue)
                try writer.append(policy.settings.negativeTTL)
                if query.type == .a {
                    try writer.append(4 as UInt16)
                    try writer.append(0x7F00_0001 as UInt32)
                } else {
                    try writer.append(16 as UInt16)
                    for _ in 0..<3 { try writer.append(0 as UInt32) }
                    try writer.append(1 as UInt32)
                }
                response.answerCount &+= 1
            } catch {
                response.isTruncated = true
            }
            return .done
        case .nxDomain, .noData, .loopback:
            // A special name above owned names exists (RFC 8020).
            if special == .nxDomain, !hasNamesBelowTarget() { response.code = .nxDomain }
            let hasRoom = ZoneIndex.appendSOA(
                owner: owner, ttl: policy.settings.negativeTTL,
                serial: policy.settings.generation, to: &writer
            )
            if hasRoom { response.authorityCount &+= 1 } else { response.isTruncated = true }
            return .done
        }
    }

    private func hasNamesBelowTarget() -> Bool {
        for index in layers.indices where layers[index].index.hasNames(below: target) {
            return true
        }
        return false
    }

    // MARK: Stage 4: the cache

    private mutating func answerFromCache(
        _ waiter: Waiter,
        _ owner: Int,
        at now: Instant,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Step {
        var copy = entry.mutableSpan
        guard cache.find(key(of: waiter.query), name: target, copy: &copy) else { return .pass }
        let entry = CacheEntry(copy.span, at: 0)
        let age = now.nanoseconds > entry.storedAt ? now.nanoseconds - entry.storedAt : 0
        // An answer that was fetched after the client asked is the client's, whatever its TTL.
        guard age < UInt64(entry.lifetime) * 1_000_000_000
            || entry.storedAt >= waiter.arrivedAt.nanoseconds && waiter.exchanges > 0
        else { return .pass }
        if waiter.exchanges == 0 && owner == Header.size { counts.cacheHits &+= 1 }
        let seconds = UInt32(truncatingIfNeeded: age / 1_000_000_000)
        if entry.flags.contains(.isFailure) {
            response = Response()
            response.code = .serverFailure
            response.error = entry.error
            writer.rewind(to: Header.size + waiter.query.questionSize)
            explanation.clear()
            explanation.append(copy.span.extracting(entry.body))
            return .done
        }
        response.code = entry.code
        if entry.code == .nxDomain, !entry.flags.contains(.hasAliases), hasNamesBelowTarget() {
            response.code = .noError
        }
        response.isAuthenticData =
            entry.flags.contains(.isAuthenticData) && owner == Header.size
        let start = writer.count
        if owner == Header.size, !entry.flags.contains(.hasAliases),
            (try? writer.append(copy.span.extracting(entry.body))) != nil
        {
            let records =
                Int(entry.answerCount) + Int(entry.authorityCount) + Int(entry.additionalCount)
            try? writer.ageRecords(
                records, from: start, by: seconds, cap: policy.settings.servedTTL
            )
            response.answerCount = entry.answerCount
            response.authorityCount = entry.authorityCount
            response.additionalCount = entry.additionalCount
            return .done
        }
        writer.rewind(to: start)
        return rewrite(entry, seconds: seconds, owner, response: &response, writer: &writer)
    }

    /// Writes an entry record by record: where it follows on an alias, does not fit as a whole, or
    /// has aliases of its own, at which it is cut when they lead to an owned name.
    private mutating func rewrite(
        _ entry: CacheEntry,
        seconds: UInt32,
        _ owner: Int,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Step {
        var source = message.mutableSpan
        let start = Header.size + target.count + 4
        source.copy(target.octets, at: Header.size)
        source.copy(self.entry.span.extracting(entry.body), at: start)
        let end = start + entry.body.count
        writer.registerName(at: owner)
        var position = start
        var alias = -1
        do throws(WireError) {
            for _ in 0..<Int(entry.answerCount) {
                let record = try ResourceRecord(
                    parsing: source.span.extracting(0..<end), at: position
                )
                position = record.end
                let ttl = served(record.ttl, seconds)
                if record.type == .cname {
                    alias = try writer.appendAlias(record, of: source.span, ttl: ttl)
                    response.answerCount &+= 1
                    _ = try scratch.read(from: writer.message, at: alias)
                    if ownsScratch() {
                        response.code = .noError
                        response.isAuthenticData = false
                        return .alias(alias)
                    }
                } else {
                    try appendWhole(record, of: source.span, ttl: ttl, to: &writer)
                    response.answerCount &+= 1
                }
            }
        } catch {
            response.isTruncated = true
            return .done
        }
        if entry.flags.contains(.isOpenChain), alias >= 0 { return .alias(alias) }
        if entry.code == .nxDomain, alias >= 0 {
            target.assign(scratch)
            if hasNamesBelowTarget() { response.code = .noError }
        }
        appendRest(entry, from: position, end: end, seconds, &response, &writer)
        return .done
    }

    private func appendWhole(
        _ record: ResourceRecord,
        of source: Span<UInt8>,
        ttl: UInt32,
        to writer: inout MessageWriter
    ) throws(WireError) {
        let mark = writer.count
        do throws(WireError) {
            try writer.appendRecord(record, of: source, ttl: ttl)
        } catch {
            writer.rewind(to: mark)
            throw error
        }
    }

    /// Authority and additional records, as far as they fit. Only a negative answer needs its
    /// authority section, only then its lack is a truncation.
    private mutating func appendRest(
        _ entry: CacheEntry,
        from start: Int,
        end: Int,
        _ seconds: UInt32,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) {
        var position = start
        let source = message.span.extracting(0..<end)
        for number in 0..<(Int(entry.authorityCount) + Int(entry.additionalCount)) {
            let isAuthority = number < Int(entry.authorityCount)
            do throws(WireError) {
                let record = try ResourceRecord(parsing: source, at: position)
                position = record.end
                let ttl = served(record.ttl, seconds)
                try appendWhole(record, of: source, ttl: ttl, to: &writer)
                if isAuthority {
                    response.authorityCount &+= 1
                } else {
                    response.additionalCount &+= 1
                }
            } catch {
                if isAuthority, entry.answerCount == 0 { response.isTruncated = true }
                return
            }
        }
    }

    private func served(_ ttl: UInt32, _ seconds: UInt32) -> UInt32 {
        min(ttl > seconds ? ttl - seconds : 0, policy.settings.servedTTL)
    }

    private func ownsScratch() -> Bool {
        for index in layers.indices
        where layers[index].index.lookup(scratch, type: .a).kind != .notOwned {
            return true
        }
        return false
    }

    // MARK: Stage 5: upstreams

    /// Takes the next query that has to go upstream, or nil when all have been taken.
    ///
    /// To be drained after each batch of `handle`, `receive`, `expire` and `nextReply`. `message`
    /// must have room for 512 octets.
    public mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? {
        forwarder.nextSend(into: &message)
    }

    /// Takes one message that came from an upstream; anything that does not match is dropped.
    public mutating func receive(
        _ response: Span<UInt8>,
        over path: UpstreamPath,
        at now: Instant
    ) {
        guard let match = forwarder.match(response, over: path),
            let header = Header(parsing: response)
        else { return }
        let hadEDNS = forwarder.hadEDNS(match)
        guard forwarder.answered(match, at: now) else { return }
        if header.flags.isTruncated, case .datagram = path {
            forwarder.askOverStream(match, at: now)
            return
        }
        switch header.flags.responseCode {
        case .noError, .nxDomain, .yxDomain:
            let failure = keep(response, for: match.exchange, at: now)
            guard let failure else {
                forwarder.learnEDNS(from: match, at: now)
                forwarder.finish(match.exchange, at: now)
                return
            }
            settle(match, failure, at: now)
        case .formatError, .notImplemented, .badVersion:
            if hadEDNS {
                forwarder.askWithoutEDNS(match, at: now)
            } else {
                settle(match, .code(header.flags.responseCode), at: now)
            }
        default:
            settle(match, .code(header.flags.responseCode), at: now)
        }
    }

    /// An attempt came to nothing: the next upstream is asked, or all who wait are told.
    private mutating func settle(
        _ match: Forwarder.Match,
        _ failure: Exchange.Failure,
        at now: Instant
    ) {
        if forwarder.failed(match, failure, at: now) { giveUp(match.exchange, at: now) }
    }

    /// Tells that a path broke: ICMP unreachable on a socket, or a connection that failed or closed.
    public mutating func pathFailed(_ path: UpstreamPath, at now: Instant) {
        for exchange in forwarder.pathFailed(path, at: now) { giveUp(exchange, at: now) }
    }

    /// How many attempts wait on a path; a socket with none can be given a new port.
    public func exchangesInFlight(on path: UpstreamPath) -> Int {
        forwarder.pendingCount(on: path)
    }

    /// Does what is due: retransmits, asks the next upstream, gives up.
    public mutating func expire(at now: Instant) {
        while let exchange = forwarder.expire(at: now) { giveUp(exchange, at: now) }
    }

    /// When `expire` is next due, or nil while nothing waits.
    public var nextDeadline: Instant? { forwarder.nextDeadline }

    /// Takes the next finished reply: its client, and how many octets stand in `reply`.
    ///
    /// To be drained after each batch of `receive`, `pathFailed` and `expire`. `reply` must have
    /// room for 65 535 octets.
    public mutating func nextReply(
        into reply: inout MutableSpan<UInt8>,
        at now: Instant
    ) -> (client: Client, count: Int)? {
        while true {
            var octets = question.mutableSpan
            guard let waiter = forwarder.nextReady(question: &octets) else { return nil }
            guard (try? target.read(from: octets.span, at: 0)) != nil else { continue }
            // Copied out: the resolver's own memory cannot be lent to its own methods.
            var copy = InlineArray<264, UInt8>(repeating: 0)
            var span = copy.mutableSpan
            span.copy(octets.span.extracting(0..<waiter.query.questionSize), at: 0)
            let question = span.span.extracting(0..<waiter.query.questionSize)
            let disposition = respond(to: waiter, question: question, at: now, into: &reply)
            if case .respond(let count) = disposition { return (waiter.client, count) }
        }
    }

    /// Rebuilds an upstream's answer and puts it into the cache; gives why it is no answer, if so.
    private mutating func keep(
        _ response: Span<UInt8>,
        for exchange: Int,
        at now: Instant
    ) -> Exchange.Failure? {
        guard (try? scratch.read(from: forwarder.name(of: exchange), at: 0)) != nil else {
            return .unusable
        }
        let key = forwarder.key(of: exchange)
        let start = Header.size + scratch.count + 4
        var octets = message.mutableSpan
        octets.copy(scratch.octets, at: Header.size)
        octets.store(key.type.rawValue, at: start - 4)
        octets.store(key.class.rawValue, at: start - 2)
        var writer = MessageWriter(octets, count: start, limit: 65_535)
        writer.registerName(at: Header.size)
        let description: CacheEntry.Description
        do throws(UpstreamAnswer.Rejection) {
            description = try upstreamAnswer.rebuild(
                response, name: scratch, key: key, settings: policy.settings, writer: &writer
            )
        } catch {
            return error == .aliasLoop ? .aliasLoop : .unusable
        }
        let body = writer.message.extracting(start..<writer.count)
        store(description, key: key, body: body, at: now)
        return nil
    }

    /// Puts an entry for the name in `scratch` into the cache.
    private mutating func store(
        _ description: CacheEntry.Description,
        key: CacheKey,
        body: Span<UInt8>,
        at now: Instant
    ) {
        let hash = key.hash(scratch, seed: cache.seed)
        var copy = entry.mutableSpan
        let size = CacheEntry.compose(
            description, key: key, name: scratch, hash: hash, storedAt: now, body: body, into: &copy
        )
        cache.insert(copy.span.extracting(0..<size), key: key, name: scratch, hash: hash)
    }

    /// Nobody gave an answer: keeps that, for a second (RFC 9520), and wakes all who wait.
    private mutating func giveUp(_ exchange: Int, at now: Instant) {
        let (failure, upstream) = forwarder.failure(of: exchange)
        var description = CacheEntry.Description()
        description.flags = .isFailure
        description.code = .serverFailure
        description.lifetime = 1
        description.error = failure == .unreachable ? .networkError : .noReachableAuthority
        var reason = Explanation()
        reason.append(upstream: forwarder.upstreams[upstream])
        switch failure {
        case .silence: reason.append(" did not answer in time")
        case .unreachable: reason.append(" is unreachable")
        case .unusable: reason.append(" sent what is no answer")
        case .aliasLoop: reason.append(" sent an alias chain that is a loop")
        case .code(let code):
            reason.append(" answered with code ")
            reason.append(decimal: UInt64(code.rawValue))
        }
        if forwarder.upstreams.count > 1 { reason.append(", nor did others give an answer") }
        if (try? scratch.read(from: forwarder.name(of: exchange), at: 0)) != nil {
            store(description, key: forwarder.key(of: exchange), body: reason.text, at: now)
        }
        forwarder.finish(exchange, at: now)
    }
}

/// How a message reaches an upstream, or came from it.
@frozen
public enum UpstreamPath: Hashable, Sendable {
    /// Socket `socket` of the pool of connected UDP sockets to upstream `upstream`.
    case datagram(upstream: Int, socket: Int)
    /// The TCP connection to upstream `upstream`.
    case stream(upstream: Int)
}

/// One query on its way to an upstream.
@frozen
public struct UpstreamSend: Sendable {
    /// Where it goes.
    public let path: UpstreamPath
    /// How many octets of the buffer it takes.
    public let count: Int
}
