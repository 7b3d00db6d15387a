public import DNS

/// All that decides answers, as one immutable snapshot: a query sees it wholly or not at all.
public final class Policy: Sendable {
    /// Upstreams, in the order of preference. Empty: what is not owned is REFUSED.
    public let upstreams: [Upstream]

    /// A policy that forwards to `upstreams`.
    public init(upstreams: [Upstream]) { self.upstreams = upstreams }

    /// A resolver that queries are forwarded to.
    public struct Upstream: Hashable, Sendable {
        /// Its address.
        public let address: IPAddress
        /// Its IPv6 scope (interface index), or 0.
        public let scope: UInt32
        /// Its port.
        public let port: UInt16

        /// An upstream at an address.
        public init(address: IPAddress, scope: UInt32 = 0, port: UInt16 = 53) {
            self.address = address
            self.scope = scope
            self.port = port
        }
    }
}
