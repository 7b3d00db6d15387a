import Control
import Foundation
import Platform
import Support
import Testing

extension TheDaemon {
    @Suite("Observed")
    struct ObservationTests {
        private func daemon(
            _ settings: String,
            _ body: (Daemon, Controlled, String) async throws -> Void
        ) async throws {
            let control = try Controlled()
            let port = UInt16.random(in: 30_000..<32_000)
            let zone = try Scratch.shared.file("a.zone", "a.test. A 192.0.2.1\n")
            let file = try Scratch.shared.file(
                "detour.json5",
                "{ zones: [\"\(zone)\"], metrics: \"127.0.0.1:\(port)\", \(settings) }"
            )
            try await Daemon.with(["--config", file] + control.options) { daemon in
                try await body(daemon, control, "http://127.0.0.1:\(port)")
            }
        }

        @Test("metrics are what Prometheus reads, and count what was asked")
        func metrics() async throws {
            try await PublicDNS.with { upstream in
                let address = upstream.options[1]
                try await daemon("upstreams: [\"\(address)\"]") { daemon, _, url in
                    for _ in 0..<3 { _ = try await daemon.dig("a.test") }
                    _ = try await daemon.dig("a.test +tcp")
                    _ = try await daemon.dig("www.example.com")
                    _ = try await daemon.dig("www.example.com")
                    let scrape = try await Program.run("curl", ["-sS", url + "/metrics"])
                    let lines = Set(scrape.output.split(separator: "\n").map(String.init))
                    for line in [
                        "detour_queries_total{protocol=\"udp\"} 5",
                        "detour_queries_total{protocol=\"tcp\"} 1",
                        "detour_answers_total{source=\"override\"} 4",
                        "detour_answers_total{source=\"cache\"} 1",
                        "detour_answers_total{source=\"upstream\"} 1",
                        "detour_query_duration_seconds_count{answer=\"local\"} 5",
                        "detour_query_duration_seconds_count{answer=\"upstream\"} 1",
                        "detour_upstream_up{upstream=\"\(address)\"} 1",
                        "detour_cache_entries 1", "detour_override_names 1", "detour_zones 1",
                    ] {
                        #expect(lines.contains(line), "\(line) in \(scrape.output)")
                    }
                    try check(scrape.output)
                    for (path, body) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
                        let outcome = try await Program.run("curl", ["-sS", url + path])
                        #expect(outcome.output == body)
                    }
                    let missing = try await Program.run(
                        "curl",
                        ["-s", "-o", "/dev/null", "-w", "%{http_code}", url + "/nothing"]
                    )
                    #expect(missing.output == "404")
                    let file = try Scratch.shared.file("metrics", scrape.output)
                    let script = """
                        from prometheus_client.parser import text_string_to_metric_families as families
                        print(sum(len(family.samples) for family in families(open('\(file)').read())))
                        """
                    let program = try Scratch.shared.file("count.py", script)
                    let read = try await Program.run("sh", ["-c", "python3 \(program)"])
                    let samples = lines.filter { !$0.hasPrefix("#") }.count
                    if read.errors.contains("No module named") {
                        print("skipped: prometheus_client is not installed")
                    } else {
                        #expect(read.output == "\(samples)\n", "\(read.errors)")
                    }
                    guard (try? Program.find("promtool")) != nil else { return }
                    let judged = try await Program.run(
                        "sh",
                        ["-c", "promtool check metrics <\(file)"]
                    )
                    #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
                }
            }
        }

