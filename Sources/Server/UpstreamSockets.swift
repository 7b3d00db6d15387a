import Platform
import Resolver

/// A worker's UDP sockets to the upstreams: for each a pool, every socket on a random port of its
/// own (RFC 5452, 9.2), opened when it is first needed.
///
/// A socket lives for a thousand queries or ten seconds, and then until nothing waits on it; the
/// next query from its slot leaves from another port. A socket a query would cost twice as much.
struct UpstreamSockets: ~Copyable {
    struct Slot: ~Copyable {
        var socket = UDPSocket.none
        var generation: UInt32 = 0
        var uses = 0
        var opened: UInt64 = 0
    }

    private var slots: FixedArray<Slot>
    private var addresses: [SocketAddress?]
    /// The upstreams' own ports: one on this machine that is started again must find its port free.
    private var ports: [UInt16]
    private let perUpstream: Int
    private var random = Random()
    // Counts all sockets that were ever opened, so that no token comes twice.
    private var lastGeneration: UInt32 = 0
    private var openCount = 0
    private var nextSweep: UInt64 = 0

    /// The queries that are about to leave, all from slot `current`; and the draft of the next.
    var outgoing = OutboundDatagrams()
    private var current = -1

    private static var usesBeforeReplacement: Int { 1_000 }
    private static var lifetime: UInt64 { 10_000_000_000 }

    init(upstreams: [Policy.Upstream?], perUpstream: Int) {
        self.perUpstream = perUpstream
        addresses = upstreams.map { $0.map(SocketAddress.init) }
        ports = addresses.compactMap { $0?.port }
        slots = FixedArray(count: upstreams.count * perUpstream) { _ in Slot() }
    }

    /// Serves another list of upstreams; an upstream that keeps its place keeps its sockets.
    mutating func adopt(_ upstreams: [Policy.Upstream?]) {
        let adopted = upstreams.map { $0.map(SocketAddress.init) }
        guard adopted != addresses else { return }
        var table = FixedArray(count: adopted.count * perUpstream) { _ in Slot() }
        for index in slots.indices {
            let upstream = index / perUpstream
            if upstream < adopted.count && adopted[upstream] == addresses[upstream] {
                swap(&table[index], &slots[index])
            } else {
                close(index)
            }
        }
        slots = table
        addresses = adopted
        ports = adopted.compactMap { $0?.port }
    }

    /// When sockets should next be looked through for ones that are too old.
    var nextDeadline: UInt64? { openCount > 0 ? nextSweep : nil }

    // MARK: Sending

    /// Makes the draft in `outgoing` a datagram from a socket to an upstream. Queries that follow
    /// one another from one socket leave together. Gives whether all went well.
    mutating func append(
        _ count: Int,
        upstream: Int,
        socket: Int,
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard upstream >= 0 && upstream < addresses.count && socket >= 0 && socket < perUpstream,
            let address = addresses[upstream]
        else {
            resolver.pathFailed(.datagram(upstream: upstream, socket: socket), at: now)
            return
        }
        let index = upstream * perUpstream + socket
        if index != current { flush(for: &resolver, at: now, counting: &statistics) }
        if !slots[index].socket.isOpen {
            do throws(Errno) {
                try open(index, to: address, poller, now)
                statistics.upstreamSocketsOpened += 1
            } catch {
                statistics.upstreamFailures += 1
                resolver.pathFailed(.datagram(upstream: upstream, socket: socket), at: now)
                return
            }
        }
        current = index
        slots[index].uses += 1
        outgoing.append(count)
    }

    /// Sends what `append` has gathered.
    mutating func flush(
        for resolver: inout Resolver,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard outgoing.count > 0 else { return }
        let outcome = slots[current].socket.send(&outgoing)
        statistics.upstreamQueriesUDP += UInt64(outcome.sent)
        // A full buffer loses a query as a full wire does, and the resolver asks again.
        if let error = outcome.error, error != .wouldBlock {
            fail(current, for: &resolver, at: now, counting: &statistics)
        }
        current = -1
    }

    private mutating func open(
        _ index: Int,
        to address: SocketAddress,
        _ poller: borrowing Poller,
        _ now: Instant
    ) throws(Errno) {
        let socket = try UDPSocket(
            connectedTo: address,
            drawingFrom: &random,
            avoiding: ports
        )
        lastGeneration &+= 1
        let token = Source.upstreamSocket.token(slot: index, generation: lastGeneration)
        try poller.add(socket.descriptor, for: .readable, as: token)
        slots[index].socket = socket
        slots[index].generation = lastGeneration
        slots[index].uses = 0
        slots[index].opened = now.nanoseconds
        if openCount == 0 { nextSweep = now.nanoseconds + UpstreamSockets.lifetime }
        openCount += 1
    }

    private mutating func close(_ index: Int) {
        guard slots[index].socket.isOpen else { return }
        slots[index].socket = .none
        openCount -= 1
    }

    /// Closes a socket that broke, and tells the resolver.
    private mutating func fail(
        _ index: Int,
        for resolver: inout Resolver,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        close(index)
        statistics.upstreamFailures += 1
        resolver.pathFailed(path(index), at: now)
    }

    private func path(_ index: Int) -> UpstreamPath {
        .datagram(upstream: index / perUpstream, socket: index % perUpstream)
    }

    // MARK: Receiving

    /// Hands all that has come on a socket to the resolver.
    mutating func receive(
        on token: Poller.Token,
        through batch: inout InboundDatagrams,
        for resolver: inout Resolver,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        let index = token.slot
        guard
            index < slots.count && slots[index].socket.isOpen
                && slots[index].generation == token.generation
        else { return }
        let path = path(index)
        // At most so many batches a turn, so that a flood on one port starves nobody.
        for _ in 0..<4 {
            let count: Int
            do throws(Errno) {
                count = try slots[index].socket.receive(&batch)
            } catch {
                fail(index, for: &resolver, at: now, counting: &statistics)
                return
            }
            statistics.upstreamMessagesUDP += UInt64(count)
            for message in 0..<count {
                resolver.receive(message, of: batch, over: path, at: now)
            }
            if count < batch.capacity { break }
        }
        retire(index, resolver, now)
    }

    /// Closes a socket that has been used enough, when nothing waits on it.
    private mutating func retire(_ index: Int, _ resolver: borrowing Resolver, _ now: Instant) {
        let isWorn =
            slots[index].uses >= UpstreamSockets.usesBeforeReplacement
            || now.nanoseconds - slots[index].opened >= UpstreamSockets.lifetime
        if isWorn && resolver.exchangesInFlight(on: path(index)) == 0 { close(index) }
    }

    /// Looks through all sockets for ones that are too old.
    mutating func sweep(_ resolver: borrowing Resolver, at now: Instant) {
        guard openCount > 0 && now.nanoseconds >= nextSweep else { return }
        nextSweep = now.nanoseconds + UpstreamSockets.lifetime / 2
        for index in slots.indices where slots[index].socket.isOpen {
            retire(index, resolver, now)
        }
    }
}
