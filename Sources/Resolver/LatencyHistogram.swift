/// How long things took, as counts in fixed steps. Plain integers: to count is a few compares.
public struct LatencyHistogram: BitwiseCopyable, Sendable {
    /// The upper ends of all steps but the last, which has none, in nanoseconds.
    public static let bounds: [UInt64] = (0..<stepCount - 1).map { ends[$0] }

    private static let stepCount = 16
    private static let ends: InlineArray<15, UInt64> = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000,
        50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000,
    ]

    private var steps = InlineArray<16, UInt64>(repeating: 0)
    /// The sum of all that was counted, in nanoseconds.
    public private(set) var sum: UInt64 = 0

    /// Nothing counted.
    public init() {}

    /// How many were counted.
    public var count: UInt64 { counts.reduce(0, &+) }

    /// How many fell into each step.
    public var counts: [UInt64] { steps.indices.map { steps[$0] } }

    /// Counts so many that began at one instant and ended at another.
    public mutating func add(_ count: UInt64 = 1, from start: Instant, to end: Instant) {
        let nanoseconds = end.nanoseconds &- start.nanoseconds
        var step = 0
        while step < LatencyHistogram.ends.count, nanoseconds > LatencyHistogram.ends[step] {
            step &+= 1
        }
        steps[step] &+= count
        sum &+= nanoseconds &* count
    }

    /// Adds what another has counted.
    public static func += (a: inout LatencyHistogram, b: LatencyHistogram) {
        for step in a.steps.indices { a.steps[step] &+= b.steps[step] }
        a.sum &+= b.sum
    }
}