        @Test("queries are the sum of replies, drops by reason and those that wait")
        func sums() async throws {
            let port = UInt16.random(in: 30_000..<32_000)
            let rpz = try Scratch.shared.file(
                "rpz",
                "never CNAME rpz-drop.\n32.66.100.51.198.rpz-ip CNAME rpz-drop.\n"
            )
            try await PublicDNS.with { upstream in
                let file = try Scratch.shared.file(
                    "detour.json5",
                    """
                    {
                      zones: [{ file: "\(rpz)", kind: "rpz", origin: "rpz.test." }],
                      upstreams: ["\(upstream.options[1])"], metrics: "127.0.0.1:\(port)",
                    }
                    """
                )
                var began = ContinuousClock.now
                try await Daemon.with(["--config", file]) { daemon in
                    for transport in ["+notcp", "+tcp"] {
                        let answered = try await daemon.dig("www.example.com \(transport)")
                        #expect(answered.status == "NOERROR")
                        // Dropped at once, and when its answer has come.
                        let silent = try await daemon.dig("never \(transport) +timeout=1")
                        #expect(silent.status == "")
                        let late = try await daemon.dig("api.example.com \(transport) +timeout=1")
                        #expect(late.status == "", "\(late.text)")
                    }
                    let address = SocketAddress(ipv4: 0x7F00_0001, port: daemon.port)
                    let datagrams = try DatagramClient(to: address)
                    var response = Messages.query("a.test", id: 3)
                    response[2] |= 0x80
                    for datagram in [response, [1, 2, 3], Array(repeating: 0, count: 9_000)] {
                        datagrams.send(datagram)
                    }
                    let url = "http://127.0.0.1:\(port)/metrics"
                    let scrape = try await Program.run("curl", ["-sS", url]).output
                    let lines = Set(scrape.split(separator: "\n").map(String.init))
                    for line in [
                        "detour_queries_total{protocol=\"udp\"} 6",
                        "detour_queries_total{protocol=\"tcp\"} 3",
                        "detour_replies_total{when=\"at_once\"} 1",
                        "detour_replies_total{when=\"later\"} 1", "detour_queries_waiting 0",
                        "detour_drops_total{reason=\"policy\"} 4",
                        "detour_drops_total{reason=\"not_a_query\"} 2",
                        "detour_drops_total{reason=\"over_rate\"} 0",
                        "detour_drops_total{reason=\"too_long\"} 1",
                        "detour_drops_total{reason=\"receive_buffer\"} 0",
                        "detour_replies_lost_total{reason=\"not_sent\"} 0",
                        "detour_replies_lost_total{reason=\"client_gone\"} 0",
                    ] {
                        #expect(lines.contains(line), "\(line) in \(scrape)")
                    }
                    began = ContinuousClock.now
                }
                // What waited for an answer that was dropped is not waited for any more.
                #expect(ContinuousClock.now - began < .seconds(1.5))
            }
        }

        /// What promtool checks, and more: every sample belongs to the family in front of it.
        private func check(_ text: String) throws {
            var family = ""
            var families: Set<String> = []
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if line.hasPrefix("# HELP ") {
                    family = String(words[2])
                    #expect(families.insert(family).inserted, "\(family) stands twice")
                } else if line.hasPrefix("# TYPE ") {
                    #expect(words[2] == family)
                    #expect((words[3] == "counter") == family.hasSuffix("_total"), "\(family)")
                } else {
                    #expect(line.hasPrefix(family) && Double(words[words.count - 1]) != nil)
                }
            }
            #expect(families.count > 20)
        }

        @Test("a scrape under load costs no query")
        func scrapes() async throws {
            try await daemon("upstreams: []") { daemon, _, url in
                let load = Load(port: daemon.port, rate: 3000, seconds: 2)
                async let result = load.run()
                for _ in 0..<20 {
                    let scrape = try await Program.run("curl", ["-sS", url + "/metrics"])
                    #expect(scrape.output.contains("detour_build_info"))
                }
                let outcome = try await result
                #expect(outcome.lost == 0 && outcome.sent > 2000, "\(outcome)")
            }
        }

        @Test("every query is in the log, once; and those who follow see them too")
        func queryLog() async throws {
            try await daemon("upstreams: [], log: { queries: \"all\", format: \"json\" }") {
                daemon,
                control,
                _ in
                let follower = try Program(
                    Controlled.command,
                    ["log", "--follow", "--control", control.socket]
                )
                try await Task.sleep(for: .milliseconds(300))
                for number in 0..<20 {
                    _ = try await daemon.dig("a.test A +tries=1 +qid=\(number)")
                }
                _ = try await daemon.dig("\\\"x\\\\.test TXT +tcp")
                try await Task.sleep(for: .milliseconds(400))
                let said = daemon.program.complaints.split(separator: "\n").filter {
                    $0.contains("\"client\":\"127.0.0.1\"")
                }
                #expect(said.count == 21, "\(daemon.program.complaints)")
                for line in said {
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                    let query = try #require(object as? [String: Any])
                    #expect(
                        query["name"] as? String == "a.test." || query["type"] as? String == "TXT"
                    )
                }
                #expect(
                    said.contains { $0.contains("\"source\":\"override\",\"code\":\"NOERROR\"") }
                )
                #expect(
                    said.contains { $0.contains("\"protocol\":\"tcp\"") && $0.contains("REFUSED") }
                )
                // Whatever signals the tests have blocked, it has too.
                follower.signal(SIGKILL)
                _ = await follower.end()
                let output = follower.text
                let seen = output.split(separator: "\n").filter { $0.contains("\"a.test.\"") }
                #expect(seen.count == 20, "\(output)")
            }
        }
    }
}
