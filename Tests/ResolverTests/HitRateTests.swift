import DNS
import Testing

@testable import Resolver

/// How much of a trace the cache answers, beside LRU and beside what nobody can beat: to drop what
/// is asked for last (Belady). All three keep as many entries as the shard has room for.
@Suite("The cache's hit rate on a Zipf trace")
struct HitRateTests {
    /// The ranks of `count` questions among `names` names, the k-th asked for 1/k^exponent as often.
    private static func trace(names: Int, count: Int, exponent: Double) -> [Int] {
        var sums: [Double] = []
        var sum = 0.0
        for rank in 1...names {
            sum += 1 / power(Double(rank), exponent)
            sums.append(sum)
        }
        var state: UInt64 = 42
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let wanted = Double(state >> 11) / Double(1 << 53) * sum
            var (low, high) = (0, names - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] < wanted { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    /// base to the 1.0 or the 0.8, which is all that is needed here.
    private static func power(_ base: Double, _ exponent: Double) -> Double {
        guard exponent != 1 else { return base }
        // The fifth root by Newton's method: base^0.8 is its fourth power.
        var root = 1.0
        for _ in 0..<60 {
            root -= (root * root * root * root * root - base) / (5 * root * root * root * root)
        }
        return root * root * root * root
    }

    private static func lru(_ trace: [Int], room: Int) -> Int {
        var lastUse: [Int: Int] = [:]
        var queue: [(name: Int, use: Int)] = []
        var head = 0
        var hits = 0
        for (time, name) in trace.enumerated() {
            if lastUse[name] != nil { hits += 1 }
            lastUse[name] = time
            queue.append((name, time))
            while lastUse.count > room {
                let oldest = queue[head]
                head += 1
                if lastUse[oldest.name] == oldest.use { lastUse[oldest.name] = nil }
            }
        }
        return hits
    }

    private static func optimum(_ trace: [Int], room: Int) -> Int {
        var next = Array(repeating: Int.max, count: trace.count)
        var seen: [Int: Int] = [:]
        for time in trace.indices.reversed() {
            next[time] = seen[trace[time]] ?? Int.max
            seen[trace[time]] = time
        }
        // A heap of (next use, name), the latest on top; what is out of date is skipped.
        var heap: [(use: Int, name: Int)] = []
        var kept: [Int: Int] = [:]
        var hits = 0
        for (time, name) in trace.enumerated() {
            if kept[name] != nil { hits += 1 }
            kept[name] = next[time]
            push((next[time], name), to: &heap)
            while kept.count > room {
                let latest = pop(&heap)
                if kept[latest.name] == latest.use { kept[latest.name] = nil }
            }
        }
        return hits
    }

    private static func push(_ item: (use: Int, name: Int), to heap: inout [(use: Int, name: Int)])
    {
        heap.append(item)
        var child = heap.count - 1
        while child > 0, heap[(child - 1) / 2].use < heap[child].use {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private static func pop(_ heap: inout [(use: Int, name: Int)]) -> (use: Int, name: Int) {
        heap.swapAt(0, heap.count - 1)
        let top = heap.removeLast()
        var parent = 0
        while true {
            var largest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].use > heap[largest].use {
                largest = child
            }
            if largest == parent { return top }
            heap.swapAt(parent, largest)
            parent = largest
        }
    }

    private static let key = CacheKey(
        type: .a,
        class: .in,
        variant: .init(wantsDNSSEC: false, isCheckingDisabled: false)
    )

    private static func shard(_ trace: [Int], bytes: Int) -> (hits: Int, room: Int) {
        var shard = CacheShard(bytes: bytes)
        var name = FoldedName()
        let body = OctetStore(zeroed: 64)
        var store = OctetStore(count: 1024)
        var hits = 0
        for rank in trace {
            let wire = [7] + (0..<7).map { UInt8(ascii: "a") + UInt8(rank >> ($0 * 4) & 15) } + [0]
            _ = try? name.read(from: wire.span, at: 0)
            let hash = key.hash(name, seed: 5)
            let now = Instant(nanoseconds: 0)
            let found = shard.find(
                key,
                name: name,
                hash: hash,
                isHit: true,
                at: now,
                copy: &store
            )
            if found != .nothing {
                hits += 1
                continue
            }
            var description = CacheEntry.Description()
            description.lifetime = 3_600
            let size = CacheEntry.compose(
                description,
                key: key,
                name: name,
                hash: hash,
                storedAt: now,
                body: body,
                0..<64,
                into: &store
            )
            shard.insert(
                store.span.extracting(0..<size),
                key: key,
                name: name,
                hash: hash,
                staleSeconds: 0,
                at: now
            )
        }
        return (hits, shard.count)
    }

    @Test("is above LRU's, and near the optimum", arguments: [1.0, 0.8])
    func zipf(exponent: Double) {
        let trace = Self.trace(names: 20_000, count: 50_000, exponent: exponent)
        let (hits, room) = Self.shard(trace, bytes: 160 << 10)
        let lru = Self.lru(trace, room: room)
        let optimum = Self.optimum(trace, room: room)
        print("Zipf \(exponent), \(room) of 20 000 names: \(hits), LRU \(lru), optimum \(optimum)")
        #expect(hits > lru)
        #expect(hits * 100 > optimum * 75)
    }
}
