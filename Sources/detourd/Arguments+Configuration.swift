import Configuration
import PolicyLoading

extension Arguments {
    /// What the configuration file and the flags say together: flags add to lists, and win over
    /// single values.
    func configuration() throws(RejectedConfiguration) -> Configuration {
        var configuration = try readConfiguration()
        configuration.add(zones)
        if !listen.isEmpty { configuration.listen = (configuration.listen ?? []) + listen }
        if !allowed.isEmpty { configuration.allow = (configuration.allow ?? []) + allowed }
        if let upstreams { configuration.upstreams = (configuration.upstreams ?? []) + upstreams }
        if forwardsNothing { configuration.upstreams = [] }
        configuration.upstreamAnchors = upstreamAnchors ?? configuration.upstreamAnchors
        configuration.workers = workers ?? configuration.workers
        configuration.control = control ?? configuration.control
        configuration.state = state ?? configuration.state
        configuration.user = user ?? configuration.user
        for (key, value) in limits { configuration.limits[key] = value }
        configuration.limits.exempt += exempt
        configuration.log.format = logFormat ?? configuration.log.format
        return configuration
    }

    /// The configuration file that is read, if it is there; nil: none is.
    var readFile: String? { file ?? (zones.isEmpty ? Configuration.usualFile : nil) }

    private func readConfiguration() throws(RejectedConfiguration) -> Configuration {
        guard let path = readFile else { return Configuration() }
        return try Configuration(file: path, isOptional: file == nil) ?? Configuration()
    }
}
