import DNS
import Platform
import Resolver
import Server
import Support
import Testing
import Zones

/// A server on loopback ports of its own.
struct Fixture {
    let server: Server
    /// Where it serves, in the order that was asked for.
    let addresses: [SocketAddress]

    /// Serves `hosts` on a free port each, with `upstream` to forward to.
    init(
        _ hosts: [String] = ["127.0.0.1"],
        workers: Int = 1,
        upstream: SocketAddress? = nil,
        settings: Server.Settings = Server.Settings(),
        limits: Policy.Limits = Fixture.limits
    ) throws {
        let wanted = try hosts.map { try #require(SocketAddress(scanning: $0, port: 0)) }
        let sockets = try Fixture.bind(wanted, workers)
        addresses = sockets.addresses
        server = try Server(
            serving: sockets,
            under: Fixture.policy(upstream: upstream, limits: limits),
            cache: Cache(seed: 1),
            settings: settings
        )
    }

    /// A port that was free may be another test's when it is bound.
    private static func bind(
        _ wanted: [SocketAddress],
        _ workers: Int
    ) throws(ListenError) -> ListeningSockets {
        var attempts = 5
        while true {
            attempts -= 1
            do throws(ListenError) {
                return try ListeningSockets(binding: wanted, workers: workers)
            } catch {
                guard attempts > 0, error.error == .addressInUse else { throw error }
            }
        }
    }

    /// What is allowed where a test does not say: all that is counted, and more than any test asks.
    static let limits: Policy.Limits = {
        var limits = Policy.Limits()
        limits.queries = 1_000_000
        limits.burst = 1_000_000
        limits.waiting = 30_000
        limits.connectionsPerClient = 10_000
        return limits
    }()

    /// Everything under `test.` has the address 192.0.2.1; all else goes upstream.
    static func policy(
        upstream: SocketAddress?,
        limits: Policy.Limits = Fixture.limits
    ) -> Policy {
        var settings = Policy.Settings()
        settings.limits = limits
        let zone = ZoneFile(
            path: "test.zone",
            source: ZoneSource(kind: .override, label: "test.zone", origin: .root)
        )
        let layers = ZoneCompiler.layers(of: [zone]).map { group in
            let layer = ZoneCompiler.compile(group, seed: 1) { _ in
                Array("*.test. 5 IN A 192.0.2.1\n".utf8)
            }
            precondition(layer.isUsable, "\(layer.findings)")
            return Policy.Layer(layer.take())
        }
        return Policy(
            layers: layers,
            upstreams: upstream.map {
                [Policy.Upstream(address: IPAddress($0), scope: $0.scope, port: $0.port)]
            } ?? [],
            settings: settings
        )
    }

    /// The first address.
    var address: SocketAddress { addresses[0] }

    /// Runs a test with the server on a thread that may wait, and stops it after.
    static func with(
        _ hosts: [String] = ["127.0.0.1"],
        workers: Int = 1,
        upstream: SocketAddress? = nil,
        settings: Server.Settings = Server.Settings(),
        limits: Policy.Limits = Fixture.limits,
        _ body: sending (Fixture) throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThread.shared) {
            let fixture = try Fixture(
                hosts,
                workers: workers,
                upstream: upstream,
                settings: settings,
                limits: limits
            )
            defer { fixture.server.stop() }
            try body(fixture)
        }
    }
}
