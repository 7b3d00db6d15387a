import Platform
import Support

/// So many queries a second from one socket, each with an id of its own and a name of the zone's.
///
/// At most a hundred are under way: what the client's own socket has no room for is not the
/// server's loss.
struct Load: Sendable {
    let port: UInt16
    let rate: Int
    let seconds: Int

    /// What came of it.
    struct Outcome: Sendable {
        var sent = 0
        var received = 0
        var lost = 0
        /// Answers that no version of the zone gives.
        var mixed = 0
        /// The versions that answered.
        var versions: Set<Int> = []
    }

    /// Sends in bursts of a few milliseconds, and takes answers between them.
    func run() async throws -> Outcome {
        try await withTaskExecutorPreference(WaitingThread.shared) {
            let client = try DatagramClient(to: SocketAddress(ipv4: 0x7F00_0001, port: port))
            var outcome = Outcome()
            var waiting: Set<UInt16> = []
            let start = Clock.monotonic
            let total = rate * seconds
            while outcome.sent < total {
                let elapsed = Int((Clock.monotonic - start) / 1_000_000)
                let due = min(total, elapsed * rate / 1000)
                while outcome.sent < due && waiting.count < 100 {
                    let id = UInt16(truncatingIfNeeded: outcome.sent)
                    waiting.insert(id)
                    let number = outcome.sent * 7919 % 2000
                    let name = outcome.sent % 4 == 0 ? "cn.load.test" : "n\(number).load.test"
                    client.send(Messages.query(name, id: id))
                    outcome.sent += 1
                }
                let patience: UInt64 = waiting.count < 100 ? 1 : 2000
                guard let reply = client.receive(milliseconds: patience) else {
                    // Whoever has not answered by now will not.
                    if patience > 1 { break }
                    continue
                }
                take(reply, &outcome, &waiting)
            }
            while !waiting.isEmpty, let reply = client.receive(milliseconds: 500) {
                take(reply, &outcome, &waiting)
            }
            outcome.lost += waiting.count
            return outcome
        }
    }

    /// An answer is right if all of it is of one version: an alias and its target's address, too.
    private func take(_ reply: [UInt8], _ outcome: inout Outcome, _ waiting: inout Set<UInt16>) {
        outcome.received += 1
        waiting.remove(Messages.id(reply))
        let version = Int(reply[reply.count - 1])
        let isWhole: Bool
        if Messages.name(reply).hasPrefix("cn.") {
            // CNAME to `versionN`, then its address: the digit stands behind the word.
            let target = Array("\u{8}version\(version)".utf8)
            isWhole = reply[7] == 2 && reply.indices.contains { reply[$0...].starts(with: target) }
        } else {
            isWhole = reply[7] == 1
        }
        if !isWhole || Messages.responseCode(reply) != 0 { outcome.mixed += 1 }
        outcome.versions.insert(version)
    }
}
