import Foundation
import Support
import Testing

extension TheDaemon {
    @Suite("While it runs")
    struct ReloadTests {
        /// A zone with so many names, all with one address and one alias target.
        private func zone(version: Int, names: Int = 2000) -> String {
            "$ORIGIN load.test.\n$TTL 5\n"
                + (0..<names).map { "n\($0) A 192.0.2.\(version)\n" }.joined()
                + "cn CNAME version\(version)\nversion\(version) A 192.0.2.\(version)\n"
        }

        @Test("reloads under 5 000 queries a second lose none, and no answer is a mix")
        func reloads() async throws {
            let file = try Scratch.shared.file("load.zone", zone(version: 1))
            try await Daemon.with(["--zone", file] + Daemon.alone) { daemon in
                let load = Load(port: daemon.port, rate: 5000, seconds: 4)
                async let result = load.run()
                for version in 2...7 {
                    try await Task.sleep(for: .milliseconds(500))
                    try Scratch.shared.write(zone(version: version), to: file)
                    daemon.program.signal(SIGHUP)
                    #expect(await daemon.says("reloaded: ", times: version - 2))
                }
                let outcome = try await result
                #expect(outcome.sent > 15_000, "\(outcome)")
                #expect(outcome.lost == 0, "\(outcome)")
                #expect(outcome.mixed == 0, "\(outcome)")
                #expect(outcome.versions == [1, 2, 3, 4, 5, 6, 7])
            }
        }

        @Test("a reload with an error at line 7 says where, and keeps what was served")
        func refusedReload() async throws {
            let good = (1...7).map { "n\($0).test. A 192.0.2.\($0)\n" }.joined()
            let file = try Scratch.shared.file("office.zone", good)
            try await Daemon.with(["--zone", file] + Daemon.alone) { daemon in
                let bad = good.replacing("n7.test. A 192.0.2.7", with: "n7.test. A 192.0.2.777")
                try Scratch.shared.write(bad, to: file)
                daemon.program.signal(SIGHUP)
                #expect(await daemon.says("reload refused; "))
                #expect(daemon.program.complaints.contains("\(file):7:12: error: "))
                let kept = try await daemon.dig("n7.test")
                #expect(kept.data("A") == ["192.0.2.7"])
                let other = try await daemon.dig("n1.test")
                #expect(other.data("A") == ["192.0.2.1"])

                let better = good.replacing("192.0.2.7", with: "192.0.2.70")
                try Scratch.shared.write(better, to: file)
                daemon.program.signal(SIGHUP)
                #expect(await daemon.says("reloaded: "))
                let new = try await daemon.dig("n7.test")
                #expect(new.data("A") == ["192.0.2.70"])
            }
        }

        @Test("100 queries with one id on one connection are answered, also behind a half-close")
        func pipelining() async throws {
            let file = try Scratch.shared.file("load.zone", zone(version: 1, names: 100))
            try await Daemon.with(["--zone", file] + Daemon.alone) { daemon in
                let names = (0..<100).map { "n\($0).load.test" }
                let queries = names.map { Messages.query($0, id: 1) }
                for finishes in [false, true] {
                    let replies = try await Stub.exchange(
                        queries,
                        port: daemon.port,
                        tcp: true,
                        thenFinish: finishes
                    )
                    #expect(Set(replies.map(Messages.name)) == Set(names))
                    #expect(replies.allSatisfy { Messages.address($0) == "192.0.2.1" })
                }
            }
        }

        @Test(
            "an upstream that never answers holds nobody else up, and ends in SERVFAIL with the reason"
        )
        func silentUpstream() async throws {
            let file = try Scratch.shared.file("load.zone", zone(version: 1, names: 1))
            let silence = try Silence()
            let options = ["--zone", file, "--upstream", "127.0.0.1:\(silence.port)"]
            try await Daemon.with(options, workers: 1) { daemon in
                async let slow = daemon.dig("www.example.com")
                try await Task.sleep(for: .milliseconds(50))
                let start = ContinuousClock.now
                let override = try await daemon.dig("n0.load.test")
                #expect(override.data("A") == ["192.0.2.1"])
                #expect(ContinuousClock.now - start < .seconds(1))
                let reply = try await slow
                #expect(reply.status == "SERVFAIL")
                let reason = "(127.0.0.1:\(silence.port) did not answer in time)"
                #expect(reply.error?.contains(reason) == true, "\(reply.text)")
                #expect(ContinuousClock.now - start < .seconds(3))
            }
        }

        @Test("clients outside private and loopback networks are refused, unless they are allowed")
        func refusedClients() async throws {
            let file = try Scratch.shared.file("load.zone", zone(version: 1, names: 1))
            let options = ["--zone", file, "--allow", "192.0.2.0/24"] + Daemon.alone
            try await Daemon.with(options) { daemon in
                let reply = try await daemon.dig("n0.load.test")
                #expect(reply.status == "REFUSED" && reply.error?.hasPrefix("18 ") == true)
            }
            try await Daemon.with(["--zone", file] + Daemon.alone) { daemon in
                let owned = try await daemon.dig("n0.load.test")
                #expect(owned.status == "NOERROR")
                let unknown = try await daemon.dig("www.example.com")
                #expect(unknown.status == "REFUSED")
            }
        }

        @Test("SIGTERM and SIGINT end it with status 0", arguments: [SIGTERM, SIGINT])
        func stops(signal: Int32) async throws {
            try await Daemon.with(Daemon.alone) { daemon in
                daemon.program.signal(signal)
                #expect(await daemon.program.end(within: 3) == 0)
                #expect(daemon.program.complaints.contains("stopped"))
            }
        }
    }
}
