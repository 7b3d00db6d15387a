import Foundation
import Testing

extension TheDaemon {
    /// The dashboard and the alerts ask for what is exported.
    @Suite("The dashboard and the alerts")
    struct DashboardTests {
        /// The names with the labels that samples have, as the daemon exports them.
        private func exported() async throws -> [String: Set<String>] {
            let port = UInt16.random(in: 30_000..<32_000)
            let zone = try Scratch.shared.file("a.zone", "a.test. A 192.0.2.1\n")
            let file = try Scratch.shared.file(
                "detour.json5",
                "{ zones: [\"\(zone)\"], metrics: \"127.0.0.1:\(port)\" }"
            )
            var names: [String: Set<String>] = [:]
            try await Daemon.with(["--config", file, "--upstream", "127.0.0.9:5399"]) { daemon in
                // The time of the last reload is exported from the first one on.
                daemon.program.signal(SIGHUP)
                var text = ""
                for _ in 0..<50 {
                    let url = "http://127.0.0.1:\(port)/metrics"
                    text = try await Program.run("curl", ["-sS", url]).output
                    if text.contains("detour_last_reload_timestamp_seconds") { break }
                    try await Task.sleep(for: .milliseconds(100))
                }
                for line in text.split(separator: "\n") {
                    let words = line.split(separator: " ")
                    if line.hasPrefix("# TYPE ") {
                        names[String(words[2]), default: []].insert("instance")
                        continue
                    }
                    guard !line.hasPrefix("#") else { continue }
                    let name = String(line.prefix { $0 != "{" && $0 != " " })
                    let labels = line.split { $0 == "{" || $0 == "," || $0 == "}" }.dropFirst()
                    names[name, default: []].formUnion(
                        labels.filter { $0.contains("=") }.map { String($0.prefix { $0 != "=" }) }
                            + ["instance", "job"]
                    )
                }
            }
            return names
        }

        /// `detour_…`, wherever such a name stands.
        private func names(in text: String) -> Set<String> {
            let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
            return Set(words.filter { $0.hasPrefix("detour_") }.map(String.init))
        }

        /// What stands behind `by (…)`, and in the legends.
        private func labels(in text: String) -> Set<String> {
            var found: Set<String> = []
            for part in text.components(separatedBy: "by (").dropFirst() {
                let list = part.prefix { $0 != ")" }
                found.formUnion(list.split { $0 == "," || $0 == " " }.map(String.init))
            }
            for part in text.components(separatedBy: "{{").dropFirst() {
                let name = part.prefix { $0 != "}" }.split { $0 == " " || $0 == "." }.last
                if let name, !part.hasPrefix(" $value") { found.insert(String(name)) }
            }
            return found
        }

        @Test("use names and labels that are exported")
        func exportedNames() async throws {
            let exported = try await exported()
            #expect(exported.count > 30)
            let labels = exported.values.reduce(into: Set<String>()) { $0.formUnion($1) }
            for path in ["packaging/grafana.json", "packaging/prometheus-rules.yml"] {
                let file = Daemon.root.appending(path: path)
                let text = try String(contentsOf: file, encoding: .utf8)
                let used = names(in: text)
                #expect(used.count >= 6)
                #expect(used.subtracting(exported.keys) == [], "\(path)")
                #expect(self.labels(in: text).subtracting(labels) == [], "\(path)")
            }
        }

        @Test("are what Grafana and Prometheus read")
        func formats() async throws {
            let file = Daemon.root.appending(path: "packaging/grafana.json")
            let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
            let dashboard = try #require(json as? [String: Any])
            let panels = try #require(dashboard["panels"] as? [[String: Any]])
            let ids = panels.compactMap { $0["id"] as? Int }
            #expect(panels.count > 10 && Set(ids).count == panels.count)
            for panel in panels where panel["type"] as? String != "row" {
                let targets = try #require(panel["targets"] as? [[String: Any]])
                #expect(!targets.isEmpty)
                for target in targets { #expect(target["expr"] is String) }
            }
            guard (try? Program.find("promtool")) != nil else { return }
            let rules = Daemon.root.appending(path: "packaging/prometheus-rules.yml").path
            let judged = try await Program.run("promtool", ["check", "rules", rules])
            #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
        }
    }
}
