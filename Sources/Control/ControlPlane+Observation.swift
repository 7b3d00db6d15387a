import Configuration
import DNS
import Platform
import Resolver
import Server
import Zones

// How things are: status, metrics, and the log of queries.

extension ControlPlane {
    /// How long queries wait at the workers before they are written: with the workers' buffers, how
    /// many a second can be logged.
    static let collectionInterval: UInt64 = 100_000_000
    /// `sampled`: one query in so many.
    static let sampleInterval: UInt32 = 100

    // MARK: Status

    func status() -> StatusResult {
        let report = (try? server.report()) ?? ServerReport()
        let resolver = report.resolver
        var zones = configuration.zones.map { zone in
            StatusResult.Zone(file: zone.path, kind: "\(zone.source.kind)", view: nil)
        }
        for view in configuration.views {
            zones += view.zones.map { zone in
                StatusResult.Zone(file: zone.path, kind: "\(zone.source.kind)", view: view.name)
            }
        }
        return StatusResult(
            version: version,
            process: Supervisor.ownProcess,
            uptime: Double(Timestamp.now.milliseconds - startedAt.milliseconds) / 1000,
            addresses: server.addresses.map { "\($0)" },
            workers: server.workers,
            generation: policy.generation,
            names: names,
            zones: zones,
            views: configuration.views.map(\.name),
            overrides: overrides.count,
            keepsOverrides: overrides.isPersistent,
            queries: report.server.queriesUDP + report.server.queriesTCP,
            answers: [
                "override": resolver.overridden, "cache": resolver.cacheHits,
                "upstream": resolver.waited, "stale": resolver.stale,
                "special": resolver.special, "refused": resolver.refused,
                "failed": resolver.failed, "malformed": resolver.malformed,
                "dropped": resolver.dropped,
                "limited": resolver.overRateTruncated + resolver.overRateDropped
                    + resolver.tooManyWaiting,
            ],
            cached: cache.count,
            upstreams: report.upstreams.map { upstream in
                StatusResult.Upstream(
                    address: upstream.upstream.text,
                    isUp: !upstream.isOut,
                    rtt: upstream.smoothedRTT == 0
                        ? nil : Double(upstream.smoothedRTT) / 1_000_000,
                    queries: upstream.queries,
                    losses: upstream.losses
                )
            },
            reload: lastReload
        )
    }

    /// Says which clients ask too much, each once a minute.
    func tellReachedLimits() {
        let limits = configuration.limits
        for reached in server.takeReachedLimits() {
            let client =
                reached.client.length == 128
                ? "\(reached.client.address)" : "\(reached.client)"
            let (sentence, key) =
                switch reached.kind {
                case .queries:
                    (
                        "asks more than \(limits.queries) queries a second: over UDP, answers are "
                            + "truncated or left out; over TCP, they come later",
                        "queries"
                    )
                case .waiting:
                    (
                        "has \(limits.waiting) forwarded queries waiting: more are answered SERVFAIL",
                        "waiting"
                    )
                case .connections:
                    (
                        "has \(limits.connectionsPerClient) TCP connections: idle ones are closed, "
                            + "or new ones turned away",
                        "connectionsPerClient"
                    )
                }
            log.write(
                .warning,
                "the client \(client) \(sentence) (limits.\(key))",
                [("client", client), ("limit", key)]
            )
        }
    }

    // MARK: Metrics

    func page(_ path: String) -> MetricsServer.Page {
        switch path {
        case "/metrics":
            return MetricsServer.Page(isMetrics: true, body: MetricsText(measurements()).text)
        case "/healthz":
            return MetricsServer.Page(body: "ok\n")
        case "/readyz":
            // Whoever answers here has its zones; whether its workers answer, they say themselves.
            return server.isAnswering
                ? MetricsServer.Page(body: "ready\n")
                : MetricsServer.Page(status: 503, body: "a worker does not answer\n")
        case "/":
            return MetricsServer.Page(body: "detourd \(version): /metrics /healthz /readyz\n")
        default:
            return MetricsServer.Page(status: 404, body: "there are /metrics /healthz /readyz\n")
        }
    }

