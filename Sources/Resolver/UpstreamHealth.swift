/// How an upstream has been doing: its round-trip time, its misses and failures, and its streams.
struct UpstreamHealth {
    /// Smoothed round-trip time and its mean deviation, in microseconds (RFC 6298); 0: unknown.
    private(set) var smoothedRTT: UInt32 = 0
    private(set) var deviation: UInt32 = 0
    /// Answers that did not come when expected, since the last that came.
    private var misses = 0
    /// When the first of them was asked for.
    private var firstMissAt = Instant(nanoseconds: 0)
    private(set) var lastAnswerAt = Instant(nanoseconds: 0)
    /// Questions that it could not answer and another upstream could, since the last it answered.
    private var failures = 0
    /// Nothing comes from it.
    private(set) var isDown = false
    /// What comes from it is failures, where others give answers.
    private(set) var isFailing = false
    /// When a copy of a query may next be spent on finding out whether it is well again.
    private var nextProbeAt = Instant(nanoseconds: 0)
    /// Until when truncated answers are fetched from others.
    private var streamAvoidedUntil = Instant(nanoseconds: 0)

    /// What is only told, and decides nothing.
    var counts = UpstreamCounts()

    /// One loss is nothing, two are bad luck; and a burst of losses within a moment is one event:
    /// what one name suffers must not count as the upstream's state.
    private static let missesUntilDown = 3
    private static let silenceUntilDown: UInt64 = 200
    private static let failuresUntilFailing = 3
    private static let probeInterval: UInt64 = 1_000
    private static let streamAvoidance: UInt64 = 3_000

    /// Whether it is left alone but for probes, while another upstream is well.
    var isOut: Bool { isDown || isFailing }

    /// How long to wait for an answer before another attempt is worth its cost, in milliseconds:
    /// about the 95th percentile of what the upstream takes, and never so short that a busy moment
    /// doubles the load.
    var patience: UInt64 {
        guard smoothedRTT > 0 else { return 150 }
        let slack = max(UInt64(deviation) * 4, 12_000)
        return min(max((UInt64(smoothedRTT) + slack) / 1000, 15), 400)
    }

    /// A message came that answers what was asked.
    mutating func heard(after sentAt: Instant, at now: Instant) {
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
        counts.answers &+= 1
        counts.latencies.add(from: sentAt, to: now)
    }

    /// What came was an answer, and no failure.
    mutating func answered() {
        failures = 0
        isFailing = false
    }

    /// It failed at a question that another upstream could answer.
    mutating func failed(at now: Instant) {
        failures += 1
        guard failures >= UpstreamHealth.failuresUntilFailing, !isFailing else { return }
        isFailing = true
        nextProbeAt = now.advanced(byMilliseconds: UpstreamHealth.probeInterval)
    }

    /// An answer did not come when expected. It counts only where the upstream has answered nothing
    /// since: what one name suffers is not the upstream's fault.
    mutating func missed(_ sentAt: Instant, at now: Instant) {
        counts.losses &+= 1
        guard lastAnswerAt < sentAt else { return }
        if misses == 0 { firstMissAt = sentAt }
        misses += 1
        let silence = firstMissAt.advanced(byMilliseconds: UpstreamHealth.silenceUntilDown)
        if misses >= UpstreamHealth.missesUntilDown, now >= silence { markDown(at: now) }
    }

    /// The path is known to be broken: no need to count.
    mutating func refused(at now: Instant) { markDown(at: now) }

    /// Whether a probe is due; it then counts as sent.
    mutating func takesProbe(at now: Instant) -> Bool {
        guard isOut, now >= nextProbeAt else { return false }
        nextProbeAt = now.advanced(byMilliseconds: UpstreamHealth.probeInterval)
        return true
    }

    private mutating func markDown(at now: Instant) {
        if !isDown { nextProbeAt = now.advanced(byMilliseconds: UpstreamHealth.probeInterval) }
        isDown = true
    }

    // MARK: Streams

    /// Whether a stream to it has not lately failed or kept everybody waiting.
    func takesStream(at now: Instant) -> Bool { now >= streamAvoidedUntil }

    /// A stream to it failed or did not answer in time.
    mutating func streamFailed(at now: Instant) {
        streamAvoidedUntil = now.advanced(byMilliseconds: UpstreamHealth.streamAvoidance)
    }

    /// A stream to it answered.
    mutating func streamAnswered() { streamAvoidedUntil = Instant(nanoseconds: 0) }
}
