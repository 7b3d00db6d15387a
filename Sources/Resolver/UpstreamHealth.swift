/// How an upstream has been doing: its round-trip time, its misses, and what of EDNS it takes.
struct UpstreamHealth {
    /// Smoothed round-trip time and its mean deviation, in microseconds (RFC 6298); 0: unknown.
    private(set) var smoothedRTT: UInt32 = 0
    private(set) var deviation: UInt32 = 0
    /// Answers that did not come when expected, since the last that came.
    private(set) var misses = 0
    private(set) var lastAnswerAt = Instant(nanoseconds: 0)
    /// Whether it is left alone but for probes.
    private(set) var isDown = false
    /// When a copy of a query may next be spent on finding out whether it is back.
    private(set) var nextProbeAt = Instant(nanoseconds: 0)
    /// Until when it is asked without EDNS, because it could not take it.
    private(set) var withoutEDNSUntil = Instant(nanoseconds: 0)

    /// After three misses in a row an upstream is down: one loss is nothing, two are bad luck.
    private static let missesUntilDown = 3
    private static let probeInterval: UInt64 = 1_000

    /// How long to wait for an answer before another attempt is worth its cost, in milliseconds.
    var patience: UInt64 {
        guard smoothedRTT > 0 else { return 150 }
        let slack = max(UInt64(deviation) * 4, 12_000)
        return min(max((UInt64(smoothedRTT) + slack) / 1000, 15), 400)
    }

    /// What upstreams are compared by: those that are down last, then the faster first.
    var cost: UInt64 { isDown ? UInt64.max : UInt64(smoothedRTT) }

    mutating func answered(after sentAt: Instant, at now: Instant) {
        let rtt = UInt32(
            truncatingIfNeeded: min((now.nanoseconds &- sentAt.nanoseconds) / 1000, 10_000_000)
        )
        if smoothedRTT == 0 {
            smoothedRTT = max(rtt, 1)
            deviation = rtt / 2
        } else {
            let difference = rtt > smoothedRTT ? rtt - smoothedRTT : smoothedRTT - rtt
            deviation = (deviation * 3 + difference) / 4
            smoothedRTT = max((smoothedRTT * 7 + rtt) / 8, 1)
        }
        misses = 0
        isDown = false
        lastAnswerAt = now
    }

    /// An answer did not come when expected. It counts only where the upstream has answered nothing
    /// since: what one name suffers is not the upstream's fault.
    mutating func missed(_ sentAt: Instant, at now: Instant) {
        guard lastAnswerAt < sentAt else { return }
        misses += 1
        if misses >= UpstreamHealth.missesUntilDown { markDown(at: now) }
    }

    /// The path is known to be broken: no need to count.
    mutating func refused(at now: Instant) { markDown(at: now) }

    /// Whether a probe is due; it then counts as sent.
    mutating func takesProbe(at now: Instant) -> Bool {
        guard isDown, now >= nextProbeAt else { return false }
        nextProbeAt = now.advanced(byMilliseconds: UpstreamHealth.probeInterval)
        return true
    }

    func takesEDNS(at now: Instant) -> Bool { now >= withoutEDNSUntil }

    /// It answered without EDNS what it did not answer with it.
    mutating func learnedNoEDNS(at now: Instant) {
        withoutEDNSUntil = now.advanced(byMilliseconds: 900_000)
    }

    private mutating func markDown(at now: Instant) {
        if !isDown { nextProbeAt = now.advanced(byMilliseconds: UpstreamHealth.probeInterval) }
        isDown = true
    }
}
