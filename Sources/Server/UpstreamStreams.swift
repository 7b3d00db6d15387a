import DNS
import Platform
import Resolver
import TLS

/// A worker's TCP connections to the upstreams: one each, opened when a query needs it, kept while
/// queries come, with many queries in flight (RFC 7766, 6.2.1.1).
struct UpstreamStreams: ~Copyable {
    private var streams: FixedArray<UpstreamStream>
    private var upstreams: [Policy.Upstream?]
    /// What lets the next session with an upstream be shorter.
    private var tickets: FixedArray<TLSTicket?>
    /// A context for each set of anchors; those of the system have none.
    private var contexts: [(anchors: Policy.Upstream.Anchors?, context: TLSContext)] = []
    private let settings: Server.Settings
    /// When each upstream's failures may be reported again.
    private var reports: [UInt64]
    private var lastGeneration: UInt32 = 0
    private var openCount = 0
    private var nextSweep: UInt64 = 0
    private var inbox = OctetBuffer(capacity: (64 << 10) + 2 + 65_535)
    private var scratch = OctetBuffer(capacity: 32 << 10)

    /// A connection that owes an answer for so long, and brings none, has failed, established or not:
    /// whoever waits has been told by then, and TCP itself would go on for a quarter of an hour where
    /// the way is gone.
    private static var silenceTime: UInt64 { 3_000_000_000 }
    /// A connection is kept so long after its last query; most servers end theirs after ten seconds.
    private static var idleTime: UInt64 { 8_000_000_000 }
    /// Whoever reads the log wants to know, not to be flooded.
    private static var reportInterval: UInt64 { 10_000_000_000 }
    private static var sweepInterval: UInt64 { 1_000_000_000 }
    /// More than this is never waiting on a connection that works.
    private static var unsentLimit: Int { 256 << 10 }

    init(upstreams: [Policy.Upstream?], settings: Server.Settings) {
        self.upstreams = upstreams
        self.settings = settings
        streams = FixedArray(count: upstreams.count) { _ in UpstreamStream() }
        tickets = FixedArray(count: upstreams.count) { _ in nil }
        reports = Array(repeating: 0, count: upstreams.count)
    }

    /// Serves another list of upstreams; an upstream that keeps its place keeps its connection.
    mutating func adopt(_ adopted: [Policy.Upstream?]) {
        guard adopted != upstreams else { return }
        var table = FixedArray(count: adopted.count) { _ in UpstreamStream() }
        var kept = FixedArray<TLSTicket?>(count: adopted.count) { _ in nil }
        var keptReports = Array(repeating: 0 as UInt64, count: adopted.count)
        for index in streams.indices {
            if index < adopted.count && adopted[index] == upstreams[index] {
                swap(&table[index], &streams[index])
                swap(&kept[index], &tickets[index])
                keptReports[index] = reports[index]
            } else {
                close(index)
            }
        }
        streams = table
        tickets = kept
        reports = keptReports
        upstreams = adopted
        contexts.removeAll { unused in
            !adopted.contains { $0?.identity != nil && $0?.anchors == unused.anchors }
        }
    }

    /// When connections should next be looked through for ones that idle or bring nothing.
    var nextDeadline: UInt64? { openCount > 0 ? nextSweep : nil }

    // MARK: Sending

    /// Adds a query for an upstream; it is written by `flush`, or when the connection is there.
    mutating func append(
        _ length: Int,
        draftedIn queries: borrowing OutboundDatagrams,
        upstream: Int,
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard upstream >= 0 && upstream < upstreams.count, let facts = upstreams[upstream] else {
            resolver.pathFailed(.stream(upstream: upstream), at: now)
            return
        }
        if !streams[upstream].socket.isOpen {
            do throws(Errno) {
                try open(upstream, to: facts, poller, now)
            } catch {
                let reason = "cannot connect: \(error)"
                fail(upstream, reason, for: &resolver, at: now, counting: &statistics)
                return
            }
        }
        guard streams[upstream].unsentCount <= UpstreamStreams.unsentLimit else {
            let reason = "it takes no more queries"
            fail(upstream, reason, for: &resolver, at: now, counting: &statistics)
            return
        }
        streams[upstream].unsent.appendFramed(length, draftedIn: queries)
        streams[upstream].isDirty = true
        streams[upstream].lastUse = now.nanoseconds
        streams[upstream].owesSince = streams[upstream].owesSince ?? now.nanoseconds
        statistics.upstreamQueriesTCP += 1
    }

