// An upstream's response is never passed on: what it says is read, checked and written anew, the
// chain from the question to its answer in order, names compressed afresh, nothing of one hop left.

import DNS

/// Rebuilds upstream responses. Holds the scratch memory that takes.
struct UpstreamAnswer: ~Copyable {
    private var current = FoldedName()
    private var owner = FoldedName()

    /// Why a response is no answer.
    enum Rejection: Error {
        /// It cannot be read, or says something that no server may say.
        case malformed
        /// The upstream refers to other servers: it does not recurse for us.
        case lame
        /// Its aliases lead in a circle, or never end.
        case aliasLoop
    }

    /// Links of one chain that are followed; chains of thirty are known in the field.
    private static let mostLinks = 64

    /// Makes `store` a message of the question and the sections of `message`, and describes them.
    ///
    /// `name` is the question's name. The sections stand behind the question, up to `end`. Records
    /// that do not belong to the chain are left out; DNSSEC records are where the question did not
    /// want them; TTLs are made sane (RFC 2181, 8).
    mutating func rebuild(
        _ message: Span<UInt8>,
        name: borrowing FoldedName,
        key: CacheKey,
        policy: Policy,
        into store: inout OctetStore,
        end: inout Int
    ) throws(Rejection) -> CacheEntry.Description {
        name.write(to: &store, at: Header.size)
        var octets = store.mutableSpan
        let questionEnd = Header.size + name.count + 4
        octets.store(key.type.rawValue, at: questionEnd - 4)
        octets.store(key.class.rawValue, at: questionEnd - 2)
        var writer = MessageWriter(&octets, count: questionEnd, limit: 65_535)
        writer.registerName(at: Header.size)
        guard let header = Header(parsing: message) else { throw .malformed }
        var description = CacheEntry.Description()
        description.code = header.flags.responseCode
        description.lifetime = policy.settings.maximumTTL
        if header.flags.isAuthenticData { description.flags.insert(.isAuthenticData) }
        var chain = Chain()
        var authority = Authority()
        do throws(WireError) {
            let start = try ResourceRecord.skipName(in: message, at: Header.size) + 4
            let answerEnd = try skip(Int(header.answerCount), in: message, from: start)
            let authorityEnd = try skip(Int(header.authorityCount), in: message, from: answerEnd)
            let messageEnd = try skip(Int(header.additionalCount), in: message, from: authorityEnd)
            chain = try appendChain(
                message,
                start..<answerEnd,
                name: name,
                key: key,
                policy: policy,
                lifetime: &description.lifetime,
                writer: &writer
            )
            authority = try appendAuthority(
                message,
                answerEnd..<authorityEnd,
                key: key,
                policy: policy,
                writer: &writer
            )
            description.additionalCount = appendAdditional(
                message,
                authorityEnd..<messageEnd,
                key: key,
                policy: policy,
                writer: &writer
            )
        } catch {
            throw .malformed
        }
        guard chain.links < UpstreamAnswer.mostLinks else { throw .aliasLoop }
        description.answerCount = chain.count
        description.authorityCount = authority.count
        if chain.links > 0 { description.flags.insert(.hasAliases) }
        if !chain.isComplete || description.code != .noError {
            let negativeTTL = authority.negativeTTL ?? policy.settings.negativeTTL
            description.lifetime = min(
                description.lifetime,
                negativeTTL,
                policy.settings.maximumNegativeTTL
            )
        }
        if !chain.isComplete, description.code == .noError, authority.negativeTTL == nil {
            if chain.links > 0 { description.flags.insert(.isOpenChain) }
            if chain.links == 0, authority.hasReferral, !header.flags.offersRecursion {
                throw .lame
            }
        }
        end = writer.count
        return description
    }

    private func skip(
        _ count: Int,
        in message: Span<UInt8>,
        from start: Int
    ) throws(WireError) -> Int {
        var position = start
        for _ in 0..<count {
            position = try ResourceRecord(parsing: message, at: position).end
        }
        return position
    }

    // MARK: Answer

    /// So many signatures of one link are kept, an alias's and its DNAME's among them: no zone has
    /// as many, and to check them all is what an attacker wants of validators (CVE-2023-50387).
    private static let mostSignatures = 8

    private struct Chain {
        var count: UInt16 = 0
        var links = 0
        /// Whether the chain's end has records of the type that was asked for.
        var isComplete = false
    }

