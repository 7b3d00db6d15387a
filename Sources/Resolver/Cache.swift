public import DNS
import Synchronization

/// What upstreams answered, shared by all workers: shards with a lock each, within a byte budget.
public final class Cache: Sendable {
    /// In place, so that no reference is counted; a small cache has fewer, the rest are empty.
    private let shards: InlineArray<16, Mutex<CacheShard>>
    private let shardCount: Int
    let seed: UInt64
    /// Which lengths of networks there may be answers for, from 1, of IPv4 and of IPv6: most answers
    /// have one of very few.
    private let scopes = Mutex(Scopes())

    private struct Scopes {
        var ipv4: UInt128 = 0
        var ipv6: UInt128 = 0
    }

    /// The largest entry that is kept: a message of 65 535 octets and its header.
    static let largestEntry = 65_536 + 512

    /// A cache of about `bytes` octets; `seed` keys its hash and must not be guessable.
    ///
    /// Memory is taken as it fills. Each shard holds two of the largest answers at least.
    public init(bytes: Int = 64 << 20, seed: UInt64) {
        self.seed = seed
        var count = 16
        while count > 1 && bytes / count < 4 * Cache.largestEntry { count /= 2 }
        let size = max(bytes / count, 4 * Cache.largestEntry)
        shardCount = count
        shards = InlineArray { [count] in Mutex(CacheShard(bytes: $0 < count ? size : 0)) }
    }

    /// Copies the entry for a question to the start of `copy`. `isHit`: it is a client that asks, and
    /// not one that has waited for this very entry.
    func find(
        _ key: CacheKey,
        name: borrowing FoldedName,
        isHit: Bool,
        at now: Instant,
        copy: inout OctetStore
    ) -> CacheShard.Found {
        let hash = key.hash(name, seed: seed)
        return shards[shard(hash)].withLock {
            $0.find(key, name: name, hash: hash, isHit: isHit, at: now, copy: &copy)
        }
    }

    /// Notes that there is an answer for a network of so many bits, one at least.
    func noteScope(_ length: Int, ofFamily family: UInt16) {
        let bit = UInt128(1) << (length - 1)
        scopes.withLock { if family == 1 { $0.ipv4 |= bit } else { $0.ipv6 |= bit } }
    }

    /// Whether there may be answers for networks of so many bits, one at least.
    func hasScope(_ length: Int, ofFamily family: UInt16) -> Bool {
        let bit = UInt128(1) << (length - 1)
        return scopes.withLock { (family == 1 ? $0.ipv4 : $0.ipv6) & bit != 0 }
    }

    /// Keeps an entry that `CacheEntry.compose` made; a failure only where nothing better is left.
    func insert(
        _ entry: Span<UInt8>,
        key: CacheKey,
        name: borrowing FoldedName,
        hash: UInt64,
        staleSeconds: UInt32,
        at now: Instant
    ) {
        shards[shard(hash)].withLock {
            $0.insert(
                entry,
                key: key,
                name: name,
                hash: hash,
                staleSeconds: staleSeconds,
                at: now
            )
        }
    }

    /// How many answers are kept.
    public var count: Int { (0..<shardCount).reduce(0) { $0 + shards[$1].withLock { $0.count } } }

    /// Forgets all answers, and gives how many there were.
    @discardableResult
    public func removeAll() -> Int { remove { _ in true } }

    /// Forgets the answers to questions about a name, or also about all names below it; gives how
    /// many there were. Complexity: O(answers).
    @discardableResult
    public func remove(_ name: Name, includingBelow: Bool) -> Int {
        let suffix = name.foldedOctets
        return remove { $0.count == suffix.count || includingBelow ? $0.ends(with: suffix) : false }
    }

    private func remove(where matches: (Span<UInt8>) -> Bool) -> Int {
        (0..<shardCount).reduce(0) { $0 + shards[$1].withLock { $0.remove(where: matches) } }
    }

    private func shard(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash >> 24) & (shardCount - 1)
    }
}

extension Span where Element == UInt8 {
    /// Whether this name, in wire format, is another or lies below it.
    fileprivate func ends(with suffix: [UInt8]) -> Bool {
        var start = 0
        while count - start > suffix.count { start += Int(self[start]) + 1 }
        guard count - start == suffix.count else { return false }
        return extracting(start..<count).hasSameOctets(as: suffix.span)
    }
}
