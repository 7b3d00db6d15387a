import DNS
import Platform
import Resolver

/// One thread's server: its own sockets, poller and resolver, shared with nobody.
///
/// The loop waits, reads every socket that is ready into the resolver, and writes what the
/// resolver has decided. Nothing on the way of a query allocates, locks or counts references.
struct Worker: ~Copyable {
    private var poller: Poller
    private var resolver: Resolver
    private let mailbox: Mailbox
    private let grace: UInt64

    private var listeners: WorkerSockets
    private var connections: TCPConnections
    private var upstreamSockets: UpstreamSockets
    private var upstreamStreams: UpstreamStreams

    private var queries = InboundDatagrams(capacity: 32)
    private var replies = OutboundDatagrams(capacity: 32)
    private var statistics = Statistics()

    /// The time of this turn of the loop.
    private var now = Instant(nanoseconds: Clock.monotonic)
    /// Queries over UDP whose reply comes later; connections count their own.
    private var waiting = 0
    /// When to end at the latest; set while stopping.
    private var end: UInt64?
    /// When to accept connections again, after descriptors had run out.
    private var resumeAccepting: UInt64?

    init(
        listeningOn sockets: consuming WorkerSockets,
        policy: Policy,
        cache: Cache,
        settings: Server.Settings,
        workers: Int,
        mailbox: Mailbox
    ) throws(Errno) {
        let poller = try Poller()
        try poller.add(mailbox.wakeup.descriptor, for: .readable, as: Source.mailbox.token())
        for index in sockets.datagrams.indices where sockets.datagrams[index].socket.isOpen {
            // Exclusive: an inherited socket is shared by all workers, and one is enough to wake.
            try poller.add(
                sockets.datagrams[index].socket.descriptor,
                for: [.readable, .exclusive],
                as: Source.datagramListener.token(slot: index)
            )
        }
        for index in sockets.streams.indices where sockets.streams[index].socket.isOpen {
            try poller.add(
                sockets.streams[index].socket.descriptor,
                for: [.readable, .exclusive],
                as: Source.streamListener.token(slot: index)
            )
        }
        self.poller = poller
        self.mailbox = mailbox
        grace = settings.graceMilliseconds * 1_000_000
        let random = RandomPool { words in
            var random = Random()
            for index in words.indices { words[index] = random.next() }
        }
        resolver = Resolver(policy: policy, cache: cache, random: random)
        listeners = sockets
        connections = TCPConnections(
            capacity: max(1, (settings.connections + workers - 1) / workers),
            perClient: max(1, settings.connectionsPerClient),
            idleMilliseconds: settings.idleMilliseconds
        )
        upstreamSockets = UpstreamSockets(
            upstreams: policy.upstreams,
            perUpstream: settings.socketsPerUpstream
        )
        upstreamStreams = UpstreamStreams(upstreams: policy.upstreams)
    }

    /// Serves until the mailbox says stop, and gives what was done.
    mutating func run() -> Statistics {
        while !isFinished {
            let count = poller.wait(until: nextDeadline, now: now.nanoseconds)
            now = Instant(nanoseconds: Clock.monotonic)
            for index in 0..<count {
                dispatch(poller.token(at: index), poller.readiness(at: index))
            }
            expire()
            // A path that fails can make a reply, and a reply that is read another query.
            while sendUpstream() || sendReplies() {}
        }
        statistics.connectionsOpen = 0
        return statistics
    }

    private mutating func dispatch(_ token: Poller.Token, _ readiness: Poller.Readiness) {
        switch Source(rawValue: token.kind) {
        case .datagramListener: answerDatagrams(token.slot)
        case .streamListener: acceptConnections(token.slot)
        case .connection: serveConnection(token, readiness)
        case .upstreamSocket:
            upstreamSockets.receive(
                on: token,
                through: &queries,
                for: &resolver,
                at: now,
                counting: &statistics
            )
        case .upstreamStream:
            upstreamStreams.advance(
                token,
                readiness,
                for: &resolver,
                watchedBy: poller,
                at: now,
                counting: &statistics
            )
        case .mailbox: obey()
        case nil: break
        }
    }

    // MARK: Queries

