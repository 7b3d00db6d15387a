internal import CCurl
public import Certificates
internal import FoundationEssentials
internal import Synchronization

/// Verifies endpoints: collects evidence of each, then judges it.
///
/// It is dormant until `verify` or `start`: making one touches nothing. One thread drives all
/// connections, so that handlers and progress are called one at a time. A verifier can be used
/// again after it has ended or was stopped.
public final class Verifier: Sendable {
    /// How endpoints are contacted.
    public struct Options: Sendable {
        /// At most so many connections at a time.
        public var jobs = 32
        /// Seconds for the TCP connection and the handshake together.
        public var connectTimeout = 10.0
        /// Seconds for one connection from start to end.
        public var timeout = 20.0
        /// Seconds for the whole run; nil for no limit.
        public var deadline: Double?
        /// How often a connection that failed or timed out is tried again.
        public var retries = 1
        /// Seconds until a challenge that nobody resolves is cancelled.
        public var challengeTimeout = 30.0
        /// The moment at which everything is judged; nil for now.
        public var time: Moment?
        /// How many redirects are followed, one after the other.
        public var redirectLimit = 5

        /// The usual options.
        public init() {}
    }

    /// How far a run is.
    public struct Progress: Sendable {
        /// Endpoints that are finished.
        public let finished: Int
        /// Endpoints known of; redirects add to it.
        public let total: Int
        /// The endpoint that has just finished.
        public let latest: Verification
    }

    /// Where redirects lead: the addresses that the overrides have for a name, or nil.
    public typealias Resolution = @Sendable (_ name: String) -> Target?

    let policy: Policy
    let options: Options
    let baseline: Baseline
    let resolution: Resolution?
    let log: (@Sendable (LogEvent) -> Void)?
    let handlers: HandlerSlot
    let state = Mutex(State())

    struct State {
        var isRunning = false
        var isStopping = false
        var pending: [AuthenticationChallenge] = []
        var loop: Loop?
    }

    /// A verifier of endpoints against a policy.
    public init(
        policy: Policy,
        options: Options = Options(),
        baseline: Baseline = Baseline(),
        resolution: Resolution? = nil,
        challengeHandler: ChallengeHandler? = nil,
        log: (@Sendable (LogEvent) -> Void)? = nil
    ) {
        self.policy = policy
        self.options = options
        self.baseline = baseline
        self.resolution = resolution
        self.log = log
        handlers = HandlerSlot(challengeHandler)
    }

    /// Replaces the challenge handler, also while a run is under way; nil means default handling.
    /// A call to the old one ends before this returns, and none starts afterwards.
    public func setChallengeHandler(_ handler: ChallengeHandler?) { handlers.swap(handler) }

    /// The challenges that wait for their answer, at most one for an endpoint.
    public var pendingChallenges: [AuthenticationChallenge] {
        state.withLock { $0.pending.filter(\.isPending) }
    }

    /// Verifies every endpoint of a list and returns when the last is finished. It blocks: call it
    /// on a thread of your own, or use `report(on:)`.
    ///
    /// Throws before anything is contacted where a name has no anchors, or where a run of this
    /// verifier is under way.
    public func verify(
        _ list: TargetList,
        progress: ((Progress) -> Void)? = nil
    ) throws(ConfigurationError) -> Report {
        for target in list.targets where target.scheme != .http {
            if policy.requirements(for: target.name).anchors.isEmpty {
                throw ConfigurationError(
                    "\(target.source.file):\(target.source.line): error: no anchors are configured for \(target.name); "
                        + "name some with --anchors, or as verify.anchors"
                )
            }
        }
        guard let loop = Loop() else { throw ConfigurationError("libcurl has no memory") }
        let began = state.withLock { state in
            if state.isRunning { return false }
            state = State(isRunning: true, loop: loop)
            return true
        }
        guard began else { throw ConfigurationError("this verifier is running already") }
        defer { state.withLock { $0 = State() } }
        log(event: "run.start", nil, [("endpoints", "\(list.targets.count)")])
        let run = Run(self, loop, progress)
        let report = run.report(on: list)
        log(event: report.isInterrupted ? "run.stopped" : "run.end", nil, [])
        return report
    }

    /// Verifies a list on a thread of its own. Cancelling the task stops the run; its report is
    /// returned all the same.
    public func report(on list: TargetList) async throws(ConfigurationError) -> Report {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(list) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            stop()
        }
        return try result.get()
    }

    /// Starts a run on a thread of its own. Where one is under way, that one goes on, and
    /// `whenDone` gets an error.
    public func start(
        _ list: TargetList,
        whenDone: @escaping @Sendable (Result<Report, ConfigurationError>) -> Void
    ) {
        let isStarted = Thread.start { [self] in
            do throws(ConfigurationError) {
                whenDone(.success(try verify(list)))
            } catch {
                whenDone(.failure(error))
            }
        }
        if !isStarted { whenDone(.failure(ConfigurationError("no thread could be started"))) }
    }

    /// Ends the run that is under way, from any thread: connections are closed, pending challenges
    /// cancelled, and the report says which endpoints were left. Without a run it does nothing.
    public func stop() {
        state.withLock { state in
            guard state.isRunning else { return }
            state.isStopping = true
            state.loop?.wake()
        }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func log(event: String, _ endpoint: Endpoint?, _ fields: [(name: String, value: String)]) {
        log?(LogEvent(event: event, endpoint: endpoint, fields: fields))
    }

    /// The moment that a run judges at.
    var time: Moment { options.time ?? Moment.now }
}

extension Moment {
    /// The present, by the machine's clock.
    public static var now: Moment {
        Moment(seconds: Int64(Date().timeIntervalSince1970.rounded(.down)))
    }
}

/// A thread for a run that nobody waits for.
enum Thread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        // Safe: the thread takes the one reference that this hands over.
        let body = unsafe Unmanaged.passRetained(Body(run))
        let result = unsafe ccurl_start_thread(
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        if result != 0 { unsafe body.release() }
        return result == 0
    }
}
