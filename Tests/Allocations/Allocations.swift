import CAllocations
import DNS
import Platform
import Resolver
import Server
import Support
import Zones

/// Counts what an answer allocates in the steady state, in optimised code, and fails where that is
/// not nothing. An executable of its own, for tests are built without the optimiser.
@main
enum Allocations {
    static func main() {
        // Off the main thread: only threads with the name that is counted are.
        var failures = [Int32](repeating: 1, count: 1)
        do {
            let result = Result()
            let thread = try Thread(named: "worker resolver", stackOctets: 8 << 20) {
                result.failures = ResolverRun.measureAll() + ServerRun.measureAll()
            }
            thread.join()
            failures = [result.failures]
        } catch {
            StandardStream.error.write("no thread: \(error)\n")
        }
        StandardStream.output.write("\(failures[0]) of the counts are wrong\n")
        StandardStream.exit(failures[0] == 0 ? 0 : 1)
    }

    /// What the thread hands over; read after it has been joined.
    private final class Result: @unchecked Sendable {
        var failures: Int32 = 1
    }

    /// Counts what the threads named "worker…" allocate while `body` runs.
    static func count(_ body: () -> Void) -> UInt64 {
        // Safe: the text is copied before the call returns.
        unsafe allocations_begin("worker")
        body()
        return allocations_end()
    }

    /// Prints a count, and gives 1 where it is not the one that is promised.
    static func report(_ what: String, _ count: UInt64, of answers: Int, isRight: Bool) -> Int32 {
        let verdict = isRight ? "" : "  WRONG"
        StandardStream.output.write(
            "\(what): \(count) allocations in \(answers) answers\(verdict)\n"
        )
        return isRight ? 0 : 1
    }

    /// `n0.test` to `n99.test` have addresses; all else goes to an upstream.
    static func policy(upstream: SocketAddress, queries: Int = 1_000_000) -> Policy {
        let zone = ZoneFile(path: "a.zone", source: ZoneSource(kind: .override, label: "a.zone"))
        let text = (0..<100).map { "n\($0).test. A 192.0.2.\($0)\n" }.joined()
        let layer = ZoneCompiler.compile([zone], seed: 1) { _ in Array(text.utf8) }
        var settings = Policy.Settings()
        // Counted, and not reached with as many as by default.
        settings.limits.queries = queries
        settings.limits.burst = queries
        settings.limits.waiting = 30_000
        return Policy(
            layers: [Policy.Layer(layer.take())],
            upstreams: [Policy.Upstream(address: IPAddress(upstream), port: upstream.port)],
            settings: settings
        )
    }
}