    private mutating func appendChain(
        _ message: Span<UInt8>,
        _ section: Range<Int>,
        name: borrowing FoldedName,
        key: CacheKey,
        policy: Policy,
        lifetime: inout UInt32,
        writer: inout MessageWriter
    ) throws(WireError) -> Chain {
        var chain = Chain()
        current.assign(name)
        while chain.links < UpstreamAnswer.mostLinks {
            var alias = -1
            var signatures = 0
            var position = section.lowerBound
            while position < section.upperBound {
                let record = try ResourceRecord(parsing: message, at: position)
                position = record.end
                guard record.class == key.class else { continue }
                let place = try place(
                    of: record,
                    in: message,
                    key: key,
                    isFirst: chain.links == 0
                )
                if place == .none { continue }
                if record.type == .rrsig, place == .beside {
                    signatures += 1
                    if signatures > UpstreamAnswer.mostSignatures { continue }
                }
                let ttl = sane(record.ttl, policy)
                try writer.appendRecord(
                    record,
                    of: message,
                    ttl: ttl,
                    ownerAt: chain.links == 0 && place != .beside ? Header.size : nil
                )
                chain.count &+= 1
                lifetime = min(lifetime, ttl)
                if place == .alias { alias = record.rdata }
                if place == .answer { chain.isComplete = true }
            }
            guard alias >= 0, !chain.isComplete else { break }
            chain.links += 1
            _ = try current.readCompressed(from: message, at: alias)
        }
        return chain
    }

    private enum Place {
        case none
        case answer
        case alias
        case beside
    }

    /// What a record of the answer section is to the current link of the chain.
    private mutating func place(
        of record: ResourceRecord,
        in message: Span<UInt8>,
        key: CacheKey,
        isFirst: Bool
    ) throws(WireError) -> Place {
        // Most owners are a pointer to the question, which has been found to be the right one.
        let isQuestion = isFirst && message.uint16(at: record.owner) == 0xC000 | UInt16(Header.size)
        if !isQuestion { _ = try owner.readCompressed(from: message, at: record.owner) }
        if isQuestion
            || owner.count == current.count && owner.octets.hasSameOctets(as: current.octets)
        {
            if record.type == key.type || key.type == .any { return .answer }
            if record.type == .cname { return .alias }
            return record.type == .rrsig && key.variant.wantsDNSSEC ? .beside : .none
        }
        // A DNAME stands above the name that it redirects, with its CNAME behind it (RFC 6672, 3.3).
        let label = current.labelCount - owner.labelCount
        guard label > 0, owner.octets.hasSameOctets(as: current.suffix(fromLabel: label)) else {
            return .none
        }
        if record.type == .dname { return .beside }
        return record.type == .rrsig && key.variant.wantsDNSSEC ? .beside : .none
    }

    // MARK: Authority and additional

    private struct Authority {
        var count: UInt16 = 0
        var negativeTTL: UInt32?
        var hasReferral = false
    }

    private func appendAuthority(
        _ message: Span<UInt8>,
        _ section: Range<Int>,
        key: CacheKey,
        policy: Policy,
        writer: inout MessageWriter
    ) throws(WireError) -> Authority {
        var authority = Authority()
        var position = section.lowerBound
        while position < section.upperBound {
            let record = try ResourceRecord(parsing: message, at: position)
            position = record.end
            guard isKept(record, key: key) else { continue }
            var ttl = sane(record.ttl, policy)
            if record.type == .soa {
                guard record.end - record.rdata >= 22 else {
                    throw WireError(.badRData, at: record.rdata)
                }
                ttl = min(ttl, sane(message.uint32(at: record.end - 4), policy))
                authority.negativeTTL = ttl
            }
            if record.type == .ns { authority.hasReferral = true }
            try writer.appendRecord(record, of: message, ttl: ttl)
            authority.count &+= 1
        }
        return authority
    }

    /// What does not fit or cannot be read is left out: nothing depends on additional records.
    private func appendAdditional(
        _ message: Span<UInt8>,
        _ section: Range<Int>,
        key: CacheKey,
        policy: Policy,
        writer: inout MessageWriter
    ) -> UInt16 {
        var count: UInt16 = 0
        var position = section.lowerBound
        while position < section.upperBound {
            let mark = writer.count
            do throws(WireError) {
                let record = try ResourceRecord(parsing: message, at: position)
                position = record.end
                guard isKept(record, key: key), record.type != .opt, record.type != .tsig else {
                    continue
                }
                try writer.appendRecord(record, of: message, ttl: sane(record.ttl, policy))
                count &+= 1
            } catch {
                writer.rewind(to: mark)
                break
            }
        }
        return count
    }

    /// DNSSEC's own records go to those who asked for them (RFC 4035, 3.2.1).
    private func isKept(_ record: ResourceRecord, key: CacheKey) -> Bool {
        if key.variant.wantsDNSSEC { return true }
        switch record.type {
        case .rrsig, .nsec, .nsec3: return false
        default: return true
        }
    }

    /// A TTL with the top bit set counts as 0 (RFC 2181, 8), and 0 is never raised.
    private func sane(_ ttl: UInt32, _ policy: Policy) -> UInt32 {
        guard ttl > 0, ttl <= 0x7FFF_FFFF else { return 0 }
        return min(max(ttl, policy.settings.minimumTTL), policy.settings.maximumTTL)
    }
}
