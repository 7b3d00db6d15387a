import DNS
import Testing

@testable import Resolver

@Suite("A shard of the cache")
struct CacheShardTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static let key = CacheKey(
        type: .a,
        class: .in,
        variant: .init(wantsDNSSEC: false, isCheckingDisabled: false)
    )

    /// A name of its own for each number, and an entry whose body repeats the number's octet.
    private static func name(_ number: Int) -> FoldedName {
        var name = FoldedName()
        let text = try? Name(scanning: "n\(number).example.")
        let octets = (text ?? .root).octets
        _ = try? name.read(from: octets.span, at: 0)
        return name
    }

    private static func insert(
        _ number: Int,
        size: Int,
        stamp: UInt64,
        into shard: inout CacheShard,
        seed: UInt64 = 5
    ) {
        let name = name(number)
        let hash = key.hash(name, seed: seed)
        var body = OctetStore(zeroed: size)
        var octets = body.mutableSpan
        for index in 0..<size { octets[index] = UInt8(truncatingIfNeeded: number) }
        var store = OctetStore(count: size + 512)
        let count = CacheEntry.compose(
            CacheEntry.Description(),
            key: key,
            name: name,
            hash: hash,
            storedAt: Instant(nanoseconds: stamp),
            body: body,
            0..<size,
            into: &store
        )
        shard.insert(
            store.span.extracting(0..<count),
            key: key,
            name: name,
            hash: hash,
            staleSeconds: 0,
            at: Instant(nanoseconds: stamp)
        )
    }

    /// When the entry that is found was stored, or nil; its body is checked.
    private static func find(
        _ number: Int,
        in shard: inout CacheShard,
        size: Int = 2048,
        seed: UInt64 = 5
    ) -> UInt64? {
        let name = name(number)
        var copy = OctetStore(count: size)
        let found = shard.find(
            key,
            name: name,
            hash: key.hash(name, seed: seed),
            isHit: true,
            at: Instant(nanoseconds: 0),
            copy: &copy
        )
        guard found != .nothing else { return nil }
        let entry = CacheEntry(copy.span, at: 0)
        for index in entry.body {
            #expect(copy.span[index] == UInt8(truncatingIfNeeded: number))
        }
        return entry.storedAt
    }

    @Test("what is found is the newest that was put in, through 12 000 insertions and evictions")
    func agreesWithAModel() {
        var shard = CacheShard(bytes: 64 << 10)
        var model: [Int: UInt64] = [:]
        var generator = Generator(state: 42)
        var found = 0
        for stamp in 1...12_000 as ClosedRange<UInt64> {
            let number = Int.random(in: 0..<600, using: &generator)
            if Bool.random(using: &generator) {
                let size = Int.random(in: 0..<900, using: &generator)
                Self.insert(number, size: size, stamp: stamp, into: &shard)
                model[number] = stamp
                #expect(Self.find(number, in: &shard) == stamp, "just put in")
            } else if let storedAt = Self.find(number, in: &shard) {
                #expect(storedAt == model[number], "no older answer comes back")
                found += 1
            }
        }
        #expect(found > 300, "a shard that forgets everything is no cache")
        #expect(shard.count > 20 && shard.count < 600)
    }

    @Test("entries with equal hashes are told apart")
    func collisions() {
        var shard = CacheShard(bytes: 64 << 10)
        for number in 0..<64 {
            let name = Self.name(number)
            var body = OctetStore(zeroed: 1)
            body.copy([UInt8(number)].span, at: 0)
            var store = OctetStore(count: 600)
            let count = CacheEntry.compose(
                CacheEntry.Description(),
                key: Self.key,
                name: name,
                hash: 9 << 32,
                storedAt: Instant(nanoseconds: UInt64(number)),
                body: body,
                0..<1,
                into: &store
            )
            shard.insert(
                store.span.extracting(0..<count),
                key: Self.key,
                name: name,
                hash: 9 << 32,
                staleSeconds: 0,
                at: Instant(nanoseconds: UInt64(number))
            )
        }
        var copy = OctetStore(count: Cache.largestEntry)
        for number in 0..<64 {
            let name = Self.name(number)
            let found = shard.find(
                Self.key,
                name: name,
                hash: 9 << 32,
                isHit: true,
                at: Instant(nanoseconds: 0),
                copy: &copy
            )
            #expect(found == .entry)
            #expect(CacheEntry(copy.span, at: 0).storedAt == UInt64(number))
        }
    }

    @Test("a flood of names that are asked once leaves those that are asked often")
    func flood() {
        var shard = CacheShard(bytes: 64 << 10)
        for hot in 0..<50 { Self.insert(hot, size: 100, stamp: 1, into: &shard) }
        for number in 1000..<6_000 {
            Self.insert(number, size: 100, stamp: 1, into: &shard)
            _ = Self.find(number % 50, in: &shard)
        }
        for hot in 0..<50 { #expect(Self.find(hot, in: &shard) == 1) }
    }

    @Test("the largest message is kept, and what is larger than half the shard is not")
    func sizes() {
        var shard = CacheShard(bytes: 4 * Cache.largestEntry)
        Self.insert(1, size: 65_000, stamp: 3, into: &shard)
        #expect(Self.find(1, in: &shard, size: Cache.largestEntry) == 3)
        var small = CacheShard(bytes: 64 << 10)
        Self.insert(1, size: 65_000, stamp: 3, into: &small)
        #expect(Self.find(1, in: &small) == nil)
    }
}
