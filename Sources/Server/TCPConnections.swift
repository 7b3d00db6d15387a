import DNS
import Platform
import Resolver

/// A worker's client connections: a fixed table of slots, and the order in which they fell idle.
///
/// Invariants: a slot is free exactly when its socket is not open; the open ones are in `activity`;
/// `keys` holds what each open slot's client counts for, as long as it is open.
struct TCPConnections: ~Copyable {
    private var slots: FixedArray<TCPConnection>
    private var keys: FixedArray<ClientKey>
    private var free: [Int32]
    /// When something useful last happened, a whole query read or all replies written.
    private var activity: ActivityOrder
    private var dirty: [Int32] = []
    /// What one read brings in, behind what was left of the last.
    private var inbox = OctetBuffer(capacity: TCPConnections.readSize + 2 + 65_535)
    /// Replies to what was read, until they are written with one call.
    private var outbox = OctetBuffer(capacity: TCPConnections.writeSize + 2 + 65_535)

    /// What one client may have, counted over all workers.
    var limiter: ClientLimiter
    /// When connections of clients that ask too much are read again; nil: there are none.
    private var pauseEnd: UInt64?
    let idleNanoseconds: UInt64

    private static var readSize: Int { 64 << 10 }
    private static var writeSize: Int { 64 << 10 }
    /// How long a client that asks too much is not read, in nanoseconds.
    private static var pause: UInt64 { 10_000_000 }

    init(capacity: Int, limiter: ClientLimiter, idleMilliseconds: UInt64) {
        slots = FixedArray(count: capacity) { _ in TCPConnection() }
        keys = FixedArray(count: capacity) { _ in .none }
        activity = ActivityOrder(slots: capacity)
        free = (0..<Int32(capacity)).reversed()
        dirty.reserveCapacity(capacity)
        self.limiter = limiter
        idleNanoseconds = idleMilliseconds * 1_000_000
    }

    /// How many are open.
    var openCount: Int { slots.count - free.count }

    /// When the next connection may have to be closed.
    var nextDeadline: UInt64? {
        let idle = activity.oldest.map { activity.time(of: $0) + idleNanoseconds }
        guard let pauseEnd else { return idle }
        return min(pauseEnd, idle ?? pauseEnd)
    }

    // MARK: Opening and closing

    /// Takes a new connection up, and gives its slot; or nil when a limit is reached and no
    /// connection is idle that could make room.
    mutating func open(
        _ socket: consuming StreamSocket,
        from client: IPAddress,
        to localAddress: IPAddress,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) -> Int? {
        let key = limiter.key(of: client)
        if !limiter.open(key) {
            limiter.turnedAway(key, from: client, at: now)
            guard displaceOldest(of: key, counting: &statistics), limiter.open(key) else {
                return nil
            }
        }
        if free.isEmpty { _ = displaceOldest(of: nil, counting: &statistics) }
        guard let slot = free.popLast().map(Int.init) else {
            limiter.close(key)
            return nil
        }
        let token = Source.connection.token(slot: slot, generation: slots[slot].generation)
        guard (try? poller.add(socket.descriptor, for: .readable, as: token)) != nil else {
            free.append(Int32(slot))
            limiter.close(key)
            return nil
        }
        slots[slot].socket = socket
        slots[slot].client = client
        slots[slot].localAddress = localAddress
        slots[slot].interest = .readable
        keys[slot] = key
        activity.insert(slot, at: now.nanoseconds)
        return slot
    }

    /// The slot that an event's token names, or nil when its connection has gone.
    func slot(of token: Poller.Token) -> Int? {
        isOpen(token.slot, token.generation) ? token.slot : nil
    }

    private func isOpen(_ slot: Int, _ generation: UInt32) -> Bool {
        slot < slots.count && slots[slot].generation == generation && slots[slot].socket.isOpen
    }

    mutating func close(_ slot: Int) {
        activity.remove(slot)
        let generation = slots[slot].generation &+ 1
        // A dirty slot stays in the list of those to be written, where it is passed over.
        let isDirty = slots[slot].isDirty
        slots[slot] = TCPConnection()
        slots[slot].generation = generation
        slots[slot].isDirty = isDirty
        limiter.close(keys[slot])
        keys[slot] = .none
        free.append(Int32(slot))
    }

