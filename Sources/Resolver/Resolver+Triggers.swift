// What a policy zone does about an answer that an upstream gave: its triggers are addresses there.
//
// It is done when the answer is served, from the cache too: so a change of policy needs no flush.

import DNS
import Zones

extension Resolver {
    /// A policy zone's entry for an answer.
    struct Trigger: BitwiseCopyable {
        let layer: Int
        let lookup: Lookup
    }

    /// The first policy zone's entry for an address in the answer section of the cache's entry at
    /// hand; `upper` ends the layers that have a say.
    func responseTrigger(in entry: CacheEntry, below upper: Int, type: RecordType) -> Trigger? {
        for layer in sight.lower..<upper where layers[layer].index.hasResponseTriggers {
            var position = entry.body.lowerBound
            for _ in 0..<Int(entry.answerCount) {
                guard
                    let record = try? ResourceRecord(
                        parsing: self.entry.span.extracting(0..<entry.body.upperBound),
                        at: position
                    )
                else { break }
                position = record.end
                guard let address = IPAddress(of: record, in: self.entry.span),
                    let lookup = layers[layer].index.lookup(response: address, type: type)
                else { continue }
                return Trigger(layer: layer, lookup: lookup)
            }
        }
        return nil
    }

    /// Answers as a trigger says, for the name in `target` that stands at `owner`; passes where the
    /// upstream's answer is to be served after all.
    mutating func obey(
        _ trigger: Trigger,
        _ query: Query,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        switch trigger.lookup.kind {
        case .drop:
            return .drop
        case .tcpOnly where !query.isStream:
            response.isAuthoritative = true
            response.isTruncated = true
            return .done
        case .forward, .tcpOnly, .notOwned:
            return .pass
        default:
            response.isAuthenticData = false
            response.policyLayer = trigger.layer
            return answerLocally(
                layers[trigger.layer].index,
                trigger.lookup,
                query,
                owner,
                &response,
                &writer
            )
        }
    }
}

extension IPAddress {
    /// The address that a record holds, if it is one of addresses.
    fileprivate init?(of record: ResourceRecord, in message: Span<UInt8>) {
        switch (record.type, record.end - record.rdata) {
        case (.a, 4):
            self.init(ipv4: message.uint32(at: record.rdata))
        case (.aaaa, 16):
            self.init(
                high: UInt64(bigEndian: message.word(at: record.rdata)),
                low: UInt64(bigEndian: message.word(at: record.rdata + 8))
            )
        default: return nil
        }
    }
}
