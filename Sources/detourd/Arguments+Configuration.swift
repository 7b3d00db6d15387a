import Configuration
import Platform
import Zones

extension Arguments {
    /// Where a configuration is looked for when nothing is said.
    static let usualFile = "/etc/detour/detour.json5"

    /// What the configuration file and the flags say together: flags add to lists, and win over
    /// single values.
    func configuration() throws(RejectedConfiguration) -> Configuration {
        var configuration = try readFile()
        for var zone in zones {
            zone.source.ttl = configuration.ttl
            zone.source.negativeTTL = configuration.negativeTTL
            zone.source.makesPointers = configuration.makesPointers
            configuration.zones.append(zone)
        }
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
        let path = file ?? Arguments.usualFile
        let text: [UInt8]
        do throws(FileError) {
            text = try File.octets(at: path, limit: 1 << 24)
        } catch {
            if file == nil, error.error == .noSuchFile { return Configuration() }
            let sentence = "the configuration cannot be read: \(error.error)"
            throw RejectedConfiguration(errors: [SettingError(file: path, sentence: sentence)])
        }
        return try Configuration(parsing: text, file: path)
    }
}
