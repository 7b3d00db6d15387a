public import Certificates

/// Everything that one run has to say: the model that each report format is made of.
public struct Report: Sendable {
    /// The endpoints, ordered by name, address and port.
    public let verifications: [Verification]
    /// What was left out, and why.
    public let skipped: [SkippedTarget]
    /// What is odd about the anchor files.
    public let anchorWarnings: [AnchorWarning]
    /// Baseline entries that accept nothing any more. Each is a failure.
    public let staleEntries: [Baseline.Entry]
    /// The moment at which everything was judged.
    public let time: Moment
    /// How long the run took, in seconds; nil where nothing was contacted.
    public let duration: Double?
    /// Whether it was ended before its end.
    public let isInterrupted: Bool

    /// A report over some verifications; their order does not matter.
    public init(
        _ verifications: [Verification],
        skipped: [SkippedTarget] = [],
        anchorWarnings: [AnchorWarning] = [],
        baseline: Baseline = Baseline(),
        time: Moment,
        duration: Double? = nil,
        isInterrupted: Bool = false
    ) {
        self.verifications = verifications.sorted { $0.order.lexicographicallyPrecedes($1.order) }
        self.skipped = skipped.sorted { ($0.name, $0.reason) < ($1.name, $1.reason) }
        self.anchorWarnings = anchorWarnings
        // An interrupted run has not looked everywhere, so that absence proves nothing.
        staleEntries = isInterrupted ? [] : baseline.stale(in: verifications, at: time)
        self.time = time
        self.duration = duration
        self.isInterrupted = isInterrupted
    }

    /// How many endpoints came out in which way; those whose failure is waived count as passed.
    public func count(_ verdict: Verdict) -> Int {
        verifications.count { $0.countedVerdict == verdict }
    }

    /// The status to exit with (sysexits where there is one).
    public func exitStatus(warningsAreErrors: Bool = false) -> Int32 {
        if count(.failed) > 0 || !staleEntries.isEmpty { return 1 }
        if count(.error) > 0 { return 2 }
        let hasWarnings = count(.passedWithWarnings) > 0 || !anchorWarnings.isEmpty
        return warningsAreErrors && hasWarnings ? 3 : 0
    }
}

extension Verification {
    /// The verdict as it counts: a waived failure passes with a warning.
    public var countedVerdict: Verdict {
        verdict == .failed && isWaived ? .passedWithWarnings : verdict
    }

    fileprivate var order: [String] {
        // Ports by their value: padded, the text orders as the number does.
        let port = String(evidence.port)
        let padded = String(repeating: "0", count: 5 - port.utf8.count) + port
        return [
            evidence.name.lowercased(), evidence.address, padded, evidence.redirectedFrom ?? "",
        ]
    }
}
