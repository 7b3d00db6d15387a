internal import CCurl
internal import Certificates

/// One endpoint on its way from the queue to its verification: what was seen so far, what
/// credentials it has, and which challenges are still to be asked.
final class Probe {
    enum Step {
        case connect
        case ask(AuthenticationChallenge)
        case finish
    }

    let endpoint: Endpoint
    let requirements: Requirements
    let path: String
    /// How many redirects led here.
    let hops: Int
    var evidence: Evidence
    private(set) var exchange: Exchange?
    private(set) var attempts = 0
    private(set) var wakeAt = 0.0
    private(set) var challenge: AuthenticationChallenge?

    private var password: PasswordCredential?
    private var clientCertificate: [UInt8]?
    /// Spaces of the last response, strongest first, that were not asked for yet; nil before one.
    private var spaces: [ProtectionSpace]?
    private var asked: Set<AuthenticationMethod> = []
    private var failures: [AuthenticationMethod: Int] = [:]
    private var records: [Evidence.ChallengeRecord] = []
    private var isCancelled = false
    /// A credential was accepted that another connection is to carry.
    private var needsConnection = false
    /// The credential that the last connection carried, to tell whether it was refused.
    private var presented: AuthenticationMethod?

    /// No endpoint is asked more often than this, whatever it and its handler say.
    private static let challengeLimit = 8

    init(
        _ endpoint: Endpoint,
        _ requirements: Requirements,
        path: String,
        after previous: Probe? = nil
    ) {
        self.endpoint = endpoint
        self.requirements = requirements
        self.path = path
        hops = previous.map { $0.hops + 1 } ?? 0
        evidence = Evidence(endpoint, collectedAt: Moment(seconds: 0))
        evidence.redirectedFrom = previous.map { "\($0.evidence.name) \($0.evidence.authority)" }
    }

    func connect(_ options: Verifier.Options, _ memory: CertificateMemory) -> Exchange? {
        attempts += 1
        var attempt = Attempt(
            endpoint: endpoint,
            path: path,
            connectTimeout: options.connectTimeout,
            totalTimeout: options.timeout
        )
        attempt.wantsBody = requirements.bodyText != nil
        attempt.password = password
        attempt.clientCertificate = clientCertificate
        if password != nil || clientCertificate != nil {
            attempt.expectedLeaf = evidence.handshake?.certificates.first
        }
        exchange = Exchange(attempt, memory: memory)
        return exchange
    }

    func collect(_ exchange: Exchange, _ result: CURLcode, at time: Moment) {
        evidence.collectedAt = time.seconds
        evidence.attempts = attempts
        exchange.finish(result, into: &evidence)
        self.exchange = nil
        spaces = nil
        guard let presented else { return }
        let isRefused =
            presented == .clientCertificate
            ? evidence.failure != nil : evidence.response?.status == 401
        if isRefused {
            failures[presented, default: 0] += 1
            amend(.refused)
        }
        self.presented = nil
    }

    func wait(until moment: Double) { wakeAt = moment }

    func fail(stage: String, _ message: String, time: Moment) {
        evidence.collectedAt = time.seconds
        evidence.failure = Evidence.Failure(
            stage: stage,
            isTimeout: false,
            code: 0,
            message: message
        )
    }

    func interrupt(time: Moment) {
        fail(stage: "connect", "the run ended before this endpoint was finished", time: time)
        evidence.failure?.isInterruption = true
    }

    // Challenges.

    func nextStep(
        _ verifier: Verifier,
        at time: Moment,
        _ loop: Loop,
        _ memory: CertificateMemory
    ) -> Step {
        if needsConnection {
            needsConnection = false
            return .connect
        }
        if isCancelled || records.count >= Probe.challengeLimit { return .finish }
        let hasHandler = verifier.handlers.call { $0?.handle != nil }
        let hasCredential = requirements.password != nil || requirements.clientCertificate != nil
        var remaining =
            spaces
            ?? ProtectionSpace.all(
                evidence,
                requirements,
                at: time,
                memory: hasHandler || hasCredential ? memory : nil
            )
        while !remaining.isEmpty {
            let space = remaining.removeFirst()
            spaces = remaining
            // Trust and client certificates are asked once; a password scheme again if refused.
            if [.serverTrust, .clientCertificate].contains(space.method) {
                guard asked.insert(space.method).inserted else { continue }
            }
            guard space.method.isSupported else {
                record(space, .unsupported)
                continue
            }
            let isHandled = verifier.handlers.call { handler in
                handler?.handle != nil && handler?.canHandle?(space) == true
            }
            if isHandled {
                let challenge = AuthenticationChallenge(
                    space,
                    at: endpoint,
                    proposed: proposal(for: space),
                    previousFailureCount: failures[space.method] ?? 0,
                    failureResponse: evidence.response,
                    error: evidence.failure?.message,
                    wake: { loop.wake() }
                )
                self.challenge = challenge
                return .ask(challenge)
            }
            if performDefault(space) { return .connect }
        }
        spaces = []
        return .finish
    }

    func resolved(_ challenge: AuthenticationChallenge, _ disposition: ChallengeDisposition) {
        self.challenge = nil
        let space = challenge.protectionSpace
        switch disposition {
        case .use(let credential?):
            needsConnection = use(credential, in: space)
        case .use(nil):
            record(space, .none)
            if space.method != .serverTrust, space.method != .clientCertificate { spaces = [] }
        case .performDefault:
            needsConnection = performDefault(space)
        case .cancel:
            record(space, .cancelled)
            isCancelled = true
        case .rejectProtectionSpace:
            record(space, .rejected)
        }
    }

    func cancelled(_ outcome: ChallengeOutcome) {
        if let challenge { record(challenge.protectionSpace, outcome) }
        challenge = nil
    }

    /// What happens without a handler: the configured credential, once.
    private func performDefault(_ space: ProtectionSpace) -> Bool {
        guard let credential = proposal(for: space), failures[space.method] == nil else {
            return false
        }
        return use(credential, in: space)
    }

    private func proposal(for space: ProtectionSpace) -> Credential? {
        switch space.method {
        case .clientCertificate: requirements.clientCertificate
        case .basic, .digest: requirements.password
        default: nil
        }
    }

    /// True where another connection is to carry the credential.
    private func use(_ credential: Credential, in space: ProtectionSpace) -> Bool {
        if case .serverTrust = credential {
            evidence.isTrustedByHandler = true
            record(space, .used)
            return false
        }
        let isTrusted =
            space.serverTrust?.isAccepted == true
            || requirements.allowsInvalid || evidence.isTrustedByHandler
        guard isTrusted else {
            record(space, .withheld)
            return false
        }
        switch credential {
        case .password(let user, let secret):
            password = PasswordCredential(user: user, password: secret, method: space.method)
        case .clientCertificate(let pem):
            clientCertificate = pem
        case .serverTrust:
            return false
        }
        presented = space.method
        record(space, .used)
        return true
    }

    private func record(_ space: ProtectionSpace, _ outcome: ChallengeOutcome) {
        records.append(
            Evidence.ChallengeRecord(
                method: space.method.rawValue,
                realm: space.realm,
                outcome: outcome.rawValue
            )
        )
        evidence.challenges = records
    }

    private func amend(_ outcome: ChallengeOutcome) {
        guard !records.isEmpty else { return }
        records[records.count - 1].outcome = outcome.rawValue
        evidence.challenges = records
    }
}
