/// A point on the monotonic clock, in nanoseconds; the caller reads it once per loop turn.
@frozen
public struct Instant: Comparable, BitwiseCopyable, Hashable, Sendable {
    /// Nanoseconds since the clock's origin.
    public let nanoseconds: UInt64

    /// The instant that many nanoseconds after the clock's origin.
    @inlinable
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Whether `a` is before `b`.
    @inlinable
    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant `milliseconds` later.
    @inlinable
    public func advanced(byMilliseconds milliseconds: UInt64) -> Instant {
        Instant(nanoseconds: nanoseconds &+ milliseconds &* 1_000_000)
    }

    /// Whole seconds since the clock's origin.
    @inlinable
    public var seconds: UInt64 { nanoseconds / 1_000_000_000 }
}
