// The attempts whose answer may still come, found by path and id. An id is never used twice at a
// time on one path, so that one id means one attempt (RFC 5452, 9.1).

import DNS

struct PendingAttempts: ~Copyable {
    /// Heads of lists of attempts: `idBuckets` of them for each path, by id.
    private var buckets: [Int32] = []
    /// How many attempts are pending on each path.
    private var counts: [UInt32] = []

    /// How many UDP sockets an upstream's pool has.
    static let socketsPerUpstream = 64
    private static let idBuckets = 16

    /// Makes room for more upstreams.
    mutating func grow(toUpstreams upstreams: Int) {
        let paths = upstreams * (PendingAttempts.socketsPerUpstream + 1)
        while counts.count < paths { counts.append(0) }
        while buckets.count < paths * PendingAttempts.idBuckets { buckets.append(-1) }
    }

    /// Whether anything is pending at an upstream.
    func isIdle(upstream: Int) -> Bool {
        let first = place(upstream, 0)
        return counts[first...(first + PendingAttempts.socketsPerUpstream)].allSatisfy { $0 == 0 }
    }

    /// Where in the tables a path stands: the sockets of an upstream, and its stream behind them.
    private func place(_ upstream: Int, _ socket: Int) -> Int {
        let place = socket < 0 ? PendingAttempts.socketsPerUpstream : socket
        return upstream * (PendingAttempts.socketsPerUpstream + 1) + place
    }

    private func bucket(_ upstream: Int, _ socket: Int, _ id: UInt16) -> Int {
        place(upstream, socket) * PendingAttempts.idBuckets
            + (Int(id) & (PendingAttempts.idBuckets - 1))
    }

    /// How many attempts are pending on a path.
    func count(on path: UpstreamPath) -> Int {
        let place = place(path.upstream, path.socket)
        return counts.indices.contains(place) ? Int(counts[place]) : 0
    }

    /// The attempt with an id on a path, or nil.
    func find(
        upstream: Int,
        socket: Int,
        id: UInt16,
        in exchanges: borrowing ExchangeTable
    ) -> AttemptID? {
        var number = buckets[bucket(upstream, socket, id)]
        while number >= 0 {
            let found = AttemptID(rawValue: number)
            let attempt = exchanges[attempt: found]
            if attempt.id == id { return found }
            number = attempt.nextInBucket
        }
        return nil
    }

    /// Lets the answer to an attempt be found.
    mutating func insert(_ attempt: AttemptID, in exchanges: inout ExchangeTable) {
        let facts = exchanges[attempt: attempt]
        let (upstream, socket) = (Int(facts.upstream), Int(facts.socket))
        let bucket = bucket(upstream, socket, facts.id)
        exchanges[attempt: attempt].nextInBucket = buckets[bucket]
        buckets[bucket] = attempt.rawValue
        counts[place(upstream, socket)] += 1
    }

    /// Takes an attempt out, if it is pending: its answer can no longer come.
    mutating func settle(_ attempt: AttemptID, in exchanges: inout ExchangeTable) {
        let facts = exchanges[attempt: attempt]
        guard facts.isPending else { return }
        let (upstream, socket) = (Int(facts.upstream), Int(facts.socket))
        let bucket = bucket(upstream, socket, facts.id)
        if buckets[bucket] == attempt.rawValue {
            buckets[bucket] = facts.nextInBucket
        } else {
            var before = AttemptID(rawValue: buckets[bucket])
            while before.rawValue >= 0 {
                let next = exchanges[attempt: before].nextInBucket
                if next == attempt.rawValue {
                    exchanges[attempt: before].nextInBucket =
                        facts.nextInBucket
                    break
                }
                before = AttemptID(rawValue: next)
            }
        }
        exchanges[attempt: attempt].state = .done
        counts[place(upstream, socket)] -= 1
    }

    /// All attempts that are pending on a path.
    func all(on path: UpstreamPath, in exchanges: borrowing ExchangeTable) -> [AttemptID] {
        var all: [AttemptID] = []
        guard count(on: path) > 0 else { return all }
        let first = place(path.upstream, path.socket) * PendingAttempts.idBuckets
        for bucket in first..<(first + PendingAttempts.idBuckets) {
            var number = buckets[bucket]
            while number >= 0 {
                let attempt = AttemptID(rawValue: number)
                all.append(attempt)
                number = exchanges[attempt: attempt].nextInBucket
            }
        }
        return all
    }
}

/// Names one attempt of one exchange.
struct AttemptID: BitwiseCopyable {
    var rawValue: Int32

    init(rawValue: Int32) { self.rawValue = rawValue }

    init(exchange: Int, index: Int) {
        rawValue = Int32(truncatingIfNeeded: exchange * Exchange.mostAttempts + index)
    }

    var exchange: Int { Int(rawValue) / Exchange.mostAttempts }
    var index: Int { Int(rawValue) & (Exchange.mostAttempts - 1) }
}
