import Configuration
import DNS
import Platform
import Resolver

/// All upstreams that a configuration names, each once, and the groups that they are asked in.
struct UpstreamGroups {
    private(set) var upstreams: [Policy.Upstream] = []
    private(set) var groups: [Policy.UpstreamGroup] = []
    private(set) var errors: [SettingError] = []
    private let file: String

    /// The base's upstreams, which are the first group.
    init(base: [Policy.Upstream], _ configuration: Configuration) {
        file = configuration.file
        let members = base.map { member($0) }
        guard !members.isEmpty else { return }
        groups = [Policy.UpstreamGroup(members: members, order: .init(configuration.strategy))]
    }

    /// The number of the group of these upstreams; nil where one of them cannot be asked from here.
    mutating func index(
        of addresses: [Configuration.Address],
        _ strategy: Configuration.Strategy,
        anchors: Policy.Upstream.Anchors?,
        path: String
    ) -> Int? {
        var members: [Int] = []
        for address in addresses {
            guard let upstream = Policy.Upstream(address) else {
                errors.append(
                    SettingError(
                        file: file,
                        path: path,
                        sentence: "this machine has no interface for \(address)"
                    )
                )
                continue
            }
            members.append(member(upstream.trusting(anchors)))
        }
        guard !members.isEmpty else { return nil }
        let group = Policy.UpstreamGroup(members: members, order: .init(strategy))
        if let index = groups.firstIndex(of: group) { return index }
        groups.append(group)
        return groups.count - 1
    }

    private mutating func member(_ upstream: Policy.Upstream) -> Int {
        if let index = upstreams.firstIndex(of: upstream) { return index }
        upstreams.append(upstream)
        return upstreams.count - 1
    }
}

extension Policy.UpstreamGroup.Order {
    init(_ strategy: Configuration.Strategy) {
        switch strategy {
        case .sequential: self = .sequential
        case .fastest: self = .fastest
        case .race: self = .race
        }
    }
}
