/// How many attempts may be made again because nothing came.
///
/// A flood of names that nobody answers would multiply itself by all its retries. What retries are
/// for takes few: one query in ten lost needs eleven retries a hundred queries; an upstream that goes
/// down, one a query for the moment until that is known.
struct RetryBudget {
    /// In hundredths of a retry.
    private var credit = RetryBudget.most
    private var lastAt = Instant(nanoseconds: 0)

    private static let most: UInt64 = 2_000 * 100
    /// What a new exchange adds.
    private static let perExchange: UInt64 = 30
    /// What a millisecond adds: 500 retries a second.
    private static let perMillisecond: UInt64 = 50

    mutating func earn() { credit = min(credit + RetryBudget.perExchange, RetryBudget.most) }

    /// Takes one retry; false where there is none left.
    mutating func spend(at now: Instant) -> Bool {
        let elapsed = (now.nanoseconds &- lastAt.nanoseconds) / 1_000_000
        if elapsed > 0 {
            lastAt = now
            let earned = min(elapsed, 10_000) * RetryBudget.perMillisecond
            credit = min(credit + earned, RetryBudget.most)
        }
        guard credit >= 100 else { return false }
        credit -= 100
        return true
    }
}
