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
        settings: Server.Settings = Server.Settings()
    ) throws {
        let wanted = try hosts.map { try #require(SocketAddress(scanning: $0, port: 0)) }
        let sockets = try ListeningSockets(binding: wanted, workers: workers)
        addresses = sockets.addresses
        server = try Server(
            serving: sockets,
            under: Fixture.policy(upstream: upstream),
            cache: Cache(seed: 1),
            settings: settings
        )
    }

    /// Everything under `test.` has the address 192.0.2.1; all else goes upstream.
    static func policy(upstream: SocketAddress?) -> Policy {
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
            } ?? []
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
        _ body: sending (Fixture) throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThread.shared) {
            let fixture = try Fixture(
                hosts,
                workers: workers,
                upstream: upstream,
                settings: settings
            )
            defer { fixture.server.stop() }
            try body(fixture)
        }
    }
}
