import DNS
import Platform
import Resolver
import Server
import Zones

/// Reads the zone files and makes a policy of them: all of them, or none.
struct PolicyLoader {
    private let files: [ZoneFile]
    private let allowed: [IPPrefix]
    private let hasChosenUpstreams: Bool

    init(_ arguments: Arguments) {
        files = arguments.zones
        allowed = arguments.allowed.isEmpty ? IPPrefix.privateNetworks : arguments.allowed
        hasChosenUpstreams = arguments.upstreams != nil
    }

    /// What came of reading the files; without a policy they must not be served.
    struct Loaded {
        var policy: Policy?
        var findings: [ZoneFileError] = []
        var nameCount = 0
    }

    func load(generation: UInt32, upstreams: [SocketAddress]) -> Loaded {
        var loaded = Loaded()
        var layers: [Policy.Layer] = []
        var isUsable = true
        var random = Random()
        for group in ZoneCompiler.layers(of: files) {
            let layer = ZoneCompiler.compile(group, seed: random.next()) {
                path throws(IncludeError) in
                do throws(FileError) {
                    return try File.octets(at: path)
                } catch {
                    throw IncludeError(reason: "\(error.error)")
                }
            }
            loaded.findings += layer.findings
            isUsable = isUsable && layer.isUsable
            let index = layer.take()
            loaded.nameCount += index.nameCount
            layers.append(Policy.Layer(index))
        }
        guard isUsable else { return loaded }
        var settings = Policy.Settings()
        settings.generation = generation
        settings.forwardsTestNames = hasChosenUpstreams
        loaded.policy = Policy(
            layers: layers,
            upstreams: upstreams.map {
                Policy.Upstream(address: IPAddress($0), scope: $0.scope, port: $0.port)
            },
            allowed: allowed,
            settings: settings
        )
        return loaded
    }
}
