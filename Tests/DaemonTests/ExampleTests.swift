import Foundation
import Testing

extension TheDaemon {
    /// What stands in zones/ is what people begin with: it must load, and mean what it says.
    @Suite("The examples")
    struct ExampleTests {
        static let zones = Daemon.root.appending(path: "zones").path
        static let options = [
            ["--zone", "\(zones)/example.zone"],
            ["--hosts", "\(zones)/example.hosts"],
            ["--rpz", "rpz.example=\(zones)/example.rpz"],
            ["--authoritative", "lab.example=\(zones)/lab.example.zone"],
        ]

        @Test("each loads without a word of complaint", arguments: options)
        func loads(option: [String]) async throws {
            let outcome = try await Program.run(Daemon.path, ["--check"] + option)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            #expect(outcome.output.hasSuffix(", no errors\n"))
        }

        @Test("every file in zones/ is one of them, or their description")
        func complete() throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.zones)
            let named = Self.options.flatMap { $0 }.joined(separator: " ")
            // The anchors are for those who verify endpoints.
            for file in files where !["FORMAT.md", "anchors"].contains(file) {
                #expect(named.contains("/\(file)"), "\(file)")
            }
        }

        @Test("all together answer as their comments say")
        func answers() async throws {
            let options = Self.options.flatMap { $0 } + Daemon.alone
            try await Daemon.with(options) { daemon in
                let expected = [
                    ("api.example.test A", "192.0.2.10"), ("web.example.test AAAA", "2001:db8::20"),
                    ("a.b.apps.example.test A", "192.0.2.30"),
                    ("apps.example.test A", "192.0.2.30"),
                    ("a.eu.apps.example.test A", "192.0.2.31"), ("mail.example.test MX", "10 mail"),
                    ("store.example.test HTTPS", "1 . alpn=\"h2\" port=8443"),
                    ("-x 10.20.30.40", "printer.example.test."),
                    ("wiki.example.test A", "192.0.2.80"),
                    ("scanner.example.test AAAA", "fe80::80"),
                    ("x.tracker.example.net A", "192.0.2.90"),
                    ("node7.lab.example A", "192.0.2.207"),
                    ("ftp.lab.example A", "192.0.2.111"), ("www.old.lab.example A", "192.0.2.110"),
                    ("_https._tcp.lab.example SRV", "0 0 443 www.lab.example."),
                    ("any.users.lab.example A", "192.0.2.120"),
                ]
                for (question, data) in expected {
                    let reply = try await daemon.dig(question)
                    #expect(reply.answer.joined(separator: "\n").contains(data), "\(reply.text)")
                }
                for question in [
                    "api.example.test AAAA", "quiet.example.test", "metrics.example.net",
                ] {
                    let reply = try await daemon.dig(question)
                    #expect(reply.isNoData, "\(reply.text)")
                }
                for name in ["gone.example.test", "x.ads.example.net", "nobody.lab.example"] {
                    let reply = try await daemon.dig(name)
                    #expect(reply.status == "NXDOMAIN", "\(reply.text)")
                }
                // Forwarded, and nothing is: `good.tracker` would be an address otherwise.
                for name in ["public.cdn.example.test", "good.tracker.example.net"] {
                    let reply = try await daemon.dig(name)
                    #expect(reply.answer.isEmpty, "\(reply.text)")
                }
                let large = try await daemon.dig("large.example.test +ignore")
                #expect(large.flags.contains("tc"))
                let silent = try await daemon.dig("silent.example.test +timeout=1")
                #expect(silent.status.isEmpty)
                let referral = try await daemon.dig("x.team.lab.example +norecurse")
                #expect(referral.authority == ["team.lab.example. 3600 IN NS ns.team.lab.example."])
            }
        }
    }
}
