// The daemon's own thread: it obeys signals and clients, keeps the runtime overrides, reads files
// again when they change, and tells how things are. Queries never wait for it.
//
// This file has its state and its loop. +Requests: what clients ask; +Reload: from files to the
// workers; +Observation: metrics, status and the query log.

public import Configuration
public import Platform
public import PolicyLoading
public import Resolver
public import Server

/// Everything beside the answering of queries, in one loop on one thread.
public final class ControlPlane {
    let server: Server
    let cache: Cache
    let log: Log
    let version: String
    let reader: PolicyReader
    let startedAt = Timestamp.now

    /// What was read last and is in force, but for what needs a restart.
    var configuration: Configuration
    /// How many names the zone files own.
    var names: Int
    /// The policy of files and runtime overrides that is in force.
    var policy: Policy
    var overrides: RuntimeOverrides
    /// Where names come from, for explanations; what is set meanwhile is added to each.
    var origins: Explanation.Origins

    var poller: Poller
    var files: FileWatch
    /// Directories that were said to be closed to us.
    var closedDirectories: Set<String> = []
    var debounce = Debounce()
    var reloads = ReloadQueue()
    var reloadThread: Thread?
    var reloadCause = ReloadQueue.Cause.request
    var reloadBegan: UInt64 = 0
    /// The files as they were read last, and whether that was refused.
    var digests: PolicyReader.Digests
    var lastReload: ReloadResult?
    /// What is in force already, while its names are still compared with those of before.
    var resultToTell: ReloadResult?
    var reloadCounts: [ReloadResult.Outcome: UInt64] = [:]

    let socket: ControlSocket?
    /// Clients by their slots; the number grows, so that a late event finds nobody.
    var sessions: [Int: Session] = [:]
    var lastSession = 0
    var metrics: MetricsServer?

    var queryLines: QueryLines
    /// One query in so many is noted by the workers; 0: none.
    var queryInterval: UInt32 = 0
    var nextCollection: UInt64 = .max
    /// When the service manager is told next that all is well; it ends us where it is not told.
    var nextSign: UInt64 = Supervisor.watchdogInterval == nil ? .max : 0
    var queriesNotLogged: UInt64 = 0
    /// Counts queries for the log that takes one in so many of those that are noted.
    var untilSample: UInt32 = 0
    /// The first line of the daemon's log that followers have not been told.
    var nextLogLine = 0

    /// At a time.
    static let mostSessions = 64
    /// After so many nanoseconds without a request, a client makes room for another.
    static let idleTime: UInt64 = 60_000_000_000

    /// What a control plane is made of.
    public struct Parts: ~Copyable {
        /// The server that it rules.
        public var server: Server
        /// The server's cache.
        public var cache: Cache
        /// Where messages go.
        public var log: Log
        /// The daemon's version.
        public var version: String
        /// What was read.
        public var configuration: Configuration
        /// What it came to.
        public var loaded: PolicyLoader.Loaded
        /// The policy that the server serves.
        public var policy: Policy
        /// What was set at run time before.
        public var overrides: RuntimeOverrides
        /// Reads it all again.
        public var reader: PolicyReader
        /// The control socket, if there is to be one.
        public var socket: ControlSocket?

        /// All parts.
        public init(
            server: Server,
            cache: Cache,
            log: Log,
            version: String,
            configuration: Configuration,
            loaded: PolicyLoader.Loaded,
            policy: Policy,
            overrides: consuming RuntimeOverrides,
            reader: PolicyReader,
            socket: ControlSocket?
        ) {
            self.server = server
            self.cache = cache
            self.log = log
            self.version = version
            self.configuration = configuration
            self.loaded = loaded
            self.policy = policy
            self.overrides = overrides
            self.reader = reader
            self.socket = socket
        }
    }

    /// A control plane for a server that serves; `run` sets it going.
    public init(_ parts: consuming Parts) throws(Errno) {
        let poller = try Poller(capacity: 64)
        let files = try FileWatch()
        server = parts.server
        cache = parts.cache
        log = parts.log
        version = parts.version
        configuration = parts.configuration
        names = parts.loaded.nameCount
        policy = parts.policy
        reader = parts.reader
        digests = parts.reader.digests(of: parts.loaded)
        queryLines = QueryLines(format: parts.log.format)
        origins = Explanation.Origins(parts.configuration, parts.loaded)
        overrides = parts.overrides
        socket = parts.socket
        self.poller = poller
        self.files = files
    }

    /// Serves metrics on a socket from now on.
    public func serveMetrics(on listener: consuming StreamListener) throws(Errno) {
        let metrics = try MetricsServer(serving: listener) { [unowned self] in page($0) }
        try metrics.watch(poller, as: Source.metrics.token())
        self.metrics = metrics
    }

    private enum Source: UInt8 {
        case signals, listener, session, files, reload, queries, metrics, limits

        func token(_ slot: Int = 0) -> Poller.Token { Poller.Token(kind: rawValue, slot: slot) }
    }

