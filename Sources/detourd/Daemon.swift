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
        StandardStream.output.write("\(loaded.nameCount) names, no errors\n")
        return Status.stopped
    }

    private static func serve(
        _ arguments: Arguments,
        _ configuration: Configuration,
        _ log: Log
    ) -> Int32 {
        do throws(ListenError) {
            // Blocked before any thread is started, so that no thread is interrupted by them.
            let signals = try? SignalDescriptor(taking: [.hangUp, .terminate, .interrupt])
            OpenFiles.raiseLimit()
            FreedMemory.keepLargeBlocksApart()
            guard let listen = addresses(configuration.listen, log) else {
                return Status.configuration
            }
            let workers = configuration.workers ?? Processors.count
            let sockets = try bind(listen, workers: workers)
            guard let signals else {
                log.write(.error, "the system gives no descriptor for signals")
                return Status.system
            }
            return serve(arguments, configuration, log, on: sockets, signals)
        } catch {
            let (sentence, status) = error.advice
            let facts = [("address", "\(error.address)"), ("error", "\(error.error)")]
            log.write(.error, sentence, facts)
            return status
        }
    }

    private static func serve(
        _ arguments: Arguments,
        _ configuration: Configuration,
        _ log: Log,
        on sockets: consuming ListeningSockets,
        _ signals: borrowing SignalDescriptor
    ) -> Int32 {
        guard let upstreams = upstreams(of: configuration, besides: sockets.addresses, log) else {
            return Status.configuration
        }
        var loaded = PolicyLoader(configuration).load(generation: 1, upstreams: upstreams)
        log.report(loaded)
        guard loaded.policy != nil else { return Status.configuration }
        var random = Random()
        let cache = Cache(bytes: configuration.cache.octets, seed: random.next())
        do throws(ControlError) {
            let overrides = try overrides(configuration, seed: random.next(), log)
            guard let policy = loaded.policy?.placing(overrides.layers(), generation: 1) else {
                return Status.configuration
            }
            // Whoever held on to the first policy would hold its zones through every reload.
            loaded.policy = nil
            let socket = try configuration.control.map { path throws(ControlError) in
                try ControlSocket(serving: path)
            }
            do throws(Errno) {
                let server = try Server(
                    serving: sockets,
                    under: policy,
                    cache: cache,
                    settings: settings(arguments, log)
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
                    socket: socket
                )
                return try serve(try ControlPlane(parts), server, loaded, upstreams, log, signals)
            } catch {
                log.write(.error, "cannot start: \(error)")
                return Status.system
            }
        } catch {
            log.write(.error, error.sentence)
            return error.kind == .unavailable ? Status.addressInUse : Status.system
        }
    }

    /// How the server is to work, and what it says about upstreams over TLS.
    private static func settings(_ arguments: Arguments, _ log: Log) -> Server.Settings {
        var settings = Server.Settings()
        settings.upstreamAnchors = arguments.upstreamAnchors
        settings.upstreamFailed = { upstream, reason in
            log.write(
                .warning,
                "upstream \(upstream) is not asked: TLS: \(reason)",
                [("upstream", "\(upstream)"), ("reason", reason)]
            )
        }
        return settings
    }

    /// Serves until a signal says stop.
    private static func serve(
        _ plane: ControlPlane,
        _ server: Server,
        _ loaded: PolicyLoader.Loaded,
        _ upstreams: [Policy.Upstream],
        _ log: Log,
        _ signals: borrowing SignalDescriptor
    ) throws(Errno) -> Int32 {
        if let address = plane.metricsAddress {
            do throws(Errno) {
                let port = try plane.serveMetrics(on: address)
                log.write(.info, "metrics on port \(port) of \(address)")
            } catch {
                log.write(.error, "cannot serve metrics on \(address): \(error)")
                return error == .addressInUse ? Status.addressInUse : Status.system
            }
        }
        announce(server, loaded, upstreams, log)
        try plane.run(signals)
        try? Supervisor.notify("STOPPING=1")
        server.stop()
        log.write(.info, "stopped")
        return Status.stopped
    }

    /// What was set at run time, as far as it is kept anywhere.
    private static func overrides(
        _ configuration: Configuration,
        seed: UInt64,
        _ log: Log
    ) throws(ControlError) -> RuntimeOverrides {
        let defaults = RuntimeOverrides.Defaults(configuration)
        guard let state = configuration.state else {
            return RuntimeOverrides(seed: seed, defaults: defaults)
        }
        var warnings: [String] = []
        let overrides = try RuntimeOverrides(
            in: state,
            seed: seed,
            defaults: defaults,
            warnings: &warnings
        )
        for warning in warnings { log.write(.warning, warning) }
        return overrides
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

    /// Addresses as the kernel takes them; nil, with a message, where an interface is missing.
    private static func addresses(
        _ addresses: [Configuration.Address]?,
        _ log: Log
    ) -> [SocketAddress]? {
        let loopback = [
            SocketAddress(ipv4: 0x7F00_0001, port: 53),
            SocketAddress(high: 0, low: 1, port: 53),
        ]
        guard let addresses else { return loopback }
        var found: [SocketAddress] = []
        for address in addresses {
            guard let socket = SocketAddress(scanning: "\(address)", port: 53) else {
                log.write(.error, "this machine has no interface \(address.scope) for \(address)")
                return nil
            }
            found.append(socket)
        }
        return found
    }

    private static func bind(
        _ addresses: [SocketAddress],
        workers: Int
    ) throws(ListenError) -> ListeningSockets {
        if Supervisor.inheritedCount > 0, let inherited = try? Supervisor.adoptSockets() {
            return try ListeningSockets(adopting: inherited, workers: workers)
        }
        return try ListeningSockets(binding: addresses, workers: workers)
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
            "ready on \(addresses): \(loaded.nameCount) names, "
            + "\(server.workers) \(server.workers == 1 ? "worker" : "workers"), \(forwards)"
        // The one line that scripts wait for has one form, whatever the format of the others.
        if log.format == .json {
            log.write(.info, ready)
        } else {
            StandardStream.error.write("detourd: \(ready)\n")
        }
        try? Supervisor.notify("READY=1\nSTATUS=\(loaded.nameCount) names")
    }
}
