internal import CLinux

/// The machine's clocks. To be read once per turn of a loop.
public enum Clock {
    /// Nanoseconds since some point in the past; never goes back.
    public static var monotonic: UInt64 {
        let time = read(CLOCK_MONOTONIC)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Seconds since 1970-01-01 00:00 UTC, leap seconds not counted; can be set, and so jump.
    public static var secondsSince1970: Int64 { Int64(read(CLOCK_REALTIME).tv_sec) }

    /// Milliseconds since 1970-01-01 00:00 UTC, otherwise as `secondsSince1970`.
    public static var millisecondsSince1970: Int64 {
        let time = read(CLOCK_REALTIME)
        return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // Safe: the call writes one struct of ours; it cannot fail for these two clocks.
        unsafe clock_gettime(clock, &time)
        return time
    }
}
