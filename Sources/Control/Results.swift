/// How things are.
public struct StatusResult: Codable, Sendable {
    /// The daemon's version.
    public var version: String
    /// Its process.
    public var process: Int32
    /// For how many seconds it has served.
    public var uptime: Double
    /// What it serves, over UDP and TCP.
    public var addresses: [String]
    /// How many threads serve.
    public var workers: Int
    /// Counts all changes of what is answered.
    public var generation: UInt32
    /// How many names the zone files own, in all views.
    public var names: Int
    /// The zone files, in their order, a view's behind the base's.
    public var zones: [Zone]
    /// The views, by their names.
    public var views: [String]
    /// How many overrides were set at run time.
    public var overrides: Int
    /// Whether those are there again after a restart.
    public var keepsOverrides: Bool
    /// Queries that came.
    public var queries: UInt64
    /// What became of them, by source.
    public var answers: [String: UInt64]
    /// How many answers the cache has.
    public var cached: Int
    /// Who is asked for the rest.
    public var upstreams: [Upstream]
    /// The last reload, if there was one.
    public var reload: ReloadResult?

    /// A zone file.
    public struct Zone: Codable, Sendable {
        /// Its path.
        public var file: String
        /// What its records mean.
        public var kind: String
        /// The view that it belongs to; nil: the base.
        public var view: String?
    }

    /// An upstream.
    public struct Upstream: Codable, Sendable {
        /// Its address and port.
        public var address: String
        /// Whether it answers.
        public var isUp: Bool
        /// Its smoothed round-trip time, in seconds; nil: unknown.
        public var rtt: Double?
        /// Queries that were sent to it.
        public var queries: UInt64
        /// Queries whose answer did not come when expected.
        public var losses: UInt64
    }
}

/// What came of a reload.
public struct ReloadResult: Codable, Sendable {
    /// What of it is in force.
    public enum Outcome: String, Codable, Sendable {
        /// The new state is served.
        case loaded
        /// Nothing has changed: the state that was read last is served.
        case unchanged
        /// Something is wrong: the state that was served is still served.
        case refused
    }

    /// What of it is in force.
    public var outcome: Outcome
    /// When it was done.
    public var at: Timestamp
    /// How many milliseconds it took.
    public var milliseconds: Int
    /// The generation in force.
    public var generation: UInt32
    /// How many names the zone files own, in all views.
    public var names: Int
    /// Names that are owned now and were not before.
    public var added: Int?
    /// Names that were owned before and are not now.
    public var removed: Int?
    /// Names that are owned by other records than before.
    public var changed: Int?
    /// What was found, each as `file:line:column: error: …`.
    public var findings: [String]
}

/// What was set.
public struct SetResult: Codable, Sendable {
    /// As it is kept.
    public var override: Override
    /// Whether it is there again after a restart.
    public var isKept: Bool
}

/// What was taken away.
public struct UnsetResult: Codable, Sendable {
    /// What was set.
    public var overrides: [Override]
}

/// What is set.
public struct ListResult: Codable, Sendable {
    /// All of it, the oldest first; answers name an override by its place here, from 1.
    public var overrides: [Override]
}

/// What was forgotten.
public struct FlushResult: Codable, Sendable {
    /// How many answers.
    public var answers: Int
}

/// One line of `log`: a message of the daemon's, or a query as a line of text.
public struct LogResult: Codable, Sendable {
    /// A message about the daemon's life.
    public var message: String?
    /// A query and what became of it.
    public var query: String?
    /// So many queries are missing here: they came faster than they were read.
    public var missing: UInt64?
}
