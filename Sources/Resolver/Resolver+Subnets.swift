// Whose an answer is that an upstream gave for a network (RFC 7871, 7.3.1).
//
// An answer for a shorter network than was asked about is kept under that network, and serves all
// within; one for everybody is kept as if nobody had spoken for a network, and marked; one for a longer
// network than was asked about serves those who speak for exactly the same.

import DNS

extension Resolver {
    /// Finds the entry for a question: the one that is for the network that the asker speaks for, the
    /// longest first, one that is fresh before one that is not. `waiter` has waited for it, or asks.
    mutating func find(
        _ asked: Forwarder.Question,
        for waiter: Waiter,
        at now: Instant
    ) -> CacheShard.Found {
        let isHit = waiter.exchanges == 0
        guard let subnet = asked.subnet else {
            return cache.find(asked.key, name: target, isHit: isHit, at: now, copy: &entry)
        }
        var late: CacheKey?
        var length = Int(subnet.prefixLength) + 1
        while length >= 0 {
            var key = asked.key
            // The first is the network itself, the last is everybody.
            if length <= subnet.prefixLength {
                key.partition ^= subnet.fingerprint
                if length > 0 {
                    key.partition ^= subnet.covering(length).fingerprint
                }
            }
            let mayBe =
                length == 0 || length > subnet.prefixLength
                || cache.hasScope(length, ofFamily: subnet.family)
            if mayBe, let found = find(key, isForAll: length == 0, isHit: isHit, at: now) {
                let entry = CacheEntry(self.entry.span, at: 0)
                let isFetched = !isHit && entry.storedAt >= waiter.arrivedAt.nanoseconds
                if isFetched || entry.isFresh(at: now) { return found }
                late = late ?? key
            }
            length -= 1
        }
        guard let late else { return .nothing }
        return cache.find(late, name: target, isHit: false, at: now, copy: &entry)
    }

    private mutating func find(
        _ key: CacheKey,
        isForAll: Bool,
        isHit: Bool,
        at now: Instant
    ) -> CacheShard.Found? {
        let found = cache.find(key, name: target, isHit: isHit, at: now, copy: &entry)
        if found == .nothing { return nil }
        // What an upstream says to us alone is not for the networks of others.
        let flags = CacheEntry(entry.span, at: 0).flags
        return !isForAll || flags.contains(.isForAll) ? found : nil
    }

    /// Under which key an answer is kept that was given for a network; `scope` bits of it.
    func key(
        keeping description: inout CacheEntry.Description,
        askedFor subnet: ClientSubnet,
        under key: CacheKey
    ) -> CacheKey {
        var key = key
        let scope = Int(description.scope)
        guard scope <= subnet.prefixLength else { return key }
        key.partition ^= subnet.fingerprint
        if scope == 0 {
            description.flags.insert(.isForAll)
        } else {
            key.partition ^= subnet.covering(scope).fingerprint
            cache.noteScope(scope, ofFamily: subnet.family)
        }
        return key
    }
}
