/// Waits until a burst of changes is over: editors and tools write a file in several steps.
///
/// All times are nanoseconds of the monotonic clock.
struct Debounce {
    /// How long nothing more must come.
    var quiet: UInt64 = 60_000_000
    /// How long it is waited at most, where changes go on coming.
    var longest: UInt64 = 300_000_000

    private var first: UInt64?
    private var last: UInt64 = 0

    init() {}

    /// When the burst is taken for over; nil: nothing has come.
    var deadline: UInt64? { first.map { min($0 + longest, last + quiet) } }

    /// Something has changed.
    mutating func note(at now: UInt64) {
        first = first ?? now
        last = now
    }

    /// Whether a burst is over; it is forgotten then.
    mutating func takeDue(at now: UInt64) -> Bool {
        guard let deadline, deadline <= now else { return false }
        first = nil
        return true
    }
}
