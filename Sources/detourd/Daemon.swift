import Configuration
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

    static let version = "0.1.0"

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
            StandardStream.output.write("detourd \(version)\n")
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
        let loaded = PolicyLoader(configuration).load(generation: 1, upstreams: upstreams)
        report(loaded, log)
        guard let policy = loaded.policy else { return Status.configuration }
        var random = Random()
        let cache = Cache(bytes: configuration.cache.octets, seed: random.next())
        do throws(Errno) {
            var settings = Server.Settings()
            settings.upstreamAnchors = arguments.upstreamAnchors
            settings.upstreamFailed = { upstream, reason in
                log.write(
                    .warning,
                    "upstream \(upstream) is not asked: TLS: \(reason)",
                    [("upstream", "\(upstream)"), ("reason", reason)]
                )
            }
            let server = try Server(
                serving: sockets,
                under: policy,
                cache: cache,
                settings: settings
            )
            announce(server, loaded, upstreams, log)
            let reloader = Reloader(
                arguments: arguments,
                configuration: configuration
            )
            return wait(signals, server, reloader, log)
        } catch {
            log.write(.error, "cannot start: \(error)")
            return Status.system
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

    /// Says what was found in configuration and zones.
    static func report(_ loaded: PolicyLoader.Loaded, _ log: Log) {
        for finding in loaded.findings { report(finding, log) }
        for error in loaded.errors { log.write(.error, "\(error)") }
    }

    private static func report(_ finding: ZoneFileError, _ log: Log) {
        switch log.format {
        case .text: StandardStream.error.write("\(finding)\n")
        case .logfmt, .json:
            let place = "\(finding.file):\(finding.line):\(finding.column)"
            log.write(
                finding.severity == .error ? .error : .warning,
                "\(place): \(finding.severity.rawValue): \(finding.sentence)",
                [("place", place)]
            )
        }
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

    /// Obeys signals until one of them says stop.
    private static func wait(
        _ signals: borrowing SignalDescriptor,
        _ server: Server,
        _ reloader: Reloader,
        _ log: Log
    ) -> Int32 {
        var reloader = reloader
        while true {
            let signal = signals.wait()
            guard signal == .hangUp else { break }
            try? Supervisor.notify(Supervisor.reloading)
            reloader.reload(server, log)
            try? Supervisor.notify("READY=1")
        }
        try? Supervisor.notify("STOPPING=1")
        server.stop()
        log.write(.info, "stopped")
        return Status.stopped
    }
}
