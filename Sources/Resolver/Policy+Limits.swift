public import DNS

extension Policy {
    /// How much one client may ask for. As they stand here, nobody is limited.
    public struct Limits: Hashable, Sendable {
        /// Queries a second of one client, over each transport; 0: any number.
        public var queries = 0
        /// Queries that it may send at once, beyond that rate.
        public var burst = 1
        /// Forwarded queries of one client that wait for an answer at a time; 0: any number.
        public var waiting = 0
        /// TCP connections of one client at a time.
        public var connectionsPerClient = Int.max
        /// How many leading bits of an IPv4 address make a client, 1 to 32.
        public var ipv4Prefix = 32
        /// How many leading bits of an IPv6 address make a client, 1 to 128.
        public var ipv6Prefix = 64
        /// Clients that are not limited.
        public var exempt: [IPPrefix] = []

        /// No limits.
        public init() {}
    }

    /// How much one client may ask for.
    public var limits: Limits { settings.limits }
}
