// Stage 4: answers that upstreams gave before.

import DNS
import Zones

extension Resolver {
    mutating func answerFromCache(
        _ waiter: Waiter,
        _ asked: Forwarder.Question,
        _ owner: Int,
        triggersBelow upper: Int,
        at now: Instant,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Step {
        hasStale = false
        let isHit = waiter.exchanges == 0
        let found = find(asked, for: waiter, at: now)
        if found == .nothing { return .pass }
        let entry = CacheEntry(self.entry.span, at: 0)
        // An answer that was fetched after the client asked is the client's, whatever its TTL.
        let isFetched = entry.storedAt >= waiter.arrivedAt.nanoseconds && !isHit
        let isFresh = entry.isFresh(at: now) || isFetched
        if !isFresh {
            guard entry.isStale(at: now, within: policy.settings.staleSeconds) else {
                return .pass
            }
            guard takesStale(waiter, asked, entry, at: now) else {
                hasStale = true
                return .pass
            }
            response.error = .staleAnswer
        }
        if owner == Header.size { source = isFresh ? isHit ? .cache : .upstream : .stale }
        if found == .entryWorthRefreshing, !forwarder.isDown(group: asked.group) {
            counts.prefetched &+= 1
            forwarder.refresh(target, asked, at: now)
        }
        if owner == Header.size {
            if isFresh {
                if isHit { counts.cacheHits &+= 1 }
            } else {
                counts.stale &+= 1
                if !isHit { counts.staleAfterWaiting &+= 1 }
            }
        }
        if entry.flags.contains(.isFailure) {
            response = Response()
            response.code = .serverFailure
            response.error = entry.error
            writer.rewind(to: Header.size + waiter.query.questionSize)
            explanation.clear()
            explanation.append(self.entry, entry.body)
            return .done
        }
        var trigger: Trigger?
        if sight.hasResponseTriggers {
            trigger = responseTrigger(in: entry, below: upper, type: waiter.query.type)
            if let found = trigger, !entry.flags.contains(.hasAliases) {
                let step = obey(found, waiter.query, owner, &response, &writer)
                guard case .pass = step else { return step }
            }
        }
        response.code = entry.code
        response.scope = max(response.scope, entry.scope)
        if entry.code == .nxDomain, !entry.flags.contains(.hasAliases), hasNamesBelowTarget() {
            response.code = .noError
        }
        response.isAuthenticData =
            isFresh && entry.flags.contains(.isAuthenticData) && owner == Header.size
        var aging = Aging(
            seconds: UInt32(truncatingIfNeeded: entry.age(at: now) / 1_000_000_000),
            cap: policy.settings.servedTTL
        )
        if !isFresh {
            aging = Aging(seconds: 0, cap: policy.settings.staleTTL)
            aging.floor = policy.settings.staleTTL
        }
        let start = writer.count
        let isWhole = waiter.query.type != .any || waiter.query.isStream
        if owner == Header.size, isWhole, isFresh, !entry.flags.contains(.hasAliases),
            (try? writer.append(self.entry.span.extracting(entry.body))) != nil
        {
            let records =
                Int(entry.answerCount) + Int(entry.authorityCount) + Int(entry.additionalCount)
            try? writer.ageRecords(
                records,
                from: start,
                by: aging.seconds,
                cap: aging.cap
            )
            response.answerCount = entry.answerCount
            response.authorityCount = entry.authorityCount
            response.additionalCount = entry.additionalCount
            return .done
        }
        writer.rewind(to: start)
        return rewrite(
            entry,
            waiter.query,
            aging,
            owner,
            trigger: trigger,
            isWhole: isWhole,
            response: &response,
            writer: &writer
        )
    }

    /// How TTLs come out of the cache.
    struct Aging: BitwiseCopyable {
        var seconds: UInt32
        var cap: UInt32
        var floor: UInt32 = 0

        func served(_ ttl: UInt32) -> UInt32 {
            min(max(ttl > seconds ? ttl - seconds : 0, floor), cap)
        }
    }

    /// Whether what is past its TTL is served now: upstreams are known to be down, or have been
    /// waited for long enough. Then a newer answer is fetched behind the client's back.
    mutating func takesStale(
        _ waiter: Waiter,
        _ asked: Forwarder.Question,
        _ entry: CacheEntry,
        at now: Instant
    ) -> Bool {
        if waiter.acceptsStale || now.seconds < UInt64(entry.retryAt) { return true }
        guard waiter.query.flags.wantsRecursion else { return true }
        guard forwarder.isHopeless(target, asked, at: now) else { return false }
        forwarder.refresh(target, asked, at: now)
        return true
    }

    /// Writes an entry record by record: where it follows on an alias, does not fit as a whole, or
    /// has aliases of its own, at which it is cut when they lead to an owned name. At the end of its
    /// aliases it is cut where a trigger has something else to say.
    mutating func rewrite(
        _ entry: CacheEntry,
        _ query: Query,
        _ aging: Aging,
        _ owner: Int,
        trigger: Trigger?,
        isWhole: Bool,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Step {
        let start = Header.size + target.count + 4
        let end = start + entry.body.count
        target.write(to: &message, at: Header.size)
        message.copy(self.entry, entry.body, at: start)
        writer.registerName(at: owner)
        var position = start
        var alias = -1
        var first: RecordType?
        var mark = writer.count
        do throws(WireError) {
            for _ in 0..<Int(entry.answerCount) {
                mark = writer.count
                let record = try ResourceRecord(
                    parsing: message.span.extracting(0..<end),
                    at: position
                )
                position = record.end
                // Over UDP one RRset is enough of an answer to ANY (RFC 8482, 4.1).
                if !isWhole {
                    if first == nil { first = record.type }
                    if record.type != first { continue }
                }
                let ttl = aging.served(record.ttl)
                if record.type == .cname, isWhole {
                    alias = try writer.appendAlias(record, of: message.span, ttl: ttl)
                    response.answerCount &+= 1
                    _ = try scratch.read(from: writer.message, at: alias)
                    if ownsScratch() {
                        response.code = .noError
                        response.isAuthenticData = false
                        return .alias(alias)
                    }
                } else {
                    if let trigger, alias >= 0 {
                        target.assign(scratch)
                        let step = obey(trigger, query, alias, &response, &writer)
                        guard case .pass = step else { return step }
                    }
                    try appendWhole(record, of: message.span, ttl: ttl, to: &writer)
                    response.answerCount &+= 1
                }
            }
        } catch {
            // Of an alias that did not fit, a part is there.
            writer.rewind(to: mark)
            response.isTruncated = true
            return .done
        }
        if entry.flags.contains(.isOpenChain), alias >= 0 { return .alias(alias) }
        if entry.code == .nxDomain, alias >= 0 {
            target.assign(scratch)
            if hasNamesBelowTarget() { response.code = .noError }
        }
        appendRest(entry, from: position, end: end, aging, &response, &writer)
        return .done
    }

    func appendWhole(
        _ record: ResourceRecord,
        of source: Span<UInt8>,
        ttl: UInt32,
        to writer: inout MessageWriter
    ) throws(WireError) {
        let mark = writer.count
        do throws(WireError) {
            try writer.appendRecord(record, of: message.span, ttl: ttl)
        } catch {
            writer.rewind(to: mark)
            throw error
        }
    }

    /// Authority and additional records, as far as they fit. Only a negative answer needs its
    /// authority section, only then its lack is a truncation.
    mutating func appendRest(
        _ entry: CacheEntry,
        from start: Int,
        end: Int,
        _ aging: Aging,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) {
        var position = start
        for number in 0..<(Int(entry.authorityCount) + Int(entry.additionalCount)) {
            let isAuthority = number < Int(entry.authorityCount)
            do throws(WireError) {
                let record = try ResourceRecord(
                    parsing: message.span.extracting(0..<end),
                    at: position
                )
                position = record.end
                let ttl = aging.served(record.ttl)
                try appendWhole(record, of: message.span, ttl: ttl, to: &writer)
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

    func ownsScratch() -> Bool {
        for index in sight.lower..<sight.upper
        where layers[index].index.lookup(scratch, type: .a).kind != .notOwned {
            return true
        }
        return false
    }
}
