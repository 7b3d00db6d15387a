public import DNS

extension Configuration {
    /// How much one client may ask for, and all together. A client is an address, or a network of
    /// the length that is given here. The defaults are far above an office behind one address.
    public struct Limits: Hashable, Sendable {
        /// Queries a second of one client, over each transport; 0: any number.
        public var queries = 5_000
        /// Queries that it may send at once, beyond that rate.
        public var burst = 20_000
        /// Forwarded queries of one client that wait for an answer at a time; 0: any number.
        public var waiting = 4_096
        /// TCP connections at a time, all clients together.
        public var connections = 1_024
        /// TCP connections of one client at a time.
        public var connectionsPerClient = 128
        /// How many leading bits of an IPv4 address make a client.
        public var ipv4Prefix = 32
        /// How many leading bits of an IPv6 address make a client: a host has a /64 to itself.
        public var ipv6Prefix = 64
        /// Clients that are not limited, beside the number of connections of all together.
        public var exempt = IPPrefix.loopback

        /// The keys, as configuration and command line have them.
        public enum Key: String, CaseIterable, SettingKey, Sendable {
            case queries, burst, waiting, connections, connectionsPerClient
            case ipv4Prefix, ipv6Prefix, exempt

            /// What a number may be; nil for what is none.
            public var range: ClosedRange<Int>? {
                switch self {
                case .queries, .waiting: 0...10_000_000
                case .burst: 1...10_000_000
                case .connections: 1...1_000_000
                case .connectionsPerClient: 1...1_000_000
                case .ipv4Prefix: 1...32
                case .ipv6Prefix: 1...128
                case .exempt: nil
                }
            }
        }

        /// The defaults.
        public init() {}

        init(_ setting: Setting, _ decoding: inout Decoding) {
            self.init()
            guard let section = setting.section(Key.self, &decoding) else { return }
            for key in Key.allCases {
                guard let setting = section[key], let range = key.range else { continue }
                if let number = setting.integer(range, &decoding) { self[key] = number }
            }
            exempt = section[.exempt]?.prefixes(&decoding) ?? exempt
        }

        /// The number of a key; that of `exempt` is the length of its list, and cannot be set.
        public subscript(key: Key) -> Int {
            get {
                switch key {
                case .queries: queries
                case .burst: burst
                case .waiting: waiting
                case .connections: connections
                case .connectionsPerClient: connectionsPerClient
                case .ipv4Prefix: ipv4Prefix
                case .ipv6Prefix: ipv6Prefix
                case .exempt: exempt.count
                }
            }
            set {
                switch key {
                case .queries: queries = newValue
                case .burst: burst = newValue
                case .waiting: waiting = newValue
                case .connections: connections = newValue
                case .connectionsPerClient: connectionsPerClient = newValue
                case .ipv4Prefix: ipv4Prefix = newValue
                case .ipv6Prefix: ipv6Prefix = newValue
                case .exempt: break
                }
            }
        }
    }
}

extension IPPrefix {
    /// This machine itself.
    static let loopback = [
        IPPrefix(IPAddress(ipv4: 0x7F00_0000), length: 96 + 8),
        IPPrefix(IPAddress(high: 0, low: 1), length: 128),
    ]
}
