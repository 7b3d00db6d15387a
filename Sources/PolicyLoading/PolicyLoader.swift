public import Configuration
import DNS
import Platform
public import Resolver
public import Zones

/// Makes a policy of a configuration and the zone files that it names: all of them, or none.
public struct PolicyLoader {
    private let configuration: Configuration

    /// A loader for a configuration.
    public init(_ configuration: Configuration) { self.configuration = configuration }

    /// What came of a configuration; without a policy it must not be served.
    public struct Loaded: Sendable {
        /// All that decides answers; nil where something is wrong.
        public var policy: Policy?
        /// What was found in the zone files, in their order, the base's first.
        public var findings: [ZoneFileError] = []
        /// What the configuration says that this machine does not have.
        public var errors: [SettingError] = []
        /// How many names are owned, in all views.
        public var nameCount = 0
        /// What was in each file that was read, by its path; nil where it could not be.
        public var digests: [String: ContentDigest?] = [:]
        /// Whether all zone files may be served.
        var isUsable = true
    }

    /// Reads the zone files. `upstreams` are the base's, which may be the system's own.
    public func load(generation: UInt32, upstreams: [Policy.Upstream]) -> Loaded {
        var loaded = Loaded()
        let base = layers(of: configuration.zones, into: &loaded)
        var groups = UpstreamGroups(base: upstreams, configuration)
        let views = views(groups: &groups, into: &loaded)
        let rules = rules(groups: &groups, hasDefault: !upstreams.isEmpty)
        loaded.errors += groups.errors
        guard loaded.isUsable, loaded.errors.isEmpty else { return loaded }
        loaded.policy = Policy(
            layers: base,
            views: views,
            upstreams: groups.upstreams,
            groups: groups.groups,
            forwardRules: rules,
            allowed: configuration.allow ?? IPPrefix.privateNetworks,
            settings: settings(generation: generation)
        )
        return loaded
    }

    /// The octets of a zone file, or of one that it includes.
    public static func octets(at path: String) throws(IncludeError) -> [UInt8] {
        do throws(FileError) {
            return try File.octets(at: path)
        } catch {
            // Whoever started the daemon may read it, and not the user that it has become.
            let whom =
                error.error == .permissionDenied
                ? ", for the user \(LocalPeer.name(ofUser: LocalPeer.ownUser))" : ""
            throw IncludeError(reason: "\(error.error)\(whom)")
        }
    }

    private func layers(of files: [ZoneFile], into loaded: inout Loaded) -> [Policy.Layer] {
        var layers: [Policy.Layer] = []
        var random = Random()
        for group in ZoneCompiler.layers(of: files) {
            let layer = ZoneCompiler.compile(group, seed: random.next()) {
                path throws(IncludeError) in
                loaded.digests[path] = .some(nil)
                let octets = try PolicyLoader.octets(at: path)
                loaded.digests[path] = ContentDigest(octets)
                return octets
            }
            loaded.findings += layer.findings
            loaded.isUsable = loaded.isUsable && layer.isUsable
            let index = layer.take()
            loaded.nameCount += index.nameCount
            layers.append(Policy.Layer(index))
        }
        return layers
    }

    private func views(groups: inout UpstreamGroups, into loaded: inout Loaded) -> [Policy.View] {
        var views: [Policy.View] = []
        for (index, view) in configuration.views.enumerated() {
            var group: Int?
            if let upstreams = view.upstreams, !upstreams.isEmpty {
                group = groups.index(
                    of: upstreams,
                    view.strategy ?? configuration.strategy,
                    path: "views[\(index)].upstreams"
                )
            }
            views.append(
                Policy.View(
                    name: view.name,
                    clients: view.clients,
                    addresses: view.addresses,
                    layers: layers(of: view.zones, into: &loaded),
                    group: group,
                    forwards: view.upstreams?.isEmpty != true
                )
            )
        }
        return views
    }

    private func rules(groups: inout UpstreamGroups, hasDefault: Bool) -> [Policy.ForwardRule] {
        var rules: [Policy.ForwardRule] = []
        for (index, rule) in configuration.forward.enumerated() {
            let group = groups.index(
                of: rule.upstreams,
                rule.strategy ?? configuration.strategy,
                path: "forward[\(index)].upstreams"
            )
            rules.append(Policy.ForwardRule(suffix: rule.suffix, group: group))
        }
        // Without upstreams for everything, only what has a rule is forwarded.
        if !hasDefault, !rules.isEmpty {
            rules.append(Policy.ForwardRule(suffix: .root, group: nil))
        }
        return rules
    }

    private func settings(generation: UInt32) -> Policy.Settings {
        var settings = Policy.Settings()
        settings.generation = generation
        settings.negativeTTL = configuration.negativeTTL
        settings.servedTTL = configuration.servedTTL
        settings.minimumTTL = configuration.cache.minimumTTL
        settings.maximumTTL = configuration.cache.maximumTTL
        settings.staleSeconds = configuration.cache.staleFor
        settings.blocksBypass = configuration.blocksBypass
        settings.forwardsTestNames = configuration.upstreams != nil
        settings.limits = Policy.Limits(configuration.limits)
        settings.version = Array((configuration.chaos.version ?? "").utf8)
        settings.identity = Array((configuration.chaos.id ?? "").utf8)
        return settings
    }
}

extension Policy.Limits {
    /// The limits that a configuration says, those that each client has.
    init(_ configured: Configuration.Limits) {
        self.init()
        queries = configured.queries
        burst = configured.burst
        waiting = configured.waiting
        connectionsPerClient = configured.connectionsPerClient
        ipv4Prefix = configured.ipv4Prefix
        ipv6Prefix = configured.ipv6Prefix
        exempt = configured.exempt
    }
}
