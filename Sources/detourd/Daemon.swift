import Configuration
import Control
import DNS
import Platform
import PolicyLoading
import Resolver
import Server
import Zones

/// The life of the daemon: read, bind, serve, reload, stop.
enum Daemon {
    /// Exit statuses (sysexits.h).
    enum Status {
        static let stopped: Int32 = 0
        static let usage: Int32 = 64
        static let addressInUse: Int32 = 69
        static let system: Int32 = 71
        static let notPermitted: Int32 = 77
        static let configuration: Int32 = 78
    }

    /// Runs until it is told to stop, and gives the exit status.
    static func run(_ commandLine: [String]) -> Int32 {
        let arguments: Arguments
        do throws(Arguments.UsageError) {
            arguments = try Arguments(Array(commandLine.dropFirst()))
        } catch {
            StandardStream.error.write("detourd: \(error.sentence)\n")
            return Status.usage
        }
        if arguments.asksForHelp {
            StandardStream.output.write(Arguments.help)
            return Status.stopped
        }
        if arguments.asksForVersion {
            StandardStream.output.write("detourd \(Version.text)\n")
            return Status.stopped
        }
        do throws(RejectedConfiguration) {
            let configuration = try arguments.configuration()
            let log = Log(format: configuration.log.format)
            return arguments.checksOnly
                ? check(configuration) : serve(arguments, configuration, log)
        } catch {
            for error in error.errors { StandardStream.error.write("\(error)\n") }
            return Status.configuration
        }
    }

    private static func check(_ configuration: Configuration) -> Int32 {
        let loaded = PolicyLoader(configuration).load(generation: 1, upstreams: [])
        for finding in loaded.findings { StandardStream.error.write("\(finding)\n") }
        for error in loaded.errors { StandardStream.error.write("\(error)\n") }
        guard loaded.policy != nil else { return Status.configuration }
        if let user = configuration.user {
            do throws(Account.Unknown) {
                _ = try Account(scanning: user)
            } catch {
                StandardStream.error.write("\(configuration.file): user: \(error.sentence)\n")
                return Status.configuration
            }
        }
        StandardStream.output.write("\(counted(loaded.nameCount, "name")), no errors\n")
        return Status.stopped
    }

    private static func serve(
        _ arguments: Arguments,
        _ configuration: Configuration,
        _ log: Log
    ) -> Int32 {
        // Blocked before any thread is started, so that no thread is interrupted by them.
        let signals = try? SignalDescriptor(taking: [.hangUp, .terminate, .interrupt])
        guard let signals else {
            log.write(.error, "the system gives no descriptor for signals")
            return Status.system
        }
        OpenFiles.raiseLimit()
        FreedMemory.keepLargeBlocksApart()
        do throws(Refusal) {
            let account = try Endpoints.account(configuration)
            let endpoints = try Endpoints.make(configuration, for: account, log)
            try Endpoints.giveUpRights(
                becoming: account,
                toReadAgain: arguments.readFile,
                log
            )
            return try serve(arguments, configuration, log, on: endpoints, signals)
        } catch {
            log.write(.error, error.sentence, error.facts)
            return error.status
        }
    }