    /// Obeys signals and clients until one of the signals says stop.
    public func run(_ signals: borrowing SignalDescriptor) throws(Errno) {
        try poller.add(signals.descriptor, for: .readable, as: Source.signals.token())
        try poller.add(reader.wakeup.descriptor, for: .readable, as: Source.reload.token())
        try poller.add(
            server.queryFeed.wakeup.descriptor,
            for: .readable,
            as: Source.queries.token()
        )
        try poller.add(
            server.limitFeed.wakeup.descriptor,
            for: .readable,
            as: Source.limits.token()
        )
        try files.add(to: poller, as: Source.files.token())
        try socket?.watch(poller, as: Source.listener.token())
        followFiles()
        // What has changed since it was read.
        debounce.note(at: Clock.monotonic)
        chooseQueries()
        var now = Clock.monotonic
        while true {
            let count = poller.wait(until: deadline(at: now), now: now)
            now = Clock.monotonic
            for index in 0..<count {
                let token = poller.token(at: index)
                switch Source(rawValue: token.kind) {
                case .signals:
                    while let signal = signals.next() {
                        guard signal == .hangUp else { return }
                        reloads.request(.request)
                    }
                case .listener: accept(at: now)
                case .session: serve(token.slot, poller.readiness(at: index), at: now)
                case .files: if files.hasChanges() { debounce.note(at: now) }
                case .reload: finishReload()
                case .queries: readQueries()
                case .metrics: metrics?.run()
                case .limits: tellReachedLimits()
                case nil: break
                }
            }
            doWhatIsDue(at: now)
        }
    }

    private func deadline(at now: UInt64) -> UInt64? {
        var earliest = nextCollection
        earliest = min(earliest, nextSign)
        if let deadline = debounce.deadline { earliest = min(earliest, deadline) }
        if let deadline = metrics?.deadline(at: now) { earliest = min(earliest, deadline) }
        if let expiry = overrides.nextExpiry {
            let left = max(0, expiry.milliseconds - Timestamp.now.milliseconds)
            // The wall clock can be set meanwhile: it is looked at again now and then.
            earliest = min(earliest, now + UInt64(min(left, 10_000)) * 1_000_000)
        }
        return earliest == .max ? nil : earliest
    }

    private func doWhatIsDue(at now: UInt64) {
        if let expiry = overrides.nextExpiry, expiry <= .now {
            let gone = overrides.expire(at: .now)
            adoptOverrides()
            for override in gone {
                log.write(.info, "the override of \(override.name) \(override.type) has ended")
            }
        }
        if debounce.takeDue(at: now) { reloads.request(.change) }
        if let cause = reloads.begin() { beginReload(cause, at: now) }
        if let deadline = metrics?.deadline(at: now), deadline <= now { metrics?.run() }
        if nextCollection <= now {
            server.collectQueries()
            nextCollection = now + ControlPlane.collectionInterval
        }
        if nextSign <= now { giveSign(at: now) }
        tellFollowers()
    }

    /// Tells the service manager that all is well, if the workers answer; else looks again soon.
    private func giveSign(at now: UInt64) {
        guard let interval = Supervisor.watchdogInterval else { return }
        let isWell = server.isAnswering
        if isWell { try? Supervisor.notify("WATCHDOG=1") }
        nextSign = now + (isWell ? interval : min(interval, 1_000_000_000))
    }

    /// Lets the workers answer by what is set now.
    func adoptOverrides() {
        policy = policy.placing(overrides.layers(), generation: policy.generation &+ 1)
        server.adopt(policy)
    }

    // MARK: Clients

    private func accept(at now: UInt64) {
        while let (session, mayAsk) = socket?.accept() {
            lastSession = (lastSession + 1) & 0xFF_FFFF
            let slot = lastSession
            guard sessions[slot] == nil,
                (try? session.watch(poller, as: Source.session.token(slot))) != nil
            else { continue }
            var refusal: ControlError?
            if !mayAsk {
                refusal = ControlError(
                    .notPermitted,
                    "\(LocalPeer.name(ofUser: session.peer.user)) may not control this daemon"
                )
            } else if sessions.count >= ControlPlane.mostSessions, !dropIdle(at: now) {
                refusal = ControlError(.unavailable, "too many clients are connected")
            }
            if let refusal {
                _ = session.send(ControlLine.octets(Reply<StatusResult>(refusal)))
                continue
            }
            sessions[slot] = session
        }
    }

    private func dropIdle(at now: UInt64) -> Bool {
        let idle = sessions.filter {
            !$0.value.isWaiting && !$0.value.isFollowing
                && $0.value.lastActive + ControlPlane.idleTime < now
        }
        guard let oldest = idle.min(by: { $0.value.lastActive < $1.value.lastActive }) else {
            return false
        }
        drop(oldest.key)
        return true
    }

    func drop(_ slot: Int) {
        guard let session = sessions.removeValue(forKey: slot) else { return }
        if session.isFollowing { chooseQueries() }
    }

    private func serve(_ slot: Int, _ readiness: Poller.Readiness, at now: UInt64) {
        guard let session = sessions[slot] else { return }
        if readiness.contains(.writable), !session.flush() { return drop(slot) }
        if readiness.contains(.readable), !session.isWaiting, !session.isEnding {
            guard session.read(at: now) else { return drop(slot) }
        } else if !readiness.isDisjoint(with: .failed) {
            return drop(slot)
        }
        answerRequests(of: slot)
    }

    /// Answers what a client has asked, in its order, until there is nothing more or it has to wait.
    func answerRequests(of slot: Int) {
        guard let session = sessions[slot] else { return }
        requests: while true {
            switch session.next() {
            case .none: break requests
            case .line(let line):
                guard !line.isEmpty else { continue }
                guard answer(line, of: session, slot) else { return drop(slot) }
            case .tooLong:
                let error = ControlError(
                    .malformed,
                    "the line is longer than \(Request.longestLine) octets"
                )
                _ = session.send(ControlLine.octets(Reply<StatusResult>(error)))
                return drop(slot)
            }
        }
        if session.isDone && !session.isWaiting { return drop(slot) }
        session.update(poller, as: Source.session.token(slot))
    }

    /// Sends a line to a client; one that cannot be reached is dropped.
    func send(_ octets: [UInt8], to slot: Int) {
        guard let session = sessions[slot] else { return }
        guard session.send(octets) else { return drop(slot) }
        session.update(poller, as: Source.session.token(slot))
    }
}
