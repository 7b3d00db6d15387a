import Configuration
import PolicyLoading

extension Arguments {
    /// What the configuration file and the flags say together: flags add to lists, and win over
    /// single values.
    func configuration() throws(RejectedConfiguration) -> Configuration {
        var configuration = try readFile()
        configuration.add(zones)
        if !listen.isEmpty { configuration.listen = (configuration.listen ?? []) + listen }
        if !allowed.isEmpty { configuration.allow = (configuration.allow ?? []) + allowed }
        if let upstreams { configuration.upstreams = (configuration.upstreams ?? []) + upstreams }
        if forwardsNothing { configuration.upstreams = [] }
        configuration.workers = workers ?? configuration.workers
        configuration.control = control ?? configuration.control
        configuration.log.format = logFormat ?? configuration.log.format
        return configuration
    }

    private func readFile() throws(RejectedConfiguration) -> Configuration {
        guard file != nil || zones.isEmpty else { return Configuration() }
        return try Configuration(file: file ?? Configuration.usualFile, isOptional: file == nil)
            ?? Configuration()
    }
}
