import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// A request as the server saw it.
struct Request: Sendable {
    let line: String
    let headers: [String: String]
    let serverName: String

    init(_ text: String, serverName: String) {
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        line = lines.first.map(String.init) ?? ""
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { break }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...]
                .trimmed
        }
        self.headers = headers
        self.serverName = serverName
    }
}

extension Substring {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}

/// A TLS server on loopback, on threads of its own, until it is released.
@safe
final class Server: @unchecked Sendable {
    struct Settings: Sendable {
        var chain: [Identity] = []
        var staple: [UInt8]?
        var versions = (minimum: 0, maximum: 0)
        var clientCertificate = 0
        var clientAuthority: Identity?
        var ciphers: String?
        var behaviour = CLOOPBACK_NORMAL
        var isIPv6 = false
        var address: String?
        var port: UInt16 = 0
    }

    private let handle: OpaquePointer
    private let responder: Responder
    let address: InternetAddress
    let port: UInt16

    private final class Responder: Sendable {
        let respond: @Sendable (Request) -> String
        let requests = Mutex<[Request]>([])
        init(_ respond: @escaping @Sendable (Request) -> String) { self.respond = respond }
    }

    /// Answers every request with `respond`, or with 200 and no body.
    init(
        _ settings: Settings,
        respond: @escaping @Sendable (Request) -> String = { _ in Server.answer(200) }
    ) throws {
        let responder = Responder(respond)
        self.responder = responder
        let chain = settings.chain.map(\.certificate).joined()
        let texts = [
            settings.chain.isEmpty ? nil : chain, settings.chain.first?.key,
            settings.clientAuthority?.certificate, settings.ciphers, settings.address,
        ]
        // Safe: texts and staple live until the call returns, which copies what it keeps; the
        // responder lives as long as this object, and `deinit` ends all threads first.
        let started = unsafe withTexts(texts) { texts -> OpaquePointer? in
            var spec = unsafe cloopback_server_spec()
            unsafe spec.chain = texts[0]
            unsafe spec.key = texts[1]
            unsafe spec.client_authority = texts[2]
            unsafe spec.ciphers = texts[3]
            unsafe spec.address = texts[4]
            unsafe spec.minimum_version = Int32(settings.versions.minimum)
            unsafe spec.maximum_version = Int32(settings.versions.maximum)
            unsafe spec.client_certificate = Int32(settings.clientCertificate)
            unsafe spec.behaviour = Int32(settings.behaviour)
            unsafe spec.is_ipv6 = settings.isIPv6 ? 1 : 0
            unsafe spec.port = Int32(settings.port)
            unsafe spec.owner = Unmanaged.passUnretained(responder).toOpaque()
            unsafe spec.respond = { owner, request, count, name, response, capacity in
                guard let owner = unsafe owner else { return 0 }
                let responder = unsafe Unmanaged<Responder>.fromOpaque(owner).takeUnretainedValue()
                let octets = unsafe UnsafeRawBufferPointer(start: request, count: count)
                let serverName = unsafe name.map { unsafe String(cString: $0) } ?? ""
                let text = unsafe String(decoding: octets, as: UTF8.self)
                let received = Request(text, serverName: serverName)
                responder.requests.withLock { $0.append(received) }
                let answer = Array(responder.respond(received).utf8)
                guard answer.count <= capacity else { return 0 }
                unsafe UnsafeMutableRawBufferPointer(start: response, count: capacity)
                    .copyBytes(from: answer)
                return answer.count
            }
            guard let staple = settings.staple else { return unsafe cloopback_start(&spec) }
            return unsafe staple.withUnsafeBufferPointer {
                unsafe spec.staple = $0.baseAddress
                unsafe spec.staple_count = $0.count
                return unsafe cloopback_start(&spec)
            }
        }
        unsafe handle = try #require(unsafe started)
        port = UInt16(unsafe cloopback_port(handle))
        address = try #require(
            InternetAddress(settings.address ?? (settings.isIPv6 ? "::1" : "127.0.0.1"))
        )
    }

    deinit {
        // Safe: nothing else stops it.
        unsafe cloopback_stop(handle)
    }

    var requests: [Request] { responder.requests.withLock { $0 } }

    var accepted: Int { Int(unsafe cloopback_accepted(handle)) }

    func target(_ name: String, line: Int = 1) -> Target {
        Target(
            name: name,
            addresses: [address],
            ports: [port],
            source: SourcePlace(file: "zones/test.zone", line: line)
        )
    }

    static func answer(_ status: Int, _ headers: String..., body: String = "") -> String {
        "HTTP/1.1 \(status) Status\r\n" + headers.map { $0 + "\r\n" }.joined()
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
    }
}

/// One server, one verification.
func verify(
    _ server: Server,
    as name: String,
    anchors: Anchors,
    retries: Int = 0,
    handler: ChallengeHandler? = nil,
    _ adjust: (inout Requirements) -> Void = { _ in }
) async throws -> Verification {
    var requirements = Requirements(anchors: anchors)
    adjust(&requirements)
    var options = Verifier.Options()
    options.retries = retries
    options.connectTimeout = 3
    options.timeout = 5
    let verifier = Verifier(
        policy: Policy(general: requirements),
        options: options,
        challengeHandler: handler
    )
    let report = try await verifier.report(on: TargetList(targets: [server.target(name)]))
    try #require(report.verifications.count == 1)
    return report.verifications[0]
}

extension Verification {
    func has(_ id: String, _ severity: Finding.Severity? = nil) -> Bool {
        findings.contains { $0.kind.id == id && (severity == nil || $0.severity == severity) }
    }

    /// For the message of an expectation.
    var told: String {
        "\(verdict): " + findings.map { "\($0.kind.id) \($0.evidence)" }.joined(separator: " | ")
    }
}
