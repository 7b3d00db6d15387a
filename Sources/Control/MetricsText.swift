import DNS
import Resolver
import Server

/// Everything that is measured, at one moment.
struct Measurements {
    var version = ""
    var report = ServerReport()
    var cacheEntries = 0
    var cacheBytes = 0
    var generation: UInt32 = 0
    var names = 0
    var zones = 0
    var overrides = 0
    var reloads: [ReloadResult.Outcome: UInt64] = [:]
    var reloadedAt: Timestamp?
    var reloadSucceeded = true
    var startedAt = Timestamp(milliseconds: 0)
    var queriesNotLogged: UInt64 = 0
}

/// The exposition format of Prometheus, version 0.0.4.
struct MetricsText {
    private(set) var text = ""

    /// All metrics.
    init(_ now: Measurements) {
        family("detour_build_info", "gauge", "The version that runs")
        sample("detour_build_info", [("version", now.version)], "1")
        gauge("detour_start_time_seconds", "When it started", MetricsText.seconds(now.startedAt))
        addQueries(now.report)
        addConnections(now.report.server)
        addUpstreams(now.report)
        addState(now)
    }

    private static func seconds(_ time: Timestamp) -> String {
        "\(Double(time.milliseconds) / 1000)"
    }

    private mutating func addQueries(_ report: ServerReport) {
        let server = report.server
        let resolver = report.resolver
        counters(
            "detour_queries_total",
            "Queries, by what they came over",
            "protocol",
            [("udp", server.queriesUDP), ("tcp", server.queriesTCP)]
        )
        counters(
            "detour_answers_total",
            "Queries, by what their answer was made of",
            "source",
            [
                ("override", resolver.overridden), ("special", resolver.special),
                ("cache", resolver.cacheHits), ("stale", resolver.stale),
                ("upstream", resolver.waited - min(resolver.staleAfterWaiting, resolver.waited)),
            ]
        )
        counters(
            "detour_errors_total",
            "Queries that were answered with an error of our own, by its code",
            "code",
            [
                ("formerr", resolver.malformed), ("refused", resolver.refused),
                ("servfail", resolver.failed),
            ]
        )
        // Queries are the sum of replies, drops but for those of the kernel, and those that wait.
        counters(
            "detour_replies_total",
            "Replies to queries, by whether an upstream had to be asked",
            "when",
            [("at_once", server.answeredAtOnce), ("later", server.answeredLater)]
        )
        gauge("detour_queries_waiting", "Queries that wait for an upstream", "\(server.waiting)")
        counters(
            "detour_drops_total",
            "Queries that get no reply, by reason; receive_buffer: the kernel had no room for them",
            "reason",
            [
                ("policy", resolver.dropped), ("not_a_query", resolver.ignored),
                ("over_rate", resolver.overRateDropped), ("too_long", server.datagramsTooLong),
                ("receive_buffer", server.datagramsLost),
            ]
        )
        counters(
            "detour_limited_total",
            "What was held back of clients that ask too much, by what became of it: queries over UDP "
                + "truncated or dropped, queries refused because too many wait, reads over TCP put off",
            "reason",
            [
                ("truncated", resolver.overRateTruncated), ("dropped", resolver.overRateDropped),
                ("waiting", resolver.tooManyWaiting), ("paused", server.connectionsPaused),
            ]
        )
        counters(
            "detour_replies_lost_total",
            "Replies that did not reach the network, by reason",
            "reason",
            [
                ("not_sent", server.repliesNotSent), ("client_gone", server.repliesWithoutClient),
            ]
        )
        counter(
            "detour_shed_total",
            "Questions given up to make room for others, and answered SERVFAIL",
            resolver.shed
        )
        counter(
            "detour_loops_total",
            "Queries of ours that an upstream sent back, answered SERVFAIL",
            resolver.loops
        )
        histogram(
            "detour_query_duration_seconds",
            "How long clients waited for answers given at once, and for those from upstream",
            [
                ([("answer", "local")], report.latenciesAtOnce),
                ([("answer", "upstream")], report.latencies),
            ]
        )
    }

    private mutating func addConnections(_ server: Statistics) {
        gauge("detour_connections", "Open TCP connections of clients", "\(server.connectionsOpen)")
        counters(
            "detour_connections_total",
            "TCP connections of clients, by what became of them",
            "event",
            [
                ("accepted", server.connectionsAccepted), ("refused", server.connectionsRefused),
                ("displaced", server.connectionsDisplaced),
                ("timed_out", server.connectionsTimedOut), ("not_dns", server.connectionsNotDNS),
            ]
        )
    }