    /// Writes what `append` has gathered, one call a connection.
    mutating func flush(
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard openCount > 0 else { return }
        for index in streams.indices where streams[index].isDirty {
            streams[index].isDirty = false
            // What is already watched for writing waits its turn.
            guard streams[index].isReady else { continue }
            write(index, for: &resolver, watchedBy: poller, at: now, counting: &statistics)
        }
    }

    private mutating func write(
        _ index: Int,
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        do throws(UpstreamStream.Failure) {
            try streams[index].flush(scratch: &scratch)
        } catch {
            let reason = sentence(error, index)
            fail(index, reason, for: &resolver, at: now, counting: &statistics)
            return
        }
        let interest: Poller.Readiness =
            streams[index].isBlocked ? [.readable, .writable] : .readable
        do throws(Errno) {
            try poller.change(streams[index].socket.descriptor, to: interest, as: token(index))
        } catch {
            fail(index, "\(error)", for: &resolver, at: now, counting: &statistics)
        }
    }

    private mutating func open(
        _ index: Int,
        to upstream: Policy.Upstream,
        _ poller: borrowing Poller,
        _ now: Instant
    ) throws(Errno) {
        let address = SocketAddress(upstream)
        let socket = try StreamSocket(connectingTo: address)
        if let identity = upstream.identity {
            streams[index].session = try session(index, upstream, identity, address)
        }
        lastGeneration &+= 1
        streams[index].generation = lastGeneration
        try poller.add(socket.descriptor, for: [.readable, .writable], as: token(index))
        streams[index].socket = socket
        if openCount == 0 { nextSweep = now.nanoseconds + UpstreamStreams.sweepInterval }
        openCount += 1
    }

    private mutating func session(
        _ index: Int,
        _ upstream: Policy.Upstream,
        _ identity: Policy.Upstream.Identity,
        _ address: SocketAddress
    ) throws(Errno) -> TLSSession? {
        guard let context = context(for: upstream.anchors) else { throw .invalidArgument }
        var name: String?
        if case .name(let given) = identity { name = given }
        return TLSSession(
            client: context,
            name: name,
            address: address,
            resuming: tickets[index]
        )
    }

    private mutating func context(for anchors: Policy.Upstream.Anchors?) -> TLSContext? {
        if let made = contexts.first(where: { $0.anchors == anchors }) { return made.context }
        guard let context = TLSContext(anchors: anchors?.octets) else { return nil }
        contexts.append((anchors, context))
        return context
    }

    private func token(_ index: Int) -> Poller.Token {
        Source.upstreamStream.token(slot: index, generation: streams[index].generation)
    }

    private mutating func close(_ index: Int) {
        guard streams[index].socket.isOpen else { return }
        if let ticket = streams[index].session?.ticket() { tickets[index] = consume ticket }
        streams[index] = UpstreamStream()
        openCount -= 1
    }

    /// Closes a connection that broke, and tells the resolver.
    private mutating func fail(
        _ index: Int,
        _ reason: String,
        for resolver: inout Resolver,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        let failure: PathFailure = streams[index].hasAnswered ? .ended : .unreachable
        let isEncrypted = upstreams[index]?.identity != nil
        if isEncrypted, failure == .unreachable { report(index, reason, at: now) }
        close(index)
        statistics.upstreamFailures += 1
        resolver.pathFailed(.stream(upstream: index), failure, reason: reason, at: now)
    }

    /// What went wrong with a connection, for the log and for clients.
    private func sentence(_ failure: UpstreamStream.Failure, _ index: Int) -> String {
        switch failure {
        case .connection(let error): "\(error)"
        case .session(let failure):
            upstreams[index].map { failure.sentence(about: $0) } ?? failure.reason
        }
    }

    private mutating func report(_ index: Int, _ reason: String, at now: Instant) {
        guard let upstream = upstreams[index], now.nanoseconds >= reports[index] else { return }
        reports[index] = now.nanoseconds + UpstreamStreams.reportInterval
        settings.upstreamFailed?(upstream, reason)
    }

