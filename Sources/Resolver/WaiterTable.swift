// The clients that wait for exchanges, with their queries, and those whose answer can be made.

import DNS

/// A client that waits for an exchange, and the query that it sent.
struct Waiter {
    var client: Client
    var query: Query
    var arrivedAt: Instant
    /// How many exchanges have been started for this query; it gives up after a few.
    var exchanges: UInt8 = 0
    /// It waits no longer for fresh data: what is past its TTL will do, or else a failure.
    var acceptsStale = false
    /// What it counts for while it waits.
    var key = ClientKey.none
    var next: Int32 = -1
}

/// A list of waiters, in the order in which they came; -1: none.
struct WaiterList: BitwiseCopyable {
    var first: Int32 = -1
    var last: Int32 = -1

    var isEmpty: Bool { first < 0 }
}

struct WaiterTable: ~Copyable {
    private var waiters: [Waiter] = []
    private var free: [Int32] = []
    /// Each waiter's question as it was asked.
    private var questions: OctetStore
    private var ready = WaiterList()

    static let capacity = 32_768
    private static let questionSize = 264

    init() {
        questions = OctetStore(count: WaiterTable.capacity * WaiterTable.questionSize)
        waiters.reserveCapacity(WaiterTable.capacity)
        free.reserveCapacity(WaiterTable.capacity)
    }

    /// How many wait, or are ready and were not taken yet.
    var count: Int { waiters.count - free.count }

    var isFull: Bool { free.isEmpty && waiters.count == WaiterTable.capacity }

    /// Lets a client wait at the end of a list. The table must not be full.
    mutating func append(_ waiter: Waiter, question: Span<UInt8>, to list: inout WaiterList) {
        let index: Int32
        if let slot = free.popLast() {
            index = slot
            waiters[Int(slot)] = waiter
        } else {
            precondition(waiters.count < WaiterTable.capacity, "a full table was asked about")
            index = Int32(truncatingIfNeeded: waiters.count)
            waiters.append(waiter)
        }
        waiters[Int(index)].next = -1
        var octets = questions.mutableSpan
        octets.copy(question, at: Int(index) * WaiterTable.questionSize)
        if list.last >= 0 { waiters[Int(list.last)].next = index } else { list.first = index }
        list.last = index
    }

    /// Lets all who wait in a list know that their answer can be made now; empties the list.
    mutating func wake(_ list: inout WaiterList, acceptingStale: Bool = false) {
        guard !list.isEmpty else { return }
        if acceptingStale {
            var index = list.first
            while index >= 0 {
                waiters[Int(index)].acceptsStale = true
                index = waiters[Int(index)].next
            }
        }
        if ready.last >= 0 {
            waiters[Int(ready.last)].next = list.first
        } else {
            ready.first = list.first
        }
        ready.last = list.last
        list = WaiterList()
    }

    /// Lets none who wait in a list begin another exchange.
    mutating func exhaust(_ list: WaiterList) {
        var index = list.first
        while index >= 0 {
            waiters[Int(index)].exchanges = Forwarder.mostExchanges
            index = waiters[Int(index)].next
        }
    }

    /// Takes the next waiter whose answer can be made; its question is copied to `question`.
    mutating func nextReady(question: inout MutableSpan<UInt8>) -> Waiter? {
        guard ready.first >= 0 else { return nil }
        let index = Int(ready.first)
        let waiter = waiters[index]
        ready.first = waiter.next
        if ready.first < 0 { ready.last = -1 }
        let start = index * WaiterTable.questionSize
        question.copy(
            questions.span.extracting(start..<(start + waiter.query.questionSize)),
            at: 0
        )
        free.append(Int32(truncatingIfNeeded: index))
        return waiter
    }
}