    private func measurements() -> Measurements {
        var now = Measurements()
        now.version = version
        now.report = (try? server.report()) ?? ServerReport()
        now.cacheEntries = cache.count
        now.cacheBytes = configuration.cache.octets
        now.generation = policy.generation
        now.names = names
        now.zones =
            configuration.zones.count + configuration.views.reduce(0) { $0 + $1.zones.count }
        now.overrides = overrides.count
        now.reloads = reloadCounts
        now.reloadedAt = lastReload?.at
        now.reloadSucceeded = lastReload?.outcome != .refused
        now.startedAt = startedAt
        now.queriesNotLogged = queriesNotLogged
        return now
    }

    // MARK: The query log

    /// Lets the workers note what the configuration or a client wants to see.
    func chooseQueries() {
        let isFollowed = sessions.values.contains { $0.isFollowing }
        let interval: UInt32 =
            switch configuration.log.queries {
            case _ where isFollowed: 1
            case .all: 1
            case .sampled: ControlPlane.sampleInterval
            case .off: 0
            }
        guard interval != queryInterval else { return }
        queryInterval = interval
        server.logQueries(every: interval)
        nextCollection =
            interval == 0 ? .max : Clock.monotonic + ControlPlane.collectionInterval
    }

    /// Writes what the workers have handed over.
    func readQueries() {
        let followers = sessions.filter { $0.value.isFollowing }.map(\.key)
        let wanted = configuration.log.queries
        // Sampled, while somebody follows all of them: then some of the lines are chosen here.
        let step: UInt32 =
            wanted == .sampled && queryInterval == 1 ? ControlPlane.sampleInterval : 1
        var lines: [UInt8] = []
        var chosen: [UInt8] = []
        lines.reserveCapacity(2 * QueryLines.portion)
        var dropped: UInt64 = 0
        // A local: each access to a property of a class is checked.
        var untilNext = untilSample
        server.readQueries { batch in
            dropped &+= batch.dropped
            var position = QueryBatch.Position()
            var hasMore = true
            while hasMore {
                lines.removeAll(keepingCapacity: true)
                chosen.removeAll(keepingCapacity: true)
                hasMore = queryLines.append(batch, from: &position, to: &lines, chosen: &chosen) {
                    guard step > 1 else { return false }
                    defer { untilNext -= 1 }
                    guard untilNext == 0 else { return false }
                    untilNext = step
                    return true
                }
                if wanted != .off { writeLog(step == 1 ? lines : chosen) }
                guard !followers.isEmpty else { continue }
                for line in lines.split(separator: UInt8(ascii: "\n")) {
                    tell(LogResult(query: String(decoding: line, as: UTF8.self)), followers)
                }
            }
        }
        untilSample = untilNext
        queriesNotLogged &+= dropped
        if dropped > 0 { tell(LogResult(missing: dropped), followers) }
    }

    /// Writes lines to standard error as long as somebody takes them: a reader that is stuck must not
    /// hold up what else is done here.
    private func writeLog(_ lines: [UInt8]) {
        var start = 0
        while start < lines.count {
            guard StandardStream.error.takesText else {
                queriesNotLogged &+= UInt64(
                    lines[start...].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
                )
                return
            }
            // As much as a pipe takes at once (PIPE_BUF), in whole lines.
            var end = min(lines.count, start + StandardStream.mostAtOnce)
            if end < lines.count {
                let part = lines[start..<end]
                end = part.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? end
            }
            StandardStream.error.write(lines[start..<end])
            start = end
        }
    }

    private func tell(_ result: LogResult, _ followers: [Int]) {
        let octets = ControlLine.octets(Reply(result))
        for slot in followers {
            guard let session = sessions[slot] else { continue }
            if session.takesLog { send(octets, to: slot) } else { queriesNotLogged &+= 1 }
        }
    }

    /// Tells the daemon's own messages to those who follow.
    func tellFollowers() {
        let followers = sessions.filter { $0.value.isFollowing }.map(\.key)
        let (lines, next) = log.lines(from: nextLogLine)
        nextLogLine = next
        guard !followers.isEmpty else { return }
        for line in lines { tell(LogResult(message: line), followers) }
    }
}