    /// Answers what waits on a UDP socket, a batch in and a batch out.
    private mutating func answerDatagrams(_ index: Int) {
        // At most so many batches a turn, so that a flood over UDP does not starve TCP.
        for _ in 0..<8 {
            // An error of an unconnected socket says nothing about it: it is there again next turn.
            guard let count = try? listeners.datagrams[index].socket.receive(&queries),
                count > 0
            else { return }
            for query in 0..<count { answerDatagram(query, index) }
            flushReplies(index)
            if count < queries.capacity { return }
        }
    }

    private mutating func answerDatagram(_ query: Int, _ listener: Int) {
        let origin = queries.origin(at: query)
        statistics.queriesUDP += 1
        guard !origin.isCut else {
            statistics.datagramsTooLong += 1
            return
        }
        let path = DatagramReturnPath(
            listener: listener,
            peer: origin.peer,
            destination: origin.destination
        )
        let client = Client(
            address: IPAddress(origin.peer),
            localAddress: IPAddress(origin.destination ?? listeners.datagrams[listener].address),
            transport: .udp,
            returnPath: path.words
        )
        switch resolver.handle(query, of: queries, from: client, at: now, into: &replies) {
        case .respond(let length):
            replies.append(length, to: origin.peer, from: path.source(client.localAddress))
            statistics.answeredAtOnce += 1
        case .wait: waiting += 1
        case .drop: statistics.dropped += 1
        }
    }

    private mutating func acceptConnections(_ index: Int) {
        // So many a turn, for the same reason as above.
        for _ in 0..<32 {
            var peer = SocketAddress.any(ipv4: true, port: 0)
            do throws(Errno) {
                guard let socket = try listeners.streams[index].socket.accept(from: &peer) else {
                    return
                }
                statistics.connectionsAccepted += 1
                var local = listeners.streams[index].address
                if local.isAny { local = (try? socket.localAddress()) ?? local }
                guard
                    let slot = connections.open(
                        socket,
                        from: IPAddress(peer),
                        to: IPAddress(local),
                        watchedBy: poller,
                        at: now,
                        counting: &statistics
                    )
                else {
                    statistics.connectionsRefused += 1
                    continue
                }
                // Most clients have sent their query by now.
                readConnection(slot)
            } catch {
                pauseAccepting()
                return
            }
        }
    }

    private mutating func serveConnection(_ token: Poller.Token, _ readiness: Poller.Readiness) {
        guard let slot = connections.slot(of: token) else { return }
        if readiness.contains(.writable) {
            connections.resume(
                slot,
                for: &resolver,
                watchedBy: poller,
                at: now,
                counting: &statistics
            )
        }
        guard connections.slot(of: token) != nil else { return }
        if readiness.isDisjoint(with: .failed) {
            if readiness.contains(.readable) { readConnection(slot) }
        } else {
            // Both directions are gone; whatever is left cannot be delivered.
            connections.close(slot)
        }
    }

    private mutating func readConnection(_ slot: Int) {
        connections.read(
            slot,
            for: &resolver,
            watchedBy: poller,
            at: now,
            counting: &statistics
        )
    }

    // MARK: What the resolver has decided

    /// Sends the queries that have to go upstream; gives whether there were any.
    private mutating func sendUpstream() -> Bool {
        var any = false
        while true {
            if upstreamSockets.outgoing.isFull {
                upstreamSockets.flush(for: &resolver, at: now, counting: &statistics)
            }
            guard let send = resolver.nextSend(into: &upstreamSockets.outgoing) else { break }
            any = true
            switch send.path {
            case .datagram(let upstream, let socket):
                upstreamSockets.append(
                    send.count,
                    upstream: upstream,
                    socket: socket,
                    for: &resolver,
                    watchedBy: poller,
                    at: now,
                    counting: &statistics
                )
            case .stream(let upstream):
                upstreamStreams.append(
                    send.count,
                    draftedIn: upstreamSockets.outgoing,
                    upstream: upstream,
                    for: &resolver,
                    watchedBy: poller,
                    at: now,
                    counting: &statistics
                )
            }
        }
        upstreamSockets.flush(for: &resolver, at: now, counting: &statistics)
        upstreamStreams.flush(
            for: &resolver,
            watchedBy: poller,
            at: now,
            counting: &statistics
        )
        return any
    }

