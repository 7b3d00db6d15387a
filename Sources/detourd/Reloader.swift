import Configuration
import Platform
import PolicyLoading
import Server

/// Reads configuration and zones again, and lets the server answer by them from then on.
struct Reloader {
    let arguments: Arguments
    /// What was read last, and is in force but for what needs a restart.
    private(set) var configuration: Configuration
    private var generation: UInt32 = 1

    init(arguments: Arguments, configuration: Configuration) {
        self.arguments = arguments
        self.configuration = configuration
    }

    /// Takes the new state whole, or keeps the old one.
    mutating func reload(_ server: Server, _ log: Log) {
        let start = Clock.monotonic
        let refusal = "reload refused; what was served is still served"
        let read: Configuration
        do throws(RejectedConfiguration) {
            read = try arguments.configuration()
        } catch {
            for error in error.errors { log.write(.error, "\(error)") }
            return log.write(.error, refusal)
        }
        guard let upstreams = Daemon.upstreams(of: read, besides: server.addresses, log) else {
            return log.write(.error, refusal)
        }
        let loaded = PolicyLoader(read).load(generation: generation + 1, upstreams: upstreams)
        Daemon.report(loaded, log)
        guard let policy = loaded.policy else { return log.write(.error, refusal) }
        for key in Reloader.keysInNeedOfRestart(from: configuration, to: read) {
            log.write(.warning, "\(key) has changed; that takes a restart")
        }
        generation += 1
        configuration = read
        server.adopt(policy)
        let milliseconds = (Clock.monotonic - start) / 1_000_000
        log.write(
            .info,
            "reloaded: \(loaded.nameCount) names in \(milliseconds) ms",
            [("generation", "\(generation)"), ("milliseconds", "\(milliseconds)")]
        )
    }

    /// What has changed and cannot be taken over while the server runs.
    static func keysInNeedOfRestart(
        from old: Configuration,
        to new: Configuration
    ) -> [String] {
        var keys: [String] = []
        if old.listen != new.listen { keys.append("listen") }
        if old.workers != new.workers { keys.append("workers") }
        if old.cache.octets != new.cache.octets { keys.append("cache.bytes") }
        if old.control != new.control { keys.append("control") }
        if old.metrics != new.metrics { keys.append("metrics") }
        if old.user != new.user { keys.append("user") }
        if old.log.format != new.log.format { keys.append("log.format") }
        return keys
    }
}
