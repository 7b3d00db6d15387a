import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// An endpoint that wants a password, and runs with a challenge handler.
struct ChallengeFixture: Sendable {
    let root: Identity
    let anchors: Anchors

    init() throws {
        root = try FleetTests.root.get()
        anchors = try root.anchors
    }

    /// Wants a user and password, and says so in the ways that `schemes` lists.
    func server(_ schemes: [String] = ["Basic realm=\"staging\""]) throws -> Server {
        let leaf = try root.issue(.server("www.example.com"))
        let headers = schemes.map { "WWW-Authenticate: \($0)\r\n" }.joined()
        return try Server(Server.Settings(chain: [leaf])) { request in
            let isKnown =
                request.headers["authorization"] == "Basic Y2k6c2VjcmV0"
                || request.headers["authorization"]?.hasPrefix("Digest ") == true
            return isKnown
                ? Server.answer(200)
                : "HTTP/1.1 401 No\r\n\(headers)Content-Length: 0\r\nConnection: close\r\n\r\n"
        }
    }

    static let secret = Credential.password(user: "ci", password: "secret")

    /// What a handler was asked, in its order.
    final class Record: Sendable {
        let events = Mutex<[String]>([])
        func add(_ event: String) { events.withLock { $0.append(event) } }
        var all: [String] { events.withLock { $0 } }
    }

    func run(
        _ server: Server,
        _ handler: ChallengeHandler?,
        timeout: Double = 5,
        log: (@Sendable (LogEvent) -> Void)? = nil,
        adjust: (inout Requirements) -> Void = { _ in }
    ) async throws -> Verification {
        let verifier = make(handler, timeout: timeout, log: log, adjust: adjust)
        let list = TargetList(targets: [server.target("www.example.com")])
        return try await verifier.report(on: list).verifications[0]
    }

    func make(
        _ handler: ChallengeHandler?,
        timeout: Double = 5,
        log: (@Sendable (LogEvent) -> Void)? = nil,
        adjust: (inout Requirements) -> Void = { _ in }
    ) -> Verifier {
        var requirements = Requirements(anchors: anchors)
        adjust(&requirements)
        var options = Verifier.Options()
        options.challengeTimeout = timeout
        options.retries = 0
        return Verifier(
            policy: Policy(general: requirements),
            options: options,
            challengeHandler: handler,
            log: log
        )
    }
}