    /// What needs no rights: everything from here on.
    private static func serve(
        _ arguments: Arguments,
        _ configuration: Configuration,
        _ log: Log,
        on endpoints: consuming Endpoints,
        _ signals: borrowing SignalDescriptor
    ) throws(Refusal) -> Int32 {
        let ours = endpoints.listening.addresses
        guard let upstreams = upstreams(of: configuration, besides: ours, log) else {
            return Status.configuration
        }
        var loaded = PolicyLoader(configuration).load(generation: 1, upstreams: upstreams)
        log.report(loaded)
        guard loaded.policy != nil else { return Status.configuration }
        var random = Random()
        let cache = Cache(bytes: configuration.cache.octets, seed: random.next())
        let overrides = try overrides(configuration, seed: random.next(), log)
        guard let policy = loaded.policy?.placing(overrides.layers(), generation: 1) else {
            return Status.configuration
        }
        // Whoever held on to the first policy would hold its zones through every reload.
        loaded.policy = nil
        let control = endpoints.control
        let metrics = endpoints.metrics
        do throws(Errno) {
            let server = try Server(
                serving: endpoints.listening,
                under: policy,
                cache: cache,
                settings: settings(configuration, log)
            )
            defer { server.stop() }
            let reader = try PolicyReader(path: arguments.readFile) {
                [addresses = server.addresses] () throws(RejectedConfiguration) in
                let configuration = try arguments.configuration()
                let upstreams = Daemon.upstreams(of: configuration, besides: addresses, log)
                return (configuration, upstreams)
            }
            let parts = ControlPlane.Parts(
                server: server,
                cache: cache,
                log: log,
                version: Version.text,
                configuration: configuration,
                loaded: loaded,
                policy: consume policy,
                overrides: overrides,
                reader: reader,
                socket: control
            )
            let plane = try ControlPlane(parts)
            if metrics.isOpen {
                let address = try metrics.boundAddress()
                try plane.serveMetrics(on: metrics)
                log.write(.info, "metrics on http://\(address)/metrics")
            }
            announce(server, loaded, upstreams, log)
            try plane.run(signals)
            try? Supervisor.notify("STOPPING=1")
            server.stop()
            log.write(.info, "stopped")
            return Status.stopped
        } catch {
            throw Refusal(Status.system, "cannot start: \(error)")
        }
    }

    /// How the server is to work, and what it says about upstreams over TLS.
    private static func settings(_ configuration: Configuration, _ log: Log) -> Server.Settings {
        var settings = Server.Settings()
        settings.connections = configuration.limits.connections
        settings.upstreamFailed = { upstream, reason in
            log.write(
                .warning,
                "upstream \(upstream) cannot be asked: \(reason)",
                [("upstream", "\(upstream)"), ("reason", reason)]
            )
        }
        return settings
    }

    /// What was set at run time, as far as it is kept anywhere.
    private static func overrides(
        _ configuration: Configuration,
        seed: UInt64,
        _ log: Log
    ) throws(Refusal) -> RuntimeOverrides {
        let defaults = RuntimeOverrides.Defaults(configuration)
        guard let state = configuration.state else {
            return RuntimeOverrides(seed: seed, defaults: defaults)
        }
        var warnings: [String] = []
        do throws(ControlError) {
            let overrides = try RuntimeOverrides(
                in: state,
                seed: seed,
                defaults: defaults,
                warnings: &warnings
            )
            for warning in warnings { log.write(.warning, warning) }
            return overrides
        } catch {
            throw Refusal(error)
        }
    }

    /// Where everything is forwarded to that has no rule of its own: what is configured, or the
    /// system's resolvers, ourselves left out. Nil, with a message, where an interface is missing.
    static func upstreams(
        of configuration: Configuration,
        besides ours: [SocketAddress],
        _ log: Log
    ) -> [Policy.Upstream]? {
        if let given = configuration.upstreams {
            var found: [Policy.Upstream] = []
            for address in given {
                guard let upstream = Policy.Upstream(address) else {
                    log.write(.error, "this machine has no interface for \(address)")
                    return nil
                }
                found.append(upstream)
            }
            return found
        }
        let upstreams = SystemResolvers.read(except: ours)
        if upstreams.isEmpty {
            log.write(
                .warning,
                "/etc/resolv.conf names no other resolver: what is not an override is REFUSED; "
                    + "give one with --upstream"
            )
        }
        return upstreams.map { Policy.Upstream($0) }
    }

    private static func announce(
        _ server: Server,
        _ loaded: PolicyLoader.Loaded,
        _ upstreams: [Policy.Upstream],
        _ log: Log
    ) {
        let addresses = server.addresses.map { "\($0)" }.joined(separator: " ")
        let forwards =
            upstreams.isEmpty
            ? "nothing forwarded"
            : "forwarding to " + upstreams.map { "\($0)" }.joined(separator: " ")
        let ready =
            "ready on \(addresses): \(counted(loaded.nameCount, "name")), "
            + "\(counted(server.workers, "worker")), \(forwards)"
        // The one line that scripts wait for has one form, whatever the format of the others.
        if log.format == .json {
            log.write(.info, ready)
        } else {
            StandardStream.error.write("detourd: \(ready)\n")
        }
        try? Supervisor.notify("READY=1\nSTATUS=\(counted(loaded.nameCount, "name"))")
    }
}
