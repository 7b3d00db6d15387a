public import DNS
public import Zones

/// Everything that a configuration file says, decoded; what it does not say has its default.
///
/// `packaging/detour.schema.json` describes the same document, key by key.
public struct Configuration: Sendable {
    /// The file that says it; empty where none does.
    public private(set) var file = ""
    /// Where to serve; nil: loopback.
    public var listen: [Address]?
    /// Who is served; nil: private and loopback networks.
    public var allow: [IPPrefix]?
    /// The zones that everybody sees, in the order of their precedence.
    public var zones: [ZoneFile] = []
    /// The TTL of override records that say none, in seconds.
    public var ttl: UInt32 = 5
    /// The TTL of negative answers, in seconds.
    public var negativeTTL: UInt32 = 5
    /// Most seconds that a forwarded record's TTL shows to clients.
    public var servedTTL: UInt32 = 60
    /// Whether PTR records are made from private addresses.
    public var makesPointers = true
    /// Whether names by which devices route around this server do not exist.
    public var blocksBypass = true
    /// Where everything else is forwarded to; nil: the system's resolvers, empty: nowhere.
    public var upstreams: [Address]?
    /// What the certificates of upstreams over TLS must lead to, a PEM file; nil: an anchor of the
    /// system.
    public var upstreamAnchors: String?
    /// How an upstream is chosen.
    public var strategy = Strategy.fastest
    /// Names that other upstreams are asked about.
    public var forward: [ForwardRule] = []
    /// What some clients see instead.
    public var views: [View] = []
    /// The cache of forwarded answers.
    public var cache = Cache()
    /// The control socket's path; nil: none.
    public var control: String?
    /// The folder of the journal of runtime overrides; nil: none.
    public var state: String?
    /// Where Prometheus finds metrics; nil: nowhere.
    public var metrics: Address?
    /// The user to become once the sockets are bound, as `NAME` or `NAME:GROUP`; nil: stay.
    public var user: String?
    /// How much one client may ask for, and all together.
    public var limits = Limits()
    /// How many threads answer; nil: one for each processor.
    public var workers: Int?
    /// What is logged, and how.
    public var log = Log()
    /// What `version.bind` and `id.server` answer in class CH.
    public var chaos = Chaos()
    /// What the verifier requires.
    public var verify = Verify()

    /// A configuration that says nothing.
    public init() {}

    /// How the next upstream of a group is chosen.
    public enum Strategy: String, Sendable, CaseIterable {
        /// In their order: the next one where one fails.
        case sequential
        /// The one that answers soonest.
        case fastest
        /// All at once.
        case race
    }

    /// Names below a suffix and the upstreams that know them.
    public struct ForwardRule: Sendable {
        /// The name itself and all below it.
        public var suffix: Name
        /// Whom to ask.
        public var upstreams: [Address]
        /// What their certificates must lead to, a PEM file; nil: as elsewhere.
        public var upstreamAnchors: String?
        /// How one of them is chosen; nil: as elsewhere.
        public var strategy: Strategy?
    }

    /// What a group of clients sees: its own zones over everybody's, its own upstreams.
    public struct View: Sendable {
        /// What messages call it.
        public var name: String
        /// The clients' networks; empty: any.
        public var clients: [IPPrefix]
        /// The addresses of ours that they ask; empty: any.
        public var addresses: [IPAddress]
        /// Zones over the base's, in the order of their precedence.
        public var zones: [ZoneFile]
        /// Whom to ask instead; nil: as everybody.
        public var upstreams: [Address]?
        /// What their certificates must lead to, a PEM file; nil: as elsewhere.
        public var upstreamAnchors: String?
        /// How one of them is chosen; nil: as elsewhere.
        public var strategy: Strategy?
    }

    /// The cache of forwarded answers.
    public struct Cache: Sendable {
        /// Its budget in octets.
        public var octets = 64 << 20
        /// How long answers past their TTL may help out, in seconds.
        public var staleFor: UInt32 = 86_400
        /// The least time that an answer is kept, in seconds; a TTL of 0 stays 0.
        public var minimumTTL: UInt32 = 0
        /// The longest time that an answer is kept, in seconds.
        public var maximumTTL: UInt32 = 86_400
    }

    /// What is logged, and how.
    public struct Log: Sendable {
        /// Which queries.
        public var queries = Queries.off
        /// How a line looks; nil: text on a terminal, logfmt elsewhere.
        public var format: Format?

        /// Which queries are logged.
        public enum Queries: String, Sendable, CaseIterable {
            /// None.
            case off
            /// Some.
            case sampled
            /// Each.
            case all
        }

        /// How a line looks.
        public enum Format: String, Sendable, CaseIterable {
            /// For a person.
            case text
            /// `key=value`.
            case logfmt
            /// One JSON object.
            case json
        }
    }

    /// Answers in class CH; nil: REFUSED.
    public struct Chaos: Sendable {
        /// `version.bind` and `version.server`.
        public var version: String?
        /// `id.server` and `hostname.bind`.
        public var id: String?
    }
}

extension Configuration {
    /// The configuration that the octets of `file` say, or all that is wrong with it.
    ///
    /// Paths in it are relative to the folder of `file`.
    public init(parsing text: [UInt8], file: String) throws(RejectedConfiguration) {
        let root: JSONNode
        do throws(JSONParser.Failure) {
            root = try JSONParser.parse(text)
        } catch {
            throw RejectedConfiguration(errors: [
                SettingError(
                    file: file,
                    line: error.line,
                    column: error.column,
                    sentence: error.sentence
                )
            ])
        }
        var decoding = Decoding(file: file)
        self.init(Setting(path: "", node: root), &decoding)
        self.file = file
        guard decoding.errors.isEmpty else {
            throw RejectedConfiguration(
                errors: decoding.errors.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
            )
        }
    }
}