    // MARK: Receiving

    /// Does what a connection is ready for: finishes connecting, writes, reads.
    mutating func advance(
        _ token: Poller.Token,
        _ readiness: Poller.Readiness,
        for resolver: inout Resolver,
        watchedBy poller: borrowing Poller,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        let index = token.slot
        guard
            index < streams.count && streams[index].socket.isOpen
                && streams[index].generation == token.generation
        else { return }
        if !streams[index].isConnected {
            if let error = streams[index].socket.connectionError {
                let reason = "cannot connect: \(error)"
                fail(index, reason, for: &resolver, at: now, counting: &statistics)
                return
            }
            streams[index].isConnected = true
        }
        let wasReady = streams[index].isReady
        if readiness.contains(.writable) {
            write(index, for: &resolver, watchedBy: poller, at: now, counting: &statistics)
        }
        if !readiness.isDisjoint(with: [.readable, .failed]) && streams[index].socket.isOpen {
            read(index, for: &resolver, at: now, counting: &statistics)
        }
        // The handshake has something to say, or is over: the queries can go.
        if streams[index].socket.isOpen, streams[index].session != nil,
            !wasReady || streams[index].isBlocked
        {
            write(index, for: &resolver, watchedBy: poller, at: now, counting: &statistics)
        }
        if !wasReady, streams[index].isReady, streams[index].session != nil {
            statistics.upstreamHandshakes += 1
            if streams[index].session?.isResumed == true {
                statistics.upstreamHandshakesResumed += 1
            }
        }
    }

    private mutating func read(
        _ index: Int,
        for resolver: inout Resolver,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        var filled = streams[index].unread.take(into: &inbox)
        var hasEnded = false
        do throws(UpstreamStream.Failure) {
            filled = try streams[index].read(
                into: &inbox,
                filled: filled,
                scratch: &scratch,
                hasEnded: &hasEnded
            )
        } catch {
            let reason = sentence(error, index)
            fail(index, reason, for: &resolver, at: now, counting: &statistics)
            return
        }
        var offset = 0
        messages: while true {
            switch Framing.frame(in: inbox.octets(0..<filled), at: offset) {
            case .message(let length):
                resolver.receive(
                    offset + 2..<offset + 2 + length,
                    of: inbox,
                    over: .stream(upstream: index),
                    at: now
                )
                statistics.upstreamMessagesTCP += 1
                streams[index].hasAnswered = true
                streams[index].owesSince = nil
                offset += 2 + length
            case .incomplete: break messages
            case .malformed:
                hasEnded = true
                break messages
            }
        }
        if hasEnded {
            // An upstream may end a connection that nobody waits on: that is no failure.
            if resolver.exchangesInFlight(on: .stream(upstream: index)) == 0 {
                close(index)
            } else {
                let reason =
                    streams[index].isReady
                    ? "the connection ended" : "the connection ended during the handshake"
                fail(index, reason, for: &resolver, at: now, counting: &statistics)
            }
        } else if offset < filled {
            streams[index].unread.append(offset..<filled, of: inbox)
        }
    }

    /// Looks through the connections for ones that idle or bring nothing.
    mutating func sweep(
        _ resolver: inout Resolver,
        at now: Instant,
        counting statistics: inout Statistics
    ) {
        guard openCount > 0 && now.nanoseconds >= nextSweep else { return }
        nextSweep = now.nanoseconds + UpstreamStreams.sweepInterval
        for index in streams.indices where streams[index].socket.isOpen {
            let unused = now.nanoseconds - streams[index].lastUse
            let since = streams[index].owesSince ?? now.nanoseconds
            if now.nanoseconds - since >= UpstreamStreams.silenceTime {
                let reason =
                    streams[index].isReady
                    ? "no answer came"
                    : streams[index].isConnected ? "no answer to TLS" : "no connection came up"
                fail(index, reason, for: &resolver, at: now, counting: &statistics)
            } else if unused >= UpstreamStreams.idleTime
                && resolver.exchangesInFlight(on: .stream(upstream: index)) == 0
            {
                close(index)
            }
        }
    }
}
