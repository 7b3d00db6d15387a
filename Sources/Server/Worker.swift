import DNS
import Platform
import Resolver

/// One thread's server: its own sockets, poller and resolver, shared with nobody.
///
/// The loop waits, reads every socket that is ready into the resolver, and writes what the
/// resolver has decided. Nothing on the way of a query allocates, locks or counts references.
struct Worker: ~Copyable {
    var poller: Poller
    var resolver: Resolver
    let mailbox: Mailbox
    let grace: UInt64

    var listeners: WorkerSockets
    var connections: TCPConnections
    var upstreamSockets: UpstreamSockets
    var upstreamStreams: UpstreamStreams

    var queries = InboundDatagrams(capacity: 32)
    // Whatever an upstream sends is taken whole: some exceed the size that they were told.
    var responses = InboundDatagrams(capacity: 32, longest: 65_535)
    var replies = OutboundDatagrams(capacity: 32)
    var statistics = Statistics()
    /// How long clients waited who were answered at once.
    var latencies = LatencyHistogram()

    /// The time of this turn of the loop.
    var now = Instant(nanoseconds: Clock.monotonic)
    /// Queries over UDP whose reply comes later; connections count their own.
    var waiting = 0
    /// When to end at the latest; set while stopping.
    var end: UInt64?
    /// How many turns there have been; the events of each begin with another connection.
    var turns: UInt64 = 0
    /// How many queries over TCP make connections wait for the next turn.
    var streamEnd: UInt64 = 0
    /// When to accept connections again, after descriptors had run out.
    var resumeAccepting: UInt64?

    init(
        listeningOn sockets: consuming WorkerSockets,
        policy: Policy,
        cache: Cache,
        clients: ClientTable,
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
        resolver = Resolver(policy: policy, cache: cache, clients: clients, random: random)
        listeners = sockets
        connections = TCPConnections(
            capacity: max(1, (settings.connections + workers - 1) / workers),
            limiter: ClientLimiter(policy.limits, in: clients),
            idleMilliseconds: settings.idleMilliseconds
        )
        upstreamSockets = UpstreamSockets(
            upstreams: resolver.upstreams,
            perUpstream: settings.socketsPerUpstream
        )
        upstreamStreams = UpstreamStreams(upstreams: resolver.upstreams, settings: settings)
    }

    /// Serves until the mailbox says stop, and gives what was done.
    mutating func run() -> ServerReport {
        while !isFinished {
            let count = poller.wait(until: nextDeadline, now: now.nanoseconds)
            now = Instant(nanoseconds: Clock.monotonic)
            let answered = statistics.answeredAtOnce
            streamEnd = statistics.queriesTCP &+ Worker.mostStreamQueries
            turns &+= 1
            for step in 0..<count {
                // Not always the same first: those that had to wait come round.
                let index = (step + Int(turns % UInt64(count))) % count
                dispatch(poller.token(at: index), poller.readiness(at: index))
            }
            measure(statistics.answeredAtOnce &- answered)
            expire()
            // A path that fails can make a reply, and a reply that is read another query.
            while sendUpstream() || sendReplies() || resolver.hasUnsent {}
        }
        measure()
        statistics.connectionsOpen = 0
        return report
    }

    /// Counts answers that were given in this turn of the loop: each took as long as the turn at most.
    mutating func measure(_ answered: UInt64) {
        guard answered > 0 else { return }
        latencies.add(answered, from: now, to: Instant(nanoseconds: Clock.monotonic))
    }

    mutating func dispatch(_ token: Poller.Token, _ readiness: Poller.Readiness) {
        switch Source(rawValue: token.kind) {
        case .datagramListener: answerDatagrams(token.slot)
        case .streamListener: acceptConnections(token.slot)
        case .connection: serveConnection(token, readiness)
        case .upstreamSocket:
            upstreamSockets.receive(
                on: token,
                through: &responses,
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
    mutating func answerDatagrams(_ index: Int) {
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

    mutating func answerDatagram(_ query: Int, _ listener: Int) {
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

    mutating func acceptConnections(_ index: Int) {
        // So many a turn, for the same reason as above; none once we are stopping.
        for _ in 0..<32 where listeners.streams[index].socket.isOpen {
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
                if hasRoomForStreams { readConnection(slot) }
            } catch {
                // Mostly: no descriptor is left. Then an idle connection goes, or this one waits.
                if !connections.displaceOldest(of: nil, counting: &statistics) { pauseAccepting() }
                return
            }
        }
    }

    /// So many queries over TCP a turn, and what one connection has sent beyond: connections that are
    /// full of queries keep nobody else waiting, be it on UDP or for an upstream. They stay readable.
    private static var mostStreamQueries: UInt64 { 1_024 }

    private var hasRoomForStreams: Bool { statistics.queriesTCP < streamEnd }

    mutating func serveConnection(_ token: Poller.Token, _ readiness: Poller.Readiness) {
        guard hasRoomForStreams, let slot = connections.slot(of: token) else { return }
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

    mutating func readConnection(_ slot: Int) {
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
    mutating func sendUpstream() -> Bool {
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
    mutating func sendReplies() -> Bool {
        var any = false
        var listener = 0
        while true {
            if replies.isFull { flushReplies(listener) }
            guard let (client, length) = resolver.nextReply(into: &replies, at: now) else { break }
            any = true
            if length > 0 { statistics.answeredLater += 1 } else { statistics.dropped += 1 }
            switch client.transport {
            case .udp:
                waiting -= 1
                guard length > 0 else { continue }
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
                guard length > 0 else {
                    connections.forget(path)
                    continue
                }
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

    mutating func flushReplies(_ listener: Int) {
        guard replies.count > 0 else { return }
        let outcome = listeners.datagrams[listener].socket.send(&replies)
        statistics.repliesNotSent += UInt64(outcome.lost)
    }
}