    private mutating func addUpstreams(_ report: ServerReport) {
        let upstreams = report.upstreams.map { upstream in
            (label: [("upstream", upstream.upstream.text)], upstream)
        }
        let counts: [(String, String, (UpstreamStatistics) -> UInt64)] = [
            ("queries", "Queries that were sent to it", { $0.queries }),
            ("answers", "Answers that came from it", { $0.answers }),
            ("losses", "Queries whose answer did not come when expected", { $0.losses }),
            (
                "hedges", "Queries that were not the first for their question: it was not waited",
                { $0.hedges }
            ),
        ]
        for (name, help, value) in counts {
            family("detour_upstream_\(name)_total", "counter", help)
            for (label, upstream) in upstreams {
                sample("detour_upstream_\(name)_total", label, "\(value(upstream))")
            }
        }
        family("detour_upstream_up", "gauge", "Whether it answers")
        for (label, upstream) in upstreams {
            sample("detour_upstream_up", label, upstream.isOut ? "0" : "1")
        }
        family("detour_upstream_rtt_seconds", "gauge", "Its smoothed round-trip time")
        for (label, upstream) in upstreams where upstream.smoothedRTT > 0 {
            let rtt = Double(upstream.smoothedRTT) / 1_000_000
            sample("detour_upstream_rtt_seconds", label, "\(rtt)")
        }
        histogram(
            "detour_upstream_duration_seconds",
            "How long its answers over UDP took",
            upstreams.map { ($0.label, $0.1.latencies) }
        )
        counter(
            "detour_upstream_mismatches_total",
            "Messages that came from upstreams and matched nothing that was asked",
            report.resolver.mismatches
        )
        let server = report.server
        counters(
            "detour_upstream_handshakes_total",
            "TLS handshakes with upstreams, by whether they resumed an earlier session",
            "resumed",
            [
                ("no", server.upstreamHandshakes - server.upstreamHandshakesResumed),
                ("yes", server.upstreamHandshakesResumed),
            ]
        )
        counter(
            "detour_upstream_failures_total",
            "Sockets and connections to upstreams that broke or could not be opened",
            report.server.upstreamFailures
        )
    }

    private mutating func addState(_ now: Measurements) {
        gauge("detour_cache_entries", "Answers in the cache", "\(now.cacheEntries)")
        gauge("detour_cache_limit_bytes", "What the cache may take", "\(now.cacheBytes)")
        counter("detour_cache_hits_total", "Answers from the cache", now.report.resolver.cacheHits)
        counter(
            "detour_cache_misses_total",
            "Queries that the cache had nothing for",
            now.report.resolver.waited
        )
        counter(
            "detour_cache_prefetches_total",
            "Answers that were fetched anew before their TTL was over",
            now.report.resolver.prefetched
        )
        gauge("detour_zones", "Zone files", "\(now.zones)")
        gauge("detour_override_names", "Names that zone files own, in all views", "\(now.names)")
        gauge("detour_runtime_overrides", "RRsets set at run time", "\(now.overrides)")
        gauge("detour_generation", "Counts changes of what is answered", "\(now.generation)")
        gauge("detour_workers", "Threads that serve", "\(now.report.workers)")
        counters(
            "detour_reloads_total",
            "Reloads, by what came of them",
            "outcome",
            [ReloadResult.Outcome.loaded, .unchanged, .refused].map {
                ($0.rawValue, now.reloads[$0] ?? 0)
            }
        )
        gauge(
            "detour_last_reload_successful",
            "Whether the last reload was not refused",
            now.reloadSucceeded ? "1" : "0"
        )
        if let at = now.reloadedAt {
            gauge(
                "detour_last_reload_timestamp_seconds",
                "When the last reload was done",
                MetricsText.seconds(at)
            )
        }
        counter(
            "detour_queries_not_logged_total",
            "Queries that were to be logged, and came faster than they were written",
            now.queriesNotLogged
        )
    }

    // MARK: The format

    private mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help).\n# TYPE \(name) \(type)\n"
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            let labels = labels.map { name, value in
                let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                    .replacing("\n", with: "\\n")
                return "\(name)=\"\(escaped)\""
            }
            text += "{\(labels.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    private mutating func gauge(_ name: String, _ help: String, _ value: String) {
        family(name, "gauge", help)
        sample(name, [], value)
    }

    private mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        family(name, "counter", help)
        sample(name, [], "\(value)")
    }

    private mutating func counters(
        _ name: String,
        _ help: String,
        _ label: String,
        _ values: [(String, UInt64)]
    ) {
        family(name, "counter", help)
        for (value, count) in values { sample(name, [(label, value)], "\(count)") }
    }

    private mutating func histogram(
        _ name: String,
        _ help: String,
        _ series: [(labels: [(String, String)], values: LatencyHistogram)]
    ) {
        family(name, "histogram", help)
        for (labels, values) in series {
            var sum: UInt64 = 0
            for (step, count) in values.counts.enumerated() {
                sum += count
                let bound =
                    step < LatencyHistogram.bounds.count
                    ? "\(Double(LatencyHistogram.bounds[step]) / 1e9)" : "+Inf"
                sample("\(name)_bucket", labels + [("le", bound)], "\(sum)")
            }
            sample("\(name)_sum", labels, "\(Double(values.sum) / 1e9)")
            sample("\(name)_count", labels, "\(sum)")
        }
    }
}
