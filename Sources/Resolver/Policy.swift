public import DNS
public import Zones

/// All that decides answers, as one immutable snapshot: a query sees it wholly or not at all.
public final class Policy: Sendable {
    /// What some clients see instead of the base; the longest network wins.
    public let views: [View]
    /// The base's layers of files.
    let layers: [Layer]
    /// What stands before the files.
    public let runtime: Runtime
    /// What each of them sees, the base first.
    let horizon: Horizon
    /// Who is served; everybody else gets REFUSED.
    let allowed: [IPPrefix]
    /// Upstreams, in the order of preference. Empty: what is not owned is REFUSED.
    public let upstreams: [Upstream]
    /// Groups of upstreams; the first is asked what no rule is about. Empty without upstreams.
    public let groups: [UpstreamGroup]
    /// What tells each group's answers apart in the cache.
    let partitions: [UInt64]
    let forwardRules: ForwardRules
    let settings: Settings

    /// A policy of override layers, in their order of precedence, and upstreams for the rest.
    ///
    /// Without `groups` all upstreams are one. A group or a rule that names what is not there is
    /// left out.
    public init(
        layers: [Layer],
        views: [View] = [],
        upstreams: [Upstream],
        groups: [UpstreamGroup] = [],
        forwardRules: [ForwardRule] = [],
        allowed: [IPPrefix] = IPPrefix.privateNetworks,
        settings: Settings = Settings(),
        runtime: Runtime = Runtime()
    ) {
        self.views = views
        self.layers = layers
        self.runtime = runtime
        horizon = Horizon(base: layers, views: views, runtime: runtime)
        self.upstreams = upstreams
        let everybody = UpstreamGroup(members: Array(upstreams.indices))
        self.groups = upstreams.isEmpty ? [] : groups.isEmpty ? [everybody] : groups
        partitions = self.groups.map { Policy.partition(of: $0, among: upstreams) }
        let groupIndices = self.groups.indices
        self.forwardRules = ForwardRules(
            forwardRules.filter { $0.group.map(groupIndices.contains) ?? true }
        )
        self.allowed = allowed
        self.settings = settings
    }

    /// The same policy with other layers before its files, which it shares. Complexity: O(views).
    public func placing(_ runtime: Runtime, generation: UInt32) -> Policy {
        Policy(self, runtime, generation)
    }

    private init(_ other: Policy, _ runtime: Runtime, _ generation: UInt32) {
        views = other.views
        layers = other.layers
        self.runtime = runtime
        horizon = Horizon(base: layers, views: views, runtime: runtime)
        upstreams = other.upstreams
        groups = other.groups
        partitions = other.partitions
        forwardRules = other.forwardRules
        allowed = other.allowed
        var settings = other.settings
        settings.generation = generation
        self.settings = settings
    }

    /// Layers that are made while the server runs, and go before all files of their view.
    public struct Runtime: Sendable {
        /// The base's.
        public var base: Layer?
        /// Each view's, by its name; those of views that are not there are left out.
        public var views: [String: Layer]

        /// Layers for the base and for views.
        public init(base: Layer? = nil, views: [String: Layer] = [:]) {
            self.base = base
            self.views = views
        }

        /// Whether a layer is one of these.
        func contains(_ layer: Layer) -> Bool {
            layer === base || views.values.contains { $0 === layer }
        }
    }

    /// Counts policies; the serial of synthesized SOA records.
    public var generation: UInt32 { settings.generation }

    /// A compiled layer of zones, shared between workers and between policies that both have it.
    public final class Layer: Sendable {
        /// The layer's index.
        public let index: ZoneIndex

        /// A layer around an index.
        public init(_ index: consuming ZoneIndex) { self.index = index }
    }

