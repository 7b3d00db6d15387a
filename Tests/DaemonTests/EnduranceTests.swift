import Control
import Foundation
import Platform
import Support
import Testing

extension TheDaemon {
    /// What must never go wrong, tried often. With `DETOUR_ENDURANCE` in the environment it is tried as
    /// often as a release asks for: a minute, on a machine that does nothing else.
    @Suite("In the long run")
    struct EnduranceTests {
        private static let isLong = ProcessInfo.processInfo.environment["DETOUR_ENDURANCE"] != nil

        @Test("killed in the midst of setting: what was acknowledged is there, and no more")
        func crashes() async throws {
            let control = try Controlled()
            let file = try Scratch.shared.file("a.zone", "a.test. A 192.0.2.1\n")
            let options = ["--zone", file, "--workers", "1"] + control.options + Daemon.alone
            let (rounds, sets) = Self.isLong ? (50, 1000) : (10, 200)
            var acknowledged: [String: String] = [:]
            var open: (name: String, address: String)?
            var interrupted = 0
            for round in 1...rounds {
                let daemon = try await Daemon.start(options)
                let list = try await control.ask(Request(.list), for: ListResult.self)
                let found = Dictionary(
                    uniqueKeysWithValues: list.overrides.map { ($0.name, $0.records.joined()) }
                )
                // Whoever was not told may find it done or not.
                if let open, found[open.name] == open.address {
                    acknowledged[open.name] = open.address
                }
                #expect(found == acknowledged, "round \(round)")

                let socket = control.socket
                async let outcome = withTaskExecutorPreference(WaitingThread.shared) {
                    var done: [String] = []
                    do {
                        var connection = try ControlConnection(to: socket)
                        for number in 0..<sets {
                            var request = Request(.set)
                            request.name = "n\(number).test."
                            request.type = "A"
                            request.records = ["192.0.2.\(round)"]
                            _ = try connection.ask(request, for: SetResult.self)
                            done.append("n\(number).test.")
                        }
                    } catch {}
                    return done
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 5...(sets * 3 / 2))))
                daemon.program.signal(SIGKILL)
                _ = await daemon.program.end()
                let done = await outcome
                for name in done { acknowledged[name] = "192.0.2.\(round)" }
                open = done.count < sets ? ("n\(done.count).test.", "192.0.2.\(round)") : nil
                if !done.isEmpty && done.count < sets { interrupted += 1 }
            }
            #expect(interrupted > rounds / 4, "\(interrupted) of \(rounds)")
        }

        /// The alias `cn` has the version; all other names stay.
        private func replace(_ file: String, version: Int, names: Data) throws {
            let head = """
                $ORIGIN load.test.
                $TTL 5
                cn CNAME version\(version)
                version\(version) A 192.0.2.\(version)

                """
            try (Data(head.utf8) + names).write(to: URL(filePath: file + ".new"))
            try Folder.replace(file, with: file + ".new")
        }

        @Test("a storm of reloads under 5 000 queries a second loses none, and no memory")
        func storm() async throws {
            let (count, requests) = Self.isLong ? (1_000_000, 100) : (20_000, 30)
            let control = try Controlled()
            let file = "\(control.folder)/big.zone"
            let names = Data((0..<count).map { "n\($0) A 192.0.2.9\n" }.joined().utf8)
            try replace(file, version: 1, names: names)
            let options = ["--zone", file] + control.options + Daemon.alone
            try await Daemon.with(options) { daemon in
                // The first reload takes what the first load did not.
                try replace(file, version: 2, names: names)
                _ = try await control.ask(Request(.reload), for: ReloadResult.self)
                let before = try daemon.program.residentOctets
                let load = Load(port: daemon.port, rate: 5000, seconds: requests / 10 + 2)
                async let result = load.run()
                for request in 1...requests {
                    try replace(file, version: request % 9 + 1, names: names)
                    daemon.program.signal(SIGHUP)
                    try await Task.sleep(for: .milliseconds(100))
                }
                try replace(file, version: 9, names: names)
                _ = try await control.ask(Request(.reload), for: ReloadResult.self)
                let outcome = try await result
                #expect(outcome.sent > 4000 * (requests / 10 + 2), "\(outcome)")
                #expect(outcome.lost == 0 && outcome.mixed == 0, "\(outcome)")
                let reply = try await daemon.dig("cn.load.test")
                #expect(reply.data("A") == ["192.0.2.9"])
                let complaints = daemon.program.complaints
                let reloads = complaints.components(separatedBy: "reloaded: ").count - 1
                // A million names take longer than it takes to ask again: many requests are one.
                #expect(reloads >= 3 && reloads < (Self.isLong ? requests / 2 : requests + 3))
                try await Task.sleep(for: .seconds(1))
                let after = try daemon.program.residentOctets
                // A fifth of what the names take, and what the allocator rounds.
                #expect(after < before + count * 16 + 4 << 20, "\(before) -> \(after)")
            }
        }
    }
}
