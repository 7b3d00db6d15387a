import Control
import Foundation
import Support
import Testing

extension TheDaemon {
    /// The daemon's word about a name must be what it does.
    @Suite("Explains itself")
    struct ExplainTests {
        private let zone = "$ORIGIN example.test.\napi A 192.0.2.1\nal CNAME www.example.com.\n"

        /// The lines of an explanation in front of the answer.
        private func steps(_ control: Controlled, _ question: String...) async throws -> [String] {
            let outcome = try await Program.run(
                Controlled.command,
                ["explain", "--control", control.socket] + question
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix(";") && !$0.contains("\t") }
        }

        @Test("what is cached and forwarded, as dig gets it")
        func forwarding() async throws {
            try await PublicDNS.with { upstream in
                let control = try Controlled()
                let file = try Scratch.shared.file("a.zone", zone)
                let options = ["--zone", file] + upstream.options + control.options
                try await Daemon.with(options) { daemon in
                    let before = try await steps(control, "www.example.com")
                    #expect(before.contains("cache         www.example.com. A is not cached"))
                    #expect(
                        before.last?.hasPrefix(
                            "forwarding  * www.example.com. is forwarded to "
                                + "127.0.0.1:\(upstream.port) ("
                        ) == true
                    )
                    // Two workers: one of them is asked.
                    _ = try await daemon.dig("al.example.test")
                    let after = try await steps(control, "al.example.test")
                    #expect(
                        after[2] == "overrides   * al.example.test. is owned: it is an alias of "
                            + "www.example.com.  (\(file):3)"
                    )
                    #expect(
                        after.last?.hasPrefix("cache       * www.example.com. A is cached: ")
                            == true
                    )
                    var request = Request(.explain)
                    request.name = "al.example.test"
                    let told = try await control.ask(request, for: Explanation.self)
                    #expect(told.disposition == "answered")
                    #expect(told.text.contains("\tIN\tA\t198.51.100.10"))
                }
            }
        }

        @Test("what was set, by whom and until when; views; and what it was not asked")
        func overrides() async throws {
            let control = try Controlled()
            let folder = try Scratch.shared.makeFolder()
            let file = "\(folder)/a.zone"
            let view = "\(folder)/phones.zone"
            try zone.write(toFile: file, atomically: true, encoding: .utf8)
            try "api.example.test. A 192.0.2.5\n".write(
                toFile: view,
                atomically: true,
                encoding: .utf8
            )
            let configuration = "\(folder)/detour.json5"
            try """
            { zones: ["a.zone"], upstreams: [],
              views: [{ name: "phones", clients: ["10.1.0.0/16"], zones: ["phones.zone"] }] }
            """.write(toFile: configuration, atomically: true, encoding: .utf8)
            try await Daemon.with(["--config", configuration] + control.options) { daemon in
                let set = try await control.detour(
                    "set",
                    "api.example.test",
                    "A",
                    "192.0.2.9",
                    "--for",
                    "1h",
                    "--note",
                    "a test"
                )
                #expect(set.status == 0, "\(set.errors)")
                let told = try await steps(control, "api.example.test")
                #expect(
                    told[3]
                        == "overrides   * api.example.test. is owned: it has A records  (runtime:1)"
                )
                #expect(told[4].contains("set by ") && told[4].contains(", until "))
                #expect(told[4].hasSuffix(": a test"))
                #expect(told[5] == "              api.example.test. is shadowed  (\(file):2)")

                let phone = try await steps(control, "api.example.test", "--view", "phones")
                #expect(phone[2] == "view          the view phones")
                #expect(phone[3].hasSuffix("it has A records  (\(view):1)"))
                let same = try await steps(control, "api.example.test", "--client", "10.1.2.3")
                #expect(Array(same.dropFirst(2)) == Array(phone.dropFirst(2)))

                // Other words about the answer are those of the offline command.
                let offline = try await Program.run(
                    Controlled.command,
                    ["explain", "api.example.test", "--view", "phones", "--config", configuration]
                )
                let lines = offline.output.split(separator: "\n").map(String.init)
                    .filter { !$0.hasPrefix(";") && !$0.contains("\t") }
                #expect(
                    lines.filter { !$0.contains("runtime") }
                        == phone.filter {
                            !$0.contains("runtime") && !$0.contains("set by")
                        }
                )

                let view = try await control.detour("explain", "a.test", "--view", "tablets")
                #expect(view.status == 1 && view.errors.contains("there are phones"))
                let list = try await control.ask(Request(.list), for: ListResult.self)
                #expect(list.overrides.count == 1)
                let answer = try await daemon.dig("api.example.test")
                #expect(answer.error == "4 (Forged Answer): (runtime:1)")
            }
        }
    }
}