    /// Closes the connection, of one client or of all, that has been idle the longest; gives
    /// whether there was one.
    mutating func displaceOldest(
        of client: ClientKey?,
        counting statistics: inout Statistics
    ) -> Bool {
        var next = activity.oldest
        while let slot = next {
            if slots[slot].inFlight == 0 && slots[slot].unsent.isEmpty
                && (client == nil || client == keys[slot])
            {
                close(slot)
                statistics.connectionsDisplaced += 1
                return true
            }
            next = activity.newer(than: slot)
        }
        return false
    }

    /// Closes the connections on which nothing has happened for too long. One with queries in
    /// flight gets more time, but not for ever.
    mutating func expire(at now: Instant, counting statistics: inout Statistics) {
        while let slot = activity.oldest {
            guard activity.time(of: slot) + idleNanoseconds <= now.nanoseconds else { return }
            if slots[slot].inFlight > 0 && slots[slot].unsent.isEmpty && slots[slot].extensions < 3
            {
                slots[slot].extensions += 1
                activity.touch(slot, at: now.nanoseconds)
            } else {
                close(slot)
                statistics.connectionsTimedOut += 1
            }
        }
    }

    /// Listens to no client any more; those that wait for nothing are closed.
    mutating func finishReading(watchedBy poller: borrowing Poller) {
        var next = activity.oldest
        while let slot = next {
            next = activity.newer(than: slot)
            slots[slot].isFinished = true
            slots[slot].hasBacklog = false
            settle(slot, poller)
        }
    }

    // MARK: Reading

    /// Reads what a client has sent, hands each whole query to the resolver, and writes all
    /// replies that are there at once with one call.
    mutating func read(
        _ slot: Int,
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        var filled = slots[slot].unread.take(into: &inbox)
        // Complete queries that had to wait may fill the inbox; then they come first.
        if filled < inbox.capacity && !slots[slot].isFinished {
            do throws(Errno) {
                switch try slots[slot].socket.read(into: &inbox, at: filled) {
                case .octets(let count): filled += count
                case .wouldBlock: break
                case .end: slots[slot].isFinished = true
                }
            } catch {
                close(slot)
                return
            }
        }
        var offset = 0
        repeat {
            let written = handle(&offset, filled, slot, &resolver, now, &statistics)
            guard write(written, slot, now) else {
                close(slot)
                return
            }
        } while slots[slot].hasBacklog && !slots[slot].isSaturated
        if slots[slot].isNotDNS {
            statistics.connectionsNotDNS += 1
            close(slot)
            return
        }
        if offset < filled { slots[slot].unread.append(offset..<filled, of: inbox) }
        settle(slot, poller)
    }

    /// Hands the queries in the inbox from `offset` on to the resolver, as far as the outbox and
    /// the client's limits go; gives how many octets of replies stand in the outbox.
    private mutating func handle(
        _ offset: inout Int,
        _ filled: Int,
        _ slot: Int,
        _ resolver: inout Resolver,
        _ now: Instant,
        _ statistics: inout Statistics
    ) -> Int {
        if !slots[slot].isVouchedFor {
            switch Framing.opening(of: inbox.octets(0..<filled)) {
            case .isDNS: slots[slot].isVouchedFor = true
            case .isNotDNS:
                slots[slot].isNotDNS = true
                return 0
            case .undecided: return 0
            }
        }
        let client = Client(
            address: slots[slot].client,
            localAddress: slots[slot].localAddress,
            transport: .tcp,
            returnPath: ConnectionReturnPath(slot: slot, generation: slots[slot].generation).words
        )
        var written = 0
        var isUseful = false
        slots[slot].hasBacklog = false
        frames: while true {
            switch Framing.frame(in: inbox.octets(0..<filled), at: offset) {
            case .incomplete: break frames
            case .malformed:
                slots[slot].isNotDNS = true
                break frames
            case .message(let length):
                if slots[slot].isSaturated || written >= TCPConnections.writeSize {
                    slots[slot].hasBacklog = true
                    break frames
                }
                guard limiter.reads(keys[slot], from: slots[slot].client, at: now) else {
                    slots[slot].hasBacklog = true
                    slots[slot].isPaused = true
                    statistics.connectionsPaused += 1
                    if pauseEnd == nil { pauseEnd = now.nanoseconds + TCPConnections.pause }
                    break frames
                }
                statistics.queriesTCP += 1
                let disposition = resolver.handle(
                    offset + 2..<offset + 2 + length,
                    of: inbox,
                    from: client,
                    at: now,
                    framedInto: &outbox,
                    at: written
                )
                switch disposition {
                case .respond(let count):
                    written += 2 + count
                    isUseful = true
                    statistics.answeredAtOnce += 1
                case .wait:
                    isUseful = true
                    slots[slot].inFlight += 1
                case .drop: statistics.dropped += 1
                }
                offset += 2 + length
            }
        }
        if isUseful { noteActivity(slot, now) }
        return written
    }

