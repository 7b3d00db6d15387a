import CLoopback
import Certificates
import HTTPSVerifier
import Synchronization
import Testing

/// A thousand endpoints: CPU beside that of bare handshakes, memory, progress, interruption.
@Suite(.serialized) struct ThousandEndpointsTests {
    private static let count = 1_000

    private func server() throws -> (Server, Anchors) {
        let root = try FleetTests.root.get()
        let middle = try root.issue(.authority("Middle"))
        let leaf = try middle.issue(.server("*.fleet.example.com"))
        return (try Server(Server.Settings(chain: [leaf, middle])), try root.anchors)
    }

    private func list(_ server: Server) -> TargetList {
        TargetList(
            targets: (0..<Self.count).map {
                server.target("n\($0).fleet.example.com", line: $0 + 1)
            }
        )
    }

    /// What the run's thread spent, and how much memory grew in its second half.
    private struct Cost: Sendable {
        var microseconds: Int64 = 0
        var halfway = 0
        var end = 0
        var calls = 0
    }

    @Test func `CPU is near that of bare handshakes, and memory stays flat`() async throws {
        let (server, anchors) = try server()
        let list = list(server)
        let address = server.address.description
        let port = Int32(server.port)
        let bare = await onThread { () -> Int64 in
            let start = cloopback_cpu_time()
            // Safe: both texts live until the call returns.
            let worked = unsafe withTexts([address, "n0.fleet.example.com"]) { texts in
                unsafe cloopback_bare(texts[0], port, texts[1], Int32(Self.count))
            }
            return worked == Self.count ? cloopback_cpu_time() - start : 0
        }
        try #require(bare > 0)
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: anchors)))
        let (report, cost) = await onThread { () -> (Report?, Cost) in
            var cost = Cost()
            let start = cloopback_cpu_time()
            let report = try? verifier.verify(list) { progress in
                cost.calls += 1
                if progress.finished == Self.count / 2 { cost.halfway = cloopback_resident() }
                cost.microseconds = cloopback_cpu_time() - start
            }
            cost.end = cloopback_resident()
            return (report, cost)
        }
        let verifications = try #require(report).verifications
        #expect(verifications.count { $0.verdict == .passed } == Self.count)
        #expect(cost.calls == Self.count)
        let ratio = Double(cost.microseconds) / Double(bare)
        print(
            "1000 endpoints: \(cost.microseconds) us, bare handshakes \(bare) us, ratio \(ratio), "
                + "\(cost.end - cost.halfway) KiB more in the second half"
        )
        #expect(cost.end - cost.halfway < 24_000)
        #if !DEBUG
            #expect(ratio < 1.3)
        #endif
    }

    @Test func `stopped in the middle, the report is whole`() async throws {
        let (server, anchors) = try server()
        let list = list(server)
        let verifier = Verifier(policy: Policy(general: Requirements(anchors: anchors)))
        let report = await onThread { () -> Report? in
            try? verifier.verify(list) { progress in
                if progress.finished == 200 { verifier.stop() }
            }
        }
        let whole = try #require(report)
        #expect(whole.isInterrupted)
        #expect(whole.verifications.count == Self.count)
        #expect(whole.verifications.count { $0.verdict == .passed } >= 200)
        #expect(whole.verifications.contains { $0.has("connect.interrupted") })
        #expect(whole.rendered(as: .junit).hasSuffix("</testsuites>\n"))
        #expect(whole.exitStatus() == 2)
    }

    @Test func `a deadline ends the run as a signal does`() async throws {
        let root = try FleetTests.root.get()
        let silent = try Server(
            Server.Settings(chain: [], behaviour: Int(CLOOPBACK_NEVER_ANSWER))
        )
        var options = Verifier.Options()
        options.deadline = 0.3
        let verifier = Verifier(
            policy: Policy(general: Requirements(anchors: try root.anchors)),
            options: options
        )
        let list = TargetList(targets: [silent.target("www.example.com")])
        let report = try await verifier.report(on: list)
        #expect(report.isInterrupted)
        #expect((report.duration ?? 99) < 2)
    }

    /// Runs blocking work on a thread of its own: a test must not block the pool.
    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            let box = Box { continuation.resume(returning: work()) }
            // Safe: the thread takes the one reference that this hands over.
            let failed = unsafe cloopback_thread(
                { argument in
                    guard let argument = unsafe argument else { return }
                    unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().run()
                },
                Unmanaged.passRetained(box).toOpaque()
            )
            precondition(failed == 0, "a thread for the test")
        }
    }

    private final class Box: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
