// The exchanges in flight: found by their question, kept in the order in which they began, so that
// a full table can give up the oldest. Slots are numbers that stay valid until `release`.

import DNS

struct ExchangeTable: ~Copyable {
    private var exchanges: [Exchange] = []
    /// `Exchange.mostAttempts` for each exchange. Not a part of it: to read one of an array in a
    /// struct copies the array, which was a tenth of a forwarded query's time.
    private var attempts: [Exchange.Attempt] = []
    private var free: [Int32] = []
    /// Each exchange's question name, folded.
    private var names: OctetStore
    /// Heads of lists of exchanges with equal hashes.
    private var buckets: [Int32]
    /// Keys the hash of questions, so that nobody can aim at one bucket.
    private let seed: UInt64
    private var newest: Int32 = -1
    /// The exchange that began first of those in the table; -1: none.
    private(set) var oldest: Int32 = -1

    static let capacity = 16_384
    private static let bucketCount = 32_768
    private static let nameSize = 256

    init(seed: UInt64) {
        self.seed = seed
        names = OctetStore(count: ExchangeTable.capacity * ExchangeTable.nameSize)
        buckets = Array(repeating: -1, count: ExchangeTable.bucketCount)
        exchanges.reserveCapacity(ExchangeTable.capacity)
        attempts.reserveCapacity(ExchangeTable.capacity * Exchange.mostAttempts)
        free.reserveCapacity(ExchangeTable.capacity)
    }

    subscript(index: Int) -> Exchange {
        @inline(__always) _read { yield exchanges[index] }
        @inline(__always) _modify { yield &exchanges[index] }
    }

    subscript(attempt id: AttemptID) -> Exchange.Attempt {
        @inline(__always) _read { yield attempts[Int(id.rawValue)] }
        @inline(__always) _modify { yield &attempts[Int(id.rawValue)] }
    }

    subscript(exchange: Int, attempt index: Int) -> Exchange.Attempt {
        @inline(__always) _read { yield attempts[exchange * Exchange.mostAttempts + index] }
        @inline(__always) _modify { yield &attempts[exchange * Exchange.mostAttempts + index] }
    }

    /// Whether an answer to an exchange may still come.
    func hasPendingAttempts(_ exchange: Int) -> Bool {
        for index in 0..<exchanges[exchange].attemptCount
        where self[exchange, attempt: index].isPending {
            return true
        }
        return false
    }

    /// How often an upstream has been asked for an exchange.
    func attempts(of exchange: Int, at upstream: Int) -> Int {
        var count = 0
        for index in 0..<exchanges[exchange].attemptCount
        where Int(self[exchange, attempt: index].upstream) == upstream {
            count &+= 1
        }
        return count
    }

    /// How often an upstream has been asked over a stream.
    func streamAttempts(of exchange: Int, at upstream: Int) -> Int {
        var count = 0
        for index in 0..<exchanges[exchange].attemptCount
        where Int(self[exchange, attempt: index].upstream) == upstream
            && self[exchange, attempt: index].isStream
        {
            count &+= 1
        }
        return count
    }

    /// Whether the next `insert` needs a `release` first.
    var isFull: Bool { free.isEmpty && exchanges.count == ExchangeTable.capacity }

    /// All slots, those that are free included.
    var slots: Range<Int> { exchanges.indices }

    /// How many exchanges there are, finished ones that wait for late answers included.
    var count: Int { exchanges.count - free.count }

    func hash(of name: borrowing FoldedName, _ key: CacheKey) -> UInt64 {
        key.hash(name, seed: seed)
    }

    /// The unfinished exchange for a question, or nil.
    func find(_ name: borrowing FoldedName, key: CacheKey, hash: UInt64) -> Int? {
        var index = buckets[bucket(of: hash)]
        while index >= 0 {
            let candidate = Int(index)
            if exchanges[candidate].hash == hash, exchanges[candidate].key == key,
                self.name(of: candidate).hasSameOctets(as: name.octets)
            {
                return candidate
            }
            index = exchanges[candidate].nextInBucket
        }
        return nil
    }

    /// Puts an exchange for a question into a slot. The table must not be full.
    mutating func insert(
        _ key: CacheKey,
        hash: UInt64,
        name: borrowing FoldedName,
        at now: Instant
    ) -> Int {
        let index: Int
        if let slot = free.popLast() {
            index = Int(slot)
            exchanges[index] = Exchange(key: key, hash: hash, at: now)
        } else {
            precondition(exchanges.count < ExchangeTable.capacity, "a full table was made room in")
            index = exchanges.count
            exchanges.append(Exchange(key: key, hash: hash, at: now))
            for _ in 0..<Exchange.mostAttempts { attempts.append(Exchange.Attempt()) }
        }
        var octets = names.mutableSpan
        octets.copy(name.octets, at: index * ExchangeTable.nameSize)
        exchanges[index].nameSize = name.count
        let number = Int32(truncatingIfNeeded: index)
        exchanges[index].older = newest
        exchanges[index].newer = -1
        if newest >= 0 { exchanges[Int(newest)].newer = number } else { oldest = number }
        newest = number
        let bucket = bucket(of: hash)
        exchanges[index].nextInBucket = buckets[bucket]
        buckets[bucket] = number
        return index
    }

    /// Lets nobody find the exchange by its question any more; its slot stays taken.
    mutating func unlink(_ exchange: Int) {
        let bucket = bucket(of: exchanges[exchange].hash)
        if buckets[bucket] == exchange {
            buckets[bucket] = exchanges[exchange].nextInBucket
            return
        }
        var before = Int(buckets[bucket])
        while before >= 0 {
            if exchanges[before].nextInBucket == exchange {
                exchanges[before].nextInBucket = exchanges[exchange].nextInBucket
                return
            }
            before = Int(exchanges[before].nextInBucket)
        }
    }

    /// Gives the slot of an unlinked exchange back.
    mutating func release(_ exchange: Int) {
        let (older, newer) = (exchanges[exchange].older, exchanges[exchange].newer)
        if older >= 0 { exchanges[Int(older)].newer = newer } else { oldest = newer }
        if newer >= 0 { exchanges[Int(newer)].older = older } else { newest = older }
        exchanges[exchange].attemptCount = 0
        exchanges[exchange].isFree = true
        free.append(Int32(truncatingIfNeeded: exchange))
    }

    /// The name that an exchange asks for, folded.
    @_lifetime(borrow self)
    func name(of exchange: Int) -> Span<UInt8> {
        let start = exchange * ExchangeTable.nameSize
        return names.span.extracting(start..<(start + exchanges[exchange].nameSize))
    }

    private func bucket(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash & UInt64(ExchangeTable.bucketCount - 1))
    }
}
