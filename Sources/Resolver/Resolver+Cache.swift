// Stage 4: answers that upstreams gave before.

import DNS
import Zones

extension Resolver {
    mutating func answerFromCache(
        _ waiter: Waiter,
        _ owner: Int,
        triggersBelow upper: Int,
        at now: Instant,
        response: inout Response,
        writer: inout MessageWriter
    ) -> Step {
        guard cache.find(key(of: waiter.query), name: target, copy: &entry) else { return .pass }
        let entry = CacheEntry(self.entry.span, at: 0)
        let age = now.nanoseconds > entry.storedAt ? now.nanoseconds - entry.storedAt : 0
        // An answer that was fetched after the client asked is the client's, whatever its TTL.
        guard
            age < UInt64(entry.lifetime) * 1_000_000_000
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
        if entry.code == .nxDomain, !entry.flags.contains(.hasAliases), hasNamesBelowTarget() {
            response.code = .noError
        }
        response.isAuthenticData =
            entry.flags.contains(.isAuthenticData) && owner == Header.size
        let start = writer.count
        if owner == Header.size, !entry.flags.contains(.hasAliases),
            (try? writer.append(self.entry.span.extracting(entry.body))) != nil
        {
            let records =
                Int(entry.answerCount) + Int(entry.authorityCount) + Int(entry.additionalCount)
            try? writer.ageRecords(
                records,
                from: start,
                by: seconds,
                cap: policy.settings.servedTTL
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
            seconds: seconds,
            owner,
            trigger: trigger,
            response: &response,
            writer: &writer
        )
    }

    /// Writes an entry record by record: where it follows on an alias, does not fit as a whole, or
    /// has aliases of its own, at which it is cut when they lead to an owned name. At the end of its
    /// aliases it is cut where a trigger has something else to say.
    mutating func rewrite(
        _ entry: CacheEntry,
        _ query: Query,
        seconds: UInt32,
        _ owner: Int,
        trigger: Trigger?,
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
        do throws(WireError) {
            for _ in 0..<Int(entry.answerCount) {
                let record = try ResourceRecord(
                    parsing: message.span.extracting(0..<end),
                    at: position
                )
                position = record.end
                let ttl = served(record.ttl, seconds)
                if record.type == .cname {
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
        _ seconds: UInt32,
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
                let ttl = served(record.ttl, seconds)
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

    func served(_ ttl: UInt32, _ seconds: UInt32) -> UInt32 {
        min(ttl > seconds ? ttl - seconds : 0, policy.settings.servedTTL)
    }

    func ownsScratch() -> Bool {
        for index in sight.lower..<sight.upper
        where layers[index].index.lookup(scratch, type: .a).kind != .notOwned {
            return true
        }
        return false
    }
}
