public import Configuration
import DNS
import Platform
public import Resolver
import TLS
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
        let anchors = readAnchors(configuration.upstreamAnchors, "upstreamAnchors", into: &loaded)
        var groups = UpstreamGroups(base: upstreams.map { $0.trusting(anchors) }, configuration)
        let views = views(groups: &groups, anchors, into: &loaded)
        let rules = rules(groups: &groups, anchors, hasDefault: !upstreams.isEmpty, into: &loaded)
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
            throw IncludeError(reason: PolicyLoader.reason(error.error))
        }
    }

    /// Whoever started the daemon may read what the user may not that it has become; and root may
    /// read only what is its own, once it has no rights beside.
    private static func reason(_ error: Errno) -> String {
        if error == .timedOut { return "nobody writes to the pipe" }
        guard error == .permissionDenied else { return "\(error)" }
        guard LocalPeer.ownUser == 0 else {
            return "\(error), for the user \(LocalPeer.name(ofUser: LocalPeer.ownUser))"
        }
        return "\(error), for root without its capabilities: let others read it, or give "
            + "--user its owner"
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

    /// The anchors in the file that a setting names; nil where none does, or with an error where it
    /// cannot be read or holds none.
    private func readAnchors(
        _ path: String?,
        _ setting: String,
        into loaded: inout Loaded
    ) -> Policy.Upstream.Anchors? {
        guard let path else { return nil }
        // Watched also where it is not there: it may come.
        loaded.digests[path] = .some(nil)
        let sentence: String
        do throws(FileError) {
            let octets = try File.octets(at: path, limit: 1 << 24)
            loaded.digests[path] = ContentDigest(octets)
            if TLSContext(anchors: octets) != nil {
                return Policy.Upstream.Anchors(file: path, octets: octets)
            }
            sentence = "there is no certificate in it, or one that cannot be read; PEM is expected"
        } catch {
            sentence = "cannot be read: \(error.error)"
        }
        loaded.errors.append(SettingError(file: path, path: setting, sentence: sentence))
        return nil
    }

    private func views(
        groups: inout UpstreamGroups,
        _ anchors: Policy.Upstream.Anchors?,
        into loaded: inout Loaded
    ) -> [Policy.View] {
        var views: [Policy.View] = []
        for (index, view) in configuration.views.enumerated() {
            var group: Int?
            if let upstreams = view.upstreams, !upstreams.isEmpty {
                let path = "views[\(index)].upstream"
                let own = readAnchors(view.upstreamAnchors, "\(path)Anchors", into: &loaded)
                group = groups.index(
                    of: upstreams,
                    view.strategy ?? configuration.strategy,
                    anchors: own ?? anchors,
                    path: "\(path)s"
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

    private func rules(
        groups: inout UpstreamGroups,
        _ anchors: Policy.Upstream.Anchors?,
        hasDefault: Bool,
        into loaded: inout Loaded
    ) -> [Policy.ForwardRule] {
        var rules: [Policy.ForwardRule] = []
        for (index, rule) in configuration.forward.enumerated() {
            let path = "forward[\(index)].upstream"
            let own = readAnchors(rule.upstreamAnchors, "\(path)Anchors", into: &loaded)
            let group = groups.index(
                of: rule.upstreams,
                rule.strategy ?? configuration.strategy,
                anchors: own ?? anchors,
                path: "\(path)s"
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
