import DNS
import Platform
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
        let log = Log(format: arguments.logFormat)
        return arguments.checksOnly ? check(arguments, log) : serve(arguments, log)
    }

    private static func check(_ arguments: Arguments, _ log: Log) -> Int32 {
        let loaded = PolicyLoader(arguments).load(generation: 1, upstreams: [])
        for finding in loaded.findings { StandardStream.error.write("\(finding)\n") }
        guard loaded.policy != nil else { return Status.configuration }
        StandardStream.output.write("\(loaded.nameCount) names, no errors\n")
        return Status.stopped
    }

    private static func serve(_ arguments: Arguments, _ log: Log) -> Int32 {
        do throws(ListenError) {
            // Blocked before any thread is started, so that no thread is interrupted by them.
            let signals = try? SignalDescriptor(taking: [.hangUp, .terminate, .interrupt])
            OpenFiles.raiseLimit()
            let workers = arguments.workers ?? Processors.count
            let sockets = try bind(arguments, workers: workers)
            guard let signals else {
                log.write(.error, "the system gives no descriptor for signals")
                return Status.system
            }
            return serve(arguments, log, on: sockets, signals)
        } catch {
            return explain(error, log)
        }
    }

    private static func serve(
        _ arguments: Arguments,
        _ log: Log,
        on sockets: consuming ListeningSockets,
        _ signals: borrowing SignalDescriptor
    ) -> Int32 {
        let upstreams =
            arguments.upstreams ?? SystemResolvers.read(except: sockets.addresses)
        if arguments.upstreams == nil && upstreams.isEmpty {
            log.write(
                .warning,
                "/etc/resolv.conf names no other resolver: what is not an override is REFUSED; "
                    + "give one with --upstream"
            )
        }
        let loader = PolicyLoader(arguments)
        let loaded = loader.load(generation: 1, upstreams: upstreams)
        for finding in loaded.findings { report(finding, log) }
        guard let policy = loaded.policy else { return Status.configuration }
        var random = Random()
        let cache = Cache(seed: random.next())
        do throws(Errno) {
            let server = try Server(serving: sockets, under: policy, cache: cache)
            announce(server, loaded, upstreams, log)
            return wait(signals, server, loader, upstreams, log)
        } catch {
            log.write(.error, "cannot start: \(error)")
            return Status.system
        }
    }

    private static func bind(
        _ arguments: Arguments,
        workers: Int
    ) throws(ListenError) -> ListeningSockets {
        if Supervisor.inheritedCount > 0, let inherited = try? Supervisor.adoptSockets() {
            return try ListeningSockets(adopting: inherited, workers: workers)
        }
        let loopback = [
            SocketAddress(ipv4: 0x7F00_0001, port: 53),
            SocketAddress(high: 0, low: 1, port: 53),
        ]
        let addresses = arguments.listen.isEmpty ? loopback : arguments.listen
        return try ListeningSockets(binding: addresses, workers: workers)
    }

    /// Says why an address cannot be served, and the way out.
    private static func explain(_ error: ListenError, _ log: Log) -> Int32 {
        let facts = [("address", "\(error.address)"), ("error", "\(error.error)")]
        switch error.error {
        case .addressInUse:
            var advice = "end that program, or choose another address with --listen"
            if error.holder?.name == "systemd-resolve" {
                advice =
                    "systemd-resolved serves 127.0.0.53 only: listen on one address, such as "
                    + "--listen 127.0.0.1, or set DNSStubListener=no in /etc/systemd/resolved.conf"
            }
            let holder = error.holder.map { "\($0)" } ?? "another program"
            log.write(
                .error,
                "\(error.address) is in use by \(holder); \(advice)",
                facts
            )
            return Status.addressInUse
        case .permissionDenied, .notPermitted:
            log.write(
                .error,
                "not permitted to serve \(error.address): ports below 1024 need CAP_NET_BIND_SERVICE; "
                    + "run as root, give the program the capability (setcap "
                    + "cap_net_bind_service=+ep), or choose a high port with --listen",
                facts
            )
            return Status.notPermitted
        case .addressNotAvailable:
            log.write(
                .error,
                "\(error.address) is no address of this machine; see 'ip address', and choose one "
                    + "with --listen",
                facts
            )
            return Status.configuration
        default:
            log.write(.error, "cannot serve \(error)", facts)
            return Status.system
        }
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
        _ upstreams: [SocketAddress],
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
        _ loader: PolicyLoader,
        _ upstreams: [SocketAddress],
        _ log: Log
    ) -> Int32 {
        var generation: UInt32 = 1
        while true {
            let signal = signals.wait()
            guard signal == .hangUp else { break }
            try? Supervisor.notify(Supervisor.reloading)
            let start = Clock.monotonic
            let loaded = loader.load(generation: generation + 1, upstreams: upstreams)
            for finding in loaded.findings { report(finding, log) }
            if let policy = loaded.policy {
                generation += 1
                server.adopt(policy)
                let milliseconds = (Clock.monotonic - start) / 1_000_000
                log.write(
                    .info,
                    "reloaded: \(loaded.nameCount) names in \(milliseconds) ms",
                    [("generation", "\(generation)"), ("milliseconds", "\(milliseconds)")]
                )
            } else {
                log.write(.error, "reload refused; the zones that were served are still served")
            }
            try? Supervisor.notify("READY=1")
        }
        try? Supervisor.notify("STOPPING=1")
        server.stop()
        log.write(.info, "stopped")
        return Status.stopped
    }
}
