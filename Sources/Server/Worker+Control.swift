import Platform
import Resolver

// What a worker does beside the path of a query: what time brings, and what the mailbox says.

extension Worker {
    var nextDeadline: UInt64? {
        var earliest = UInt64.max
        if let deadline = resolver.nextDeadline { earliest = deadline.nanoseconds }
        if let deadline = connections.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = upstreamSockets.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = upstreamStreams.nextDeadline { earliest = min(earliest, deadline) }
        if let deadline = resumeAccepting { earliest = min(earliest, deadline) }
        if let deadline = end { earliest = min(earliest, deadline) }
        return earliest == .max ? nil : earliest
    }

    mutating func expire() {
        if let deadline = resolver.nextDeadline, deadline <= now { resolver.expire(at: now) }
        connections.expire(at: now, counting: &statistics)
        connections.endPause(
            for: &resolver,
            watchedBy: poller,
            at: now,
            counting: &statistics
        )
        upstreamSockets.sweep(resolver, at: now)
        upstreamStreams.sweep(&resolver, at: now, counting: &statistics)
        if let deadline = resumeAccepting, deadline <= now.nanoseconds { watchStreamListeners() }
    }

    /// Accepts no connections for a while: descriptors have run out, and a listener that stays
    /// readable would keep the loop turning.
    mutating func pauseAccepting() {
        for index in listeners.streams.indices where listeners.streams[index].socket.isOpen {
            poller.remove(listeners.streams[index].socket.descriptor)
        }
        resumeAccepting = now.advanced(byMilliseconds: 100).nanoseconds
    }

    mutating func watchStreamListeners() {
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

    mutating func obey() {
        for command in mailbox.takeAll() {
            switch command {
            case .adopt(let policy):
                resolver.adopt(policy, at: now)
                upstreamSockets.adopt(resolver.upstreams)
                upstreamStreams.adopt(resolver.upstreams)
                connections.limiter = connections.limiter.adopting(policy.limits)
            case .report(let report):
                measure()
                report.add(self.report)
            case .logQueries(let interval): resolver.logQueries(every: interval)
            case .exchangeLog(let exchange): exchange.exchange(with: &resolver)
            case .stop: beginStopping()
            }
        }
    }

    /// Brings up to date what is not counted as it happens.
    mutating func measure() {
        statistics.connectionsOpen = UInt64(connections.openCount)
        statistics.waiting = UInt64(resolver.waitingCount)
        statistics.datagramsLost = 0
        for index in listeners.datagrams.indices
        where listeners.datagrams[index].socket.isOpen && listeners.datagrams[index].countsLosses {
            statistics.datagramsLost += listeners.datagrams[index].socket.dropped
        }
    }

    var report: ServerReport {
        ServerReport(
            server: statistics,
            resolver: resolver.statistics,
            latenciesAtOnce: latencies,
            latencies: resolver.latencies,
            upstreams: resolver.upstreamStatistics,
            workers: 1
        )
    }

    /// Takes what has arrived, and nothing more.
    mutating func beginStopping() {
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

    var isFinished: Bool {
        guard let end else { return false }
        return waiting == 0 && connections.openCount == 0 || now.nanoseconds >= end
    }
}
