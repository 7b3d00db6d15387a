import Control
import Foundation
import Testing

extension TheDaemon {
    @Suite("Limits of its clients")
    struct LimitationTests {
        private func settings(_ limits: String, port: UInt16) -> String {
            """
            {
              zones: ["a.zone"], upstreams: [], metrics: "127.0.0.1:\(port)",
              limits: { \(limits) },
            }
            """
        }

        @Test("they come from the file, are counted and told, and change with it")
        func configuration() async throws {
            let control = try Controlled()
            let port = UInt16.random(in: 30_000..<32_000)
            let zone = try Scratch.shared.file("a.zone", "a.test. A 192.0.2.1\n")
            let file = String(zone.dropLast("a.zone".count)) + "detour.json5"
            let few = settings("queries: 1, burst: 3, exempt: []", port: port)
            try Scratch.shared.write(few, to: file)
            try await Daemon.with(["--config", file] + control.options) { daemon in
                var truncated = 0
                for _ in 0..<5 {
                    let reply = try await daemon.dig("a.test +ignore")
                    if reply.flags.contains("tc") {
                        #expect(reply.answer.isEmpty && reply.status == "NOERROR")
                        truncated += 1
                    }
                }
                #expect((1...2).contains(truncated))
                // dig comes over TCP by itself where it is told to.
                let whole = try await daemon.dig("a.test")
                #expect(whole.data("A") == ["192.0.2.1"])
                let warning = "the client 127.0.0.1 asks more than 1 queries a second"
                #expect(await daemon.says(warning))
                let scrape = try await Program.run("curl", ["-sS", "127.0.0.1:\(port)/metrics"])
                let line = scrape.output.split(separator: "\n").first {
                    $0.hasPrefix("detour_limited_total{reason=\"truncated\"}")
                }
                let count = try #require(line?.split(separator: " ").last.flatMap { Int($0) })
                #expect(count >= truncated)
                let status = try await control.detour("status")
                #expect(status.output.contains("limited \(count)"), "\(status.output)")

                let many = settings("queries: 1000, exempt: [], connections: 7", port: port)
                try Scratch.shared.write(many, to: file)
                #expect(await daemon.says("limits.connections has changed; that takes a restart"))
                #expect(await daemon.says("reloaded: "))
                // What it owed is forgotten with the old limits.
                _ = try await daemon.dig("a.test +ignore")
                for _ in 0..<20 {
                    let reply = try await daemon.dig("a.test +ignore")
                    #expect(reply.data("A") == ["192.0.2.1"])
                }
                #expect(daemon.program.complaints.components(separatedBy: warning).count == 2)
            }
        }

        @Test("flags set them too, and loopback is exempt unless the file says otherwise")
        func flags() async throws {
            let zone = try Scratch.shared.file("a.zone", "a.test. A 192.0.2.1\n")
            let options = ["--zone", zone, "--limit", "queries=1", "--limit", "burst=1"]
            try await Daemon.with(options + Daemon.alone) { daemon in
                for _ in 0..<10 {
                    let reply = try await daemon.dig("a.test +ignore")
                    #expect(reply.data("A") == ["192.0.2.1"])
                }
            }
            let file = try Scratch.shared.file("detour.json5", "{ limits: { exempt: [] } }")
            let limited = ["--config", file] + options + Daemon.alone
            try await Daemon.with(limited) { daemon in
                var truncated = 0
                for _ in 0..<5 {
                    let reply = try await daemon.dig("a.test +ignore")
                    truncated += reply.flags.contains("tc") ? 1 : 0
                }
                #expect(truncated > 0)
            }
            try await Daemon.with(limited + ["--exempt", "127.0.0.1"]) { daemon in
                for _ in 0..<5 {
                    let reply = try await daemon.dig("a.test +ignore")
                    #expect(reply.data("A") == ["192.0.2.1"])
                }
            }
            for (flag, text) in [
                ("querys=5", "did you mean queries=N?"), ("queries=-5", "write a number from 0 to"),
                ("burst", "did you mean burst=N?"), ("ipv4Prefix=33", "from 1 to 32"),
            ] {
                let outcome = try await Program.run(Daemon.path, ["--limit", flag])
                #expect(outcome.status == 64 && outcome.errors.contains(text), "\(outcome.errors)")
            }
        }
    }
}
