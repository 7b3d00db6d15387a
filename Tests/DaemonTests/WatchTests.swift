import Control
import Foundation
import Platform
import Support
import Testing

extension TheDaemon {
    @Suite("By itself")
    struct WatchTests {
        /// Debug builds compile zones some ten times slower than what is shipped.
        private static let isOptimized = !Daemon.path.contains("/debug/")

        private func zone(_ names: Int, _ address: String) -> String {
            "$ORIGIN big.test.\n" + (0..<names).map { "n\($0) A \(address)\n" }.joined()
        }

        @Test("a file of 100 000 names that is replaced is served within 500 ms")
        func replaced() async throws {
            let names = Self.isOptimized ? 100_000 : 5_000
            let file = try Scratch.shared.file("big.zone", zone(names, "192.0.2.1"))
            try await Daemon.with(["--zone", file] + Daemon.alone) { daemon in
                var times: [Duration] = []
                for version in 2...4 {
                    let new = file + ".new"
                    try Scratch.shared.write(zone(names, "192.0.2.\(version)"), to: new)
                    let start = ContinuousClock.now
                    try Folder.replace(file, with: new)
                    while ContinuousClock.now - start < .seconds(20) {
                        let reply = try await Stub.exchange(
                            [Messages.query("n17.big.test", id: 1)],
                            port: daemon.port
                        )
                        if reply.first.map(Messages.address) == "192.0.2.\(version)" { break }
                        try await Task.sleep(for: .milliseconds(2))
                    }
                    times.append(ContinuousClock.now - start)
                }
                #expect(times.sorted()[1] < .milliseconds(500), "\(times)")
            }
        }

        @Test("a zone with an error is told once, and what was served is served until it is mended")
        func mended() async throws {
            let control = try Controlled()
            let file = try Scratch.shared.file("a.zone", "a.test. A 192.0.2.1\n")
            let configuration = try Scratch.shared.file(
                "detour.json5",
                "{ zones: [\"\(file)\"], upstreams: [], metrics: \"127.0.0.1:0\" }"
            )
            let options = ["--config", configuration] + control.options
            try await Daemon.with(options) { daemon in
                try Scratch.shared.write("a.test. A 192.0.2.2\nb.test. A 192.0.2.\n", to: file)
                #expect(await daemon.says("reload refused"))
                #expect(try await daemon.dig("a.test").data("A") == ["192.0.2.1"])
                let asked = try await control.detour("reload")
                #expect(asked.status == 1)
                #expect(asked.errors.contains("\(file):2:11: error: "), "\(asked.errors)")
                try Scratch.shared.write("a.test. A 192.0.2.3\n", to: file)
                #expect(await daemon.says("reloaded: 1 name"))
                #expect(try await daemon.dig("a.test").data("A") == ["192.0.2.3"])

                // A new file with what was there before changes nothing.
                try Scratch.shared.write("a.test. A 192.0.2.3\n", to: file)
                try await Task.sleep(for: .milliseconds(400))
                #expect(!(await daemon.says("reloaded: ", times: 2, seconds: 0)))
                let unchanged = try await control.detour("reload", "--json")
                #expect(unchanged.output.contains("\"unchanged\""), "\(unchanged.output)")

                // The configuration is watched as well.
                let other = try Scratch.shared.file("b.zone", "b.test. A 192.0.2.4\n")
                try Scratch.shared.write(
                    "{ zones: [\"\(file)\", \"\(other)\"], upstreams: [], metrics: \"127.0.0.1:0\" }",
                    to: configuration
                )
                #expect(await daemon.says("reloaded: 2 names"))
                #expect(try await daemon.dig("b.test").data("A") == ["192.0.2.4"])
                try Scratch.shared.write("b.test. A 192.0.2.5\n", to: other)
                #expect(await daemon.says("reloaded: 2 names", times: 2))
            }
        }

        @Test("a hundred requests to reload come to few, and the last state is served")
        func storm() async throws {
            let control = try Controlled()
            let names = 2_000
            let file = try Scratch.shared.file("big.zone", zone(names, "192.0.2.1"))
            try await Daemon.with(["--zone", file] + control.options + Daemon.alone) { daemon in
                for version in 2...101 {
                    try Scratch.shared.write(zone(names, "192.0.2.\(version)"), to: file)
                    daemon.program.signal(SIGHUP)
                }
                let result = try await control.ask(Request(.reload), for: ReloadResult.self)
                #expect(result.outcome != .refused)
                try Scratch.shared.write(zone(names + 5, "192.0.2.101") + "n1 TXT x\n", to: file)
                let counted = try await control.ask(Request(.reload), for: ReloadResult.self)
                #expect([.loaded, .unchanged].contains(counted.outcome))
                if counted.outcome == .loaded {
                    let counts = [counted.added, counted.removed, counted.changed]
                    #expect(counts == [5, 0, 1])
                }
                let reply = try await daemon.dig("n1.big.test")
                #expect(reply.data("A") == ["192.0.2.101"])
            }
        }
    }
}
