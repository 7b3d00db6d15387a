public import Resolver

extension Server {
    /// How a server is to work. The defaults suit an office.
    public struct Settings: Sendable {
        /// How many TCP connections are open at a time, each worker its part of them.
        public var connections = 1024
        /// After how many milliseconds a TCP connection is closed on which nothing happens and
        /// nothing is in flight (RFC 7766, 6.2.3).
        public var idleMilliseconds: UInt64 = 10_000
        /// How many milliseconds `Server.stop` waits for what is in flight.
        public var graceMilliseconds: UInt64 = 2_000
        /// How many sockets, each on a random port of its own, a worker has for one upstream.
        /// The resolver names them by number, and so must know of no more.
        public var socketsPerUpstream = 64
        /// Told why an upstream over TLS could not be asked, now and then; from any worker.
        public var upstreamFailed: (@Sendable (Policy.Upstream, String) -> Void)?

        /// The defaults.
        public init() {}
    }
}