    /// Numbers and switches that are not zones.
    public struct Settings: Sendable {
        /// Counts policies; the serial of synthesized SOA records.
        public var generation: UInt32 = 1
        /// The TTL of negative answers that no zone speaks for, in seconds.
        public var negativeTTL: UInt32 = 5
        /// Most seconds that a forwarded record's TTL shows to clients, so that a new override is
        /// seen soon.
        public var servedTTL: UInt32 = 60
        /// Most seconds that a record is kept, whatever its TTL says.
        public var maximumTTL: UInt32 = 86_400
        /// Most seconds that a negative answer is kept (RFC 2308, 5).
        public var maximumNegativeTTL: UInt32 = 3_600
        /// Least seconds that a record is kept, unless its TTL is 0.
        public var minimumTTL: UInt32 = 0
        /// For how many seconds past its TTL an answer may still be served while no upstream
        /// gives a newer one (RFC 8767); 0: never.
        public var staleSeconds: UInt32 = 86_400
        /// The TTL of answers that are past theirs, in seconds (RFC 8767, 5).
        public var staleTTL: UInt32 = 30
        /// What `version.bind` answers in class CH, 255 octets at most; empty: REFUSED.
        public var version: [UInt8] = []
        /// What `id.server` answers in class CH, 255 octets at most; empty: REFUSED.
        public var identity: [UInt8] = []
        /// Whether names by which devices route around this server are NXDOMAIN (SEMANTICS 5).
        public var blocksBypass = true
        /// Whether `test.` goes upstream: upstreams that somebody chose may know such names.
        public var forwardsTestNames = false
        /// How much one client may ask for.
        public var limits = Limits()

        /// The defaults.
        public init() {}
    }

    /// A resolver that queries are forwarded to.
    public struct Upstream: Hashable, Sendable {
        /// Its address.
        public let address: IPAddress
        /// Its IPv6 scope (interface index), or 0.
        public let scope: UInt32
        /// Its port.
        public let port: UInt16
        /// How it proves who it is over TLS (RFC 7858); nil: it is asked in the clear.
        public let identity: Identity?
        /// What its certificate must lead to; nil: an anchor of the system.
        public let anchors: Anchors?

        /// What an upstream's certificate must be for.
        public enum Identity: Hashable, Sendable {
            /// This name.
            case name(String)
            /// The upstream's address.
            case address
        }

        /// The certificates of a PEM file, as it was when the policy was made.
        public struct Anchors: Hashable, Sendable {
            /// The file.
            public let file: String
            /// What was in it.
            public let octets: [UInt8]

            /// The anchors of a file.
            public init(file: String, octets: [UInt8]) {
                self.file = file
                self.octets = octets
            }
        }

        /// An upstream at an address.
        public init(
            address: IPAddress,
            scope: UInt32 = 0,
            port: UInt16 = 53,
            identity: Identity? = nil,
            anchors: Anchors? = nil
        ) {
            self.address = address
            self.scope = scope
            self.port = port
            self.identity = identity
            self.anchors = anchors
        }

        /// `192.0.2.1:53`, `[2001:db8::1]:53`.
        public var text: String { address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
    }
}

extension IPPrefix {
    /// Private, shared, link-local and loopback networks: who is served unless told otherwise.
    public static let privateNetworks: [IPPrefix] = [
        IPPrefix(IPAddress(ipv4: 0x7F00_0000), length: 96 + 8),
        IPPrefix(IPAddress(ipv4: 0x0A00_0000), length: 96 + 8),
        IPPrefix(IPAddress(ipv4: 0xC0A8_0000), length: 96 + 16),
        IPPrefix(IPAddress(ipv4: 0xAC10_0000), length: 96 + 12),
        IPPrefix(IPAddress(ipv4: 0x6440_0000), length: 96 + 10),
        IPPrefix(IPAddress(ipv4: 0xA9FE_0000), length: 96 + 16),
        IPPrefix(IPAddress(high: 0, low: 1), length: 128),
        IPPrefix(IPAddress(high: 0xFC00_0000_0000_0000, low: 0), length: 7),
        IPPrefix(IPAddress(high: 0xFE80_0000_0000_0000, low: 0), length: 10),
    ]
}