    /// Sends the replies that were finished since; gives whether there were any.
    private mutating func sendReplies() -> Bool {
        var any = false
        var listener = 0
        while true {
            if replies.isFull { flushReplies(listener) }
            guard let (client, length) = resolver.nextReply(into: &replies, at: now) else { break }
            any = true
            statistics.answeredLater += 1
            switch client.transport {
            case .udp:
                waiting -= 1
                let path = DatagramReturnPath(client.returnPath)
                if path.listener != listener { flushReplies(listener) }
                listener = path.listener
                replies.append(
                    length,
                    to: SocketAddress(client.address, port: path.port, scope: path.scope),
                    from: path.source(client.localAddress)
                )
            case .tcp:
                let path = ConnectionReturnPath(client.returnPath)
                if !connections.append(length, draftedIn: replies, to: path) {
                    statistics.repliesWithoutClient += 1
                }
            }
        }
        flushReplies(listener)
        connections.flush(
            for: &resolver,
            watchedBy: poller,
            at: now,
            counting: &statistics
        )
        return any
    }

    private mutating func flushReplies(_ listener: Int) {
        guard replies.count > 0 else { return }
        let outcome = listeners.datagrams[listener].socket.send(&replies)
        statistics.repliesNotSent += UInt64(outcome.lost)
    }

    // MARK: Time

    private var nextDeadline: UInt64? {
        var earliest = UInt64.max
        if let deadline = resolver.nextDeadline { earliest = deadline.nanoseconds }
        if let deadline = connections.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = upstreamSockets.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = upstreamStreams.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = resumeAccepting { earliest = min(earliest, deadline) }
        if let deadline = end { earliest = min(earliest, deadline) }
        return earliest == .max ? nil : earliest
    }

    private mutating func expire() {
        if let deadline = resolver.nextDeadline, deadline <= now { resolver.expire(at: now) }
        connections.expire(at: now, counting: &statistics)
        upstreamSockets.sweep(resolver, at: now)
        upstreamStreams.sweep(&resolver, at: now, counting: &statistics)
        if let deadline = resumeAccepting, deadline <= now.nanoseconds { watchStreamListeners() }
    }

    /// Accepts no connections for a while: descriptors have run out, and a listener that stays
    /// readable would keep the loop turning.
    private mutating func pauseAccepting() {
        for index in listeners.streams.indices where listeners.streams[index].socket.isOpen {
            poller.remove(listeners.streams[index].socket.descriptor)
        }
        resumeAccepting = now.advanced(byMilliseconds: 100).nanoseconds
    }

    private mutating func watchStreamListeners() {
        resumeAccepting = nil
        for index in listeners.streams.indices where listeners.streams[index].socket.isOpen {
            try? poller.add(
                listeners.streams[index].socket.descriptor,
                for: [.readable, .exclusive],
                as: Source.streamListener.token(slot: index)
            )
        }
    }

    // MARK: Commands

    private mutating func obey() {
        for command in mailbox.takeAll() {
            switch command {
            case .adopt(let policy):
                resolver.adopt(policy)
                upstreamSockets.adopt(policy.upstreams)
                upstreamStreams.adopt(policy.upstreams)
            case .report(let report):
                statistics.connectionsOpen = UInt64(connections.openCount)
                report.add(statistics)
            case .stop: beginStopping()
            }
        }
    }

    /// Takes what has arrived, and nothing more.
    private mutating func beginStopping() {
        guard end == nil else { return }
        end = now.nanoseconds + grace
        resumeAccepting = nil
        for index in listeners.datagrams.indices where listeners.datagrams[index].socket.isOpen {
            answerDatagrams(index)
            // Stays open: what is in flight is answered from it.
            poller.remove(listeners.datagrams[index].socket.descriptor)
        }
        for index in listeners.streams.indices where listeners.streams[index].socket.isOpen {
            acceptConnections(index)
            listeners.streams[index] = .none
        }
        connections.finishReading(watchedBy: poller)
    }

    private var isFinished: Bool {
        guard let end else { return false }
        return waiting == 0 && connections.openCount == 0 || now.nanoseconds >= end
    }
}
