internal import Certificates
internal import Synchronization

/// A question to a challenge handler, to be resolved exactly once: at once or later, on any thread.
///
///     let handler = ChallengeHandler(
///         canHandle: { $0.method == .basic && $0.realm == "staging" },
///         handle: { challenge in
///             guard challenge.previousFailureCount == 0 else {
///                 try? challenge.resolve(.rejectProtectionSpace)
///                 return
///             }
///             try? challenge.resolve(.use(.password(user: "ci", password: secret)))
///         }
///     )
///     let verifier = Verifier(policy: policy, challengeHandler: handler)
///
/// Not resolved by its deadline, it is cancelled, and the report says so.
public final class AuthenticationChallenge: Sendable {
    /// What asks.
    public let protectionSpace: ProtectionSpace
    /// Where it asks: one challenge at a time is pending for an endpoint.
    public let endpoint: Endpoint
    /// The credential that the configuration has for this space.
    public let proposedCredential: Credential?
    /// How often a credential was refused in this space.
    public let previousFailureCount: Int
    /// The response that refused it, or that asks.
    public let failureResponse: Evidence.Response?
    /// Why the handshake ended, where it did.
    public let error: String?

    private let state = Mutex(State.pending)
    private let wake: @Sendable () -> Void

    enum State: Sendable {
        case pending
        case resolved(ChallengeDisposition)
        case cancelled
    }

    init(
        _ space: ProtectionSpace,
        at endpoint: Endpoint,
        proposed: Credential?,
        previousFailureCount: Int,
        failureResponse: Evidence.Response?,
        error: String?,
        wake: @escaping @Sendable () -> Void
    ) {
        protectionSpace = space
        self.endpoint = endpoint
        proposedCredential = proposed
        self.previousFailureCount = previousFailureCount
        self.failureResponse = failureResponse
        self.error = error
        self.wake = wake
    }

    /// Answers the challenge. A second answer, or one that comes after the cancellation, is an
    /// error and changes nothing.
    public func resolve(_ disposition: ChallengeDisposition) throws(ChallengeError) {
        let problem = state.withLock { state -> ChallengeError? in
            switch state {
            case .resolved: return .alreadyResolved
            case .cancelled: return .cancelled
            case .pending: break
            }
            if case .use(let credential?) = disposition, !fits(credential) {
                return .credentialDoesNotFit
            }
            state = .resolved(disposition)
            return nil
        }
        if let problem { throw problem }
        wake()
    }

    /// Whether it waits for its answer.
    public var isPending: Bool {
        state.withLock { if case .pending = $0 { true } else { false } }
    }

    var disposition: ChallengeDisposition? {
        state.withLock { if case .resolved(let disposition) = $0 { disposition } else { nil } }
    }

    /// True for the one caller that ended a pending challenge.
    func cancel() -> Bool {
        state.withLock { state in
            guard case .pending = state else { return false }
            state = .cancelled
            return true
        }
    }

    private func fits(_ credential: Credential) -> Bool {
        switch credential {
        case .password: [.basic, .digest].contains(protectionSpace.method)
        case .clientCertificate: protectionSpace.method == .clientCertificate
        case .serverTrust: protectionSpace.method == .serverTrust
        }
    }
}

/// What is to be done about a challenge.
public enum ChallengeDisposition: Sendable, Equatable {
    /// Present the credential; nil goes on without one.
    case use(Credential?)
    /// Do as if there were no handler: use what the configuration has, once.
    case performDefault
    /// Give the endpoint up.
    case cancel
    /// Not this space: try the next that the server offers.
    case rejectProtectionSpace
}

/// Why an answer to a challenge does not count.
public enum ChallengeError: Error, Sendable, Equatable {
    /// It was answered before.
    case alreadyResolved
    /// Its deadline passed, or the verifier was stopped.
    case cancelled
    /// The credential is of a kind that the space does not take. The challenge stays pending.
    case credentialDoesNotFit
}

/// Who answers challenges. Each hook is optional: without it, the default handling applies.
public struct ChallengeHandler: Sendable {
    /// Asked first, cheap; false, or no such hook, means default handling.
    public var canHandle: (@Sendable (ProtectionSpace) -> Bool)?
    /// Called on the verifying thread, one call at a time; it must not wait for anything, but
    /// keep the challenge and resolve it later.
    public var handle: (@Sendable (AuthenticationChallenge) -> Void)?
    /// Told once about a challenge that was cancelled while it was pending; never after `resolve`.
    public var didCancel: (@Sendable (AuthenticationChallenge) -> Void)?

    /// A handler of some hooks.
    public init(
        canHandle: (@Sendable (ProtectionSpace) -> Bool)? = nil,
        handle: (@Sendable (AuthenticationChallenge) -> Void)? = nil,
        didCancel: (@Sendable (AuthenticationChallenge) -> Void)? = nil
    ) {
        self.canHandle = canHandle
        self.handle = handle
        self.didCancel = didCancel
    }
}

/// One line for a log: what happened, at which probe if at one, and its fields.
public struct LogEvent: Sendable {
    /// `probe.start`, `challenge.cancelled`, …
    public let event: String
    /// The endpoint; nil where the event is the verifier's own.
    public let endpoint: Endpoint?
    /// Names and values, in their order. Values may quote a server: escape them.
    public let fields: [(name: String, value: String)]
}
