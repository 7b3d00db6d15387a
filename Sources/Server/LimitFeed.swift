public import Platform
import Resolver

/// The limits that clients reach at any worker, for one reader.
public final class LimitFeed: Sendable {
    /// Signalled when a client has reached one.
    public let wakeup: Wakeup

    init() throws(Errno) { wakeup = try Wakeup() }
}
