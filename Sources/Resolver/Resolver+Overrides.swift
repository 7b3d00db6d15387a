// Stage 2: names that override zones own.

import DNS
import Zones

extension Resolver {
    /// What the layers leave to later stages when none of them has an answer.
    struct Passage {
        /// Policy zones from this layer on have let the client pass.
        var policyEnd: Int
        /// Triggers on addresses in the answer count before this layer.
        var triggerEnd: Int
        /// Nobody has said that the name is to be forwarded: it may be a special one.
        var isUnclaimed = true

        init(policyEnd: Int) {
            self.policyEnd = policyEnd
            triggerEnd = policyEnd
        }
    }

    /// Asks the layers that the client sees, in their order, about the name at hand; the first that
    /// owns it decides.
    mutating func answerFromLayers(
        _ waiter: Waiter,
        _ owner: Int,
        _ passage: inout Passage,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        let query = waiter.query
        // An alias's target is looked up for its name alone: else a client's entry that is an alias
        // would lead to itself.
        let client = owner == Header.size ? waiter.client.address : nil
        passage.isUnclaimed = true
        passage.triggerEnd = passage.policyEnd
        for number in sight.lower..<sight.upper {
            let layer = layers[number]
            if number >= passage.policyEnd, layer.index.kind == .rpz { continue }
            let lookup = layer.index.lookup(target, type: query.type, client: client)
            switch lookup.kind {
            case .notOwned:
                continue
            case .drop:
                return .drop
            case .tcpOnly where !query.isStream:
                response.isAuthoritative = true
                response.isTruncated = true
                return .done
            case .forward, .tcpOnly:
                passage.isUnclaimed = false
                passage.triggerEnd = min(passage.triggerEnd, number)
                if let client, layer.index.hasTrigger(for: client) {
                    passage.policyEnd = number
                }
                return .pass
            case .referral
            where query.flags.wantsRecursion && sight.forwards && !policy.upstreams.isEmpty:
                passage.isUnclaimed = false
                return .pass
            default:
                if layer.index.kind == .rpz { response.policyLayer = number }
                return answerLocally(layer.index, lookup, query, owner, &response, &writer)
            }
        }
        return .pass
    }

    mutating func answerLocally(
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
            source = .override
            explain(index, lookup, query, &response)
        }
        switch lookup.kind {
        case .answer:
            if query.type == .cname, let rrset = lookup.rrset, index.leadsToWildcard(rrset) {
                _ = appendFilled(rrset, of: index, owner, &response, &writer)
                return .done
            }
            appendAnswer(index, lookup, query, owner, &response, &writer)
        case .cname:
            guard let rrset = lookup.rrset else { break }
            if index.leadsToWildcard(rrset) {
                return appendFilled(rrset, of: index, owner, &response, &writer)
            }
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
                for: lookup,
                name: target,
                owner: owner,
                generation: policy.settings.generation,
                to: &writer
            )
            if hasRoom { response.authorityCount &+= 1 } else { response.isTruncated = true }
        case .notOwned, .forward, .drop, .tcpOnly:
            return .pass
        }
        return .done
    }

    /// Says which file and line decided, where the answer is not what the public DNS has.
    mutating func explain(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ query: Query,
        _ response: inout Response
    ) {
        guard query.hasEDNS, index.kind != .authoritative, let node = lookup.node else { return }
        response.error = .forgedAnswer
        explanation.clear()
        explanation.append(index.label(of: node))
        let line = lookup.rrset?.line ?? index.line(of: node)
        guard line > 0 else { return }
        explanation.append(UInt8(ascii: ":"))
        explanation.append(decimal: UInt64(line))
    }

    mutating func appendAnswer(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ query: Query,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) {
        let start = writer.count
        if query.type == .any, let node = lookup.node {
            // Over UDP one RRset is enough of an answer (RFC 8482, 4.1).
            let count = query.isStream ? index.rrsetCount(of: node) : 1
            for number in 0..<count {
                guard let rrset = index.rrset(number: number, at: node),
                    append(rrset, of: index, owner, &response, &writer)
                else { return }
            }
            return
        }
        guard let rrset = lookup.rrset, append(rrset, of: index, owner, &response, &writer),
            index.kind == .authoritative
        else { return }
        let addresses = index.appendAddresses(
            forRecordsIn: start..<writer.count,
            scratch: &scratch,
            to: &writer
        )
        response.additionalCount &+= addresses.count
    }

    /// Appends an RRset to the answer section; false where the message is full.
    func append(
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

    /// Appends a CNAME to a wildcard, filled in with the name in `target`.
    func appendFilled(
        _ rrset: ZoneIndex.RRset,
        of index: borrowing ZoneIndex,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        let mark = writer.count
        do throws(WireError) {
            let alias = try index.appendFilledCNAME(
                rrset,
                name: target,
                owner: owner,
                to: &writer
            )
            response.answerCount &+= 1
            return .alias(alias)
        } catch {
            writer.rewind(to: mark)
            if error.kind == .nameTooLong {
                response.code = .yxDomain
            } else {
                response.isTruncated = true
            }
            return .done
        }
    }

    func answerWithDNAME(
        _ index: borrowing ZoneIndex,
        _ lookup: Lookup,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        guard let node = lookup.node, let rrset = index.rrset(.dname, at: node) else {
            return .done
        }
        let place = owner + target.start(ofLabel: lookup.label)
        let record = writer.count
        guard append(rrset, of: index, place, &response, &writer) else { return .done }
        let mark = writer.count
        do throws(WireError) {
            let alias = try index.appendSynthesizedCNAME(
                name: target,
                owner: owner,
                label: lookup.label,
                target: record + 12,
                ttl: writer.message.uint32(at: record + 6),
                to: &writer
            )
            response.answerCount &+= 1
            return .alias(alias)
        } catch {
            writer.rewind(to: mark)
            if error.kind == .nameTooLong {
                response.code = .yxDomain
            } else {
                response.isTruncated = true
            }
            return .done
        }
    }

    mutating func refer(
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
            forRecordsIn: start..<writer.count,
            scratch: &scratch,
            to: &writer
        )
        response.additionalCount &+= glue.count
        // Without glue the servers cannot be found (RFC 9471).
        if !glue.isComplete { response.isTruncated = true }
    }
}