    // MARK: Writing

    /// Writes the first octets of the outbox, behind what the client has not taken yet; gives
    /// whether the connection is still good.
    private mutating func write(_ count: Int, _ slot: Int, _ now: Instant) -> Bool {
        guard count > 0 else { return true }
        guard slots[slot].unsent.isEmpty else {
            slots[slot].unsent.append(0..<count, of: outbox)
            return flush(slot, now)
        }
        do throws(Errno) {
            let sent = try slots[slot].socket.write(0..<count, of: outbox)
            if sent < count { slots[slot].unsent.append(sent..<count, of: outbox) }
            return true
        } catch {
            return false
        }
    }

    /// Writes what waits, as far as the client takes it; gives whether the connection is good.
    private mutating func flush(_ slot: Int, _ now: Instant) -> Bool {
        guard !slots[slot].unsent.isEmpty else { return true }
        do throws(Errno) {
            try slots[slot].flush()
        } catch {
            return false
        }
        // Only a client that takes everything counts as active: not one that takes an octet a
        // second and has us keep the rest.
        if slots[slot].unsent.isEmpty { noteActivity(slot, now) }
        return true
    }

    /// Adds a reply that was finished later; it is written by `flush`. Gives whether the client
    /// is still there.
    mutating func append(
        _ length: Int,
        draftedIn replies: borrowing OutboundDatagrams,
        to path: ConnectionReturnPath
    ) -> Bool {
        let slot = path.slot
        guard isOpen(slot, path.generation) else { return false }
        slots[slot].unsent.appendFramed(length, draftedIn: replies)
        waitsNoMore(slot)
        return true
    }

    /// A query that waited gets no reply.
    mutating func forget(_ path: ConnectionReturnPath) {
        if isOpen(path.slot, path.generation) { waitsNoMore(path.slot) }
    }

    private mutating func waitsNoMore(_ slot: Int) {
        slots[slot].inFlight -= 1
        if !slots[slot].isDirty { dirty.append(Int32(slot)) }
        slots[slot].isDirty = true
    }

    /// Writes the replies that were added in this turn, one call a connection.
    mutating func flush(
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        while let index = dirty.popLast() {
            let slot = Int(index)
            slots[slot].isDirty = false
            guard slots[slot].socket.isOpen else { continue }
            resume(slot, for: &resolver, watchedBy: poller, at: now, counting: &statistics)
        }
    }

    /// Writes what waits, and handles the queries that had to wait for that.
    mutating func resume(
        _ slot: Int,
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard flush(slot, now) else {
            close(slot)
            return
        }
        if slots[slot].hasBacklog && !slots[slot].isSaturated {
            read(slot, for: &resolver, watchedBy: poller, at: now, counting: &statistics)
        } else {
            settle(slot, poller)
        }
    }

    /// Reads the connections again that were left unread for a while, when that is over.
    mutating func endPause(
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard let end = pauseEnd, end <= now.nanoseconds else { return }
        pauseEnd = nil
        for slot in slots.indices where slots[slot].isPaused {
            slots[slot].isPaused = false
            resume(slot, for: &resolver, watchedBy: poller, at: now, counting: &statistics)
        }
    }

    /// Closes a connection that nothing can come of, or tells the poller what it waits for now.
    private mutating func settle(_ slot: Int, _ poller: borrowing Poller) {
        if slots[slot].isDone {
            close(slot)
            return
        }
        let wanted = slots[slot].wantedInterest
        guard wanted != slots[slot].interest else { return }
        slots[slot].interest = wanted
        let token = Source.connection.token(slot: slot, generation: slots[slot].generation)
        if (try? poller.change(slots[slot].socket.descriptor, to: wanted, as: token)) == nil {
            close(slot)
        }
    }

    private mutating func noteActivity(_ slot: Int, _ now: Instant) {
        slots[slot].extensions = 0
        activity.touch(slot, at: now.nanoseconds)
    }
}
