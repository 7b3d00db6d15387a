import Foundation
import Testing

extension TheDaemon {
    /// Unbound with its TLS listener, and certificates made on the spot.
    @Suite("An upstream over TLS")
    struct EncryptedUpstreamTests {
        private struct Upstream {
            let program: Program
            let port: UInt16
            let anchor: String

            func address(_ name: String) -> String {
                name.isEmpty ? "tls://127.0.0.1:\(port)" : "tls://127.0.0.1:\(port)#\(name)"
            }
        }

        private static func openssl(_ line: String) async throws {
            let words = line.split(separator: " ").map(String.init)
            let outcome = try await Program.run("openssl", words)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        private static func with(
            idle milliseconds: Int = 30_000,
            _ body: (Upstream) async throws -> Void
        ) async throws {
            let folder = try Scratch.shared.makeFolder()
            let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            let names = try Scratch.shared.file(
                "names.txt",
                "subjectAltName=DNS:dns.example,IP:127.0.0.1\n"
            )
            try await openssl(
                "req -x509 \(key) -keyout \(folder)/ca.key -out \(folder)/ca.pem -subj /CN=Test"
            )
            try await openssl(
                "req \(key) -keyout \(folder)/server.key -out \(folder)/server.csr -subj /CN=dns"
            )
            try await openssl(
                "x509 -req -in \(folder)/server.csr -CA \(folder)/ca.pem -CAkey \(folder)/ca.key "
                    + "-CAcreateserial -out \(folder)/server.pem -extfile \(names)"
            )
            let port = UInt16.random(in: 20_000..<30_000)
            let file = try Scratch.shared.file(
                "unbound.conf",
                """
                server:
                  interface: 127.0.0.1@\(port)
                  tls-port: \(port)
                  tls-service-key: \(folder)/server.key
                  tls-service-pem: \(folder)/server.pem
                  access-control: 127.0.0.0/8 allow
                  do-daemonize: no
                  chroot: ""
                  username: ""
                  pidfile: ""
                  use-syslog: no
                  module-config: "iterator"
                  tcp-idle-timeout: \(milliseconds)
                  local-zone: "example." redirect
                  local-data: "example. 300 IN A 203.0.113.7"
                """ + "\n"
            )
            let program = try Program("unbound", ["-d", "-c", file])
            defer { program.signal(SIGTERM) }
            try await Task.sleep(for: .seconds(1))
            try #require(program.isRunning, "\(program.complaints)")
            try await body(
                Upstream(program: program, port: port, anchor: "\(folder)/ca.pem")
            )
        }

        @Test("answers, many at a time, whether it is certified for its name or its address")
        func answers() async throws {
            try await Self.with { upstream in
                for name in ["dns.example", ""] {
                    let options = [
                        "--upstream", upstream.address(name), "--upstream-anchors", upstream.anchor,
                    ]
                    try await Daemon.with(options, workers: 1) { daemon in
                        #expect(daemon.program.complaints.contains(upstream.address(name)))
                        for number in 0..<3 {
                            let reply = try await daemon.dig("n\(number).example")
                            #expect(reply.data("A") == ["203.0.113.7"], "\(reply.text)")
                        }
                    }
                }
            }
        }

        @Test("a wrong name and an unknown anchor are refused: the log and the client hear why")
        func refusals() async throws {
            try await Self.with { upstream in
                let cases = [
                    (
                        [
                            "--upstream", upstream.address("other.example"), "--upstream-anchors",
                            upstream.anchor,
                        ],
                        "its certificate is not for other.example"
                    ),
                    (
                        ["--upstream", upstream.address("dns.example")],
                        "its certificate does not lead to an anchor of the system"
                    ),
                    (
                        [
                            "--upstream", upstream.address("dns.example"), "--upstream-anchors",
                            try await Self.strangeAnchor(),
                        ],
                        "its certificate does not lead to an anchor in strange.pem"
                    ),
                    (
                        ["--upstream", "tls://127.0.0.1:1#dns.example"],
                        "cannot connect: Connection refused (ECONNREFUSED)"
                    ),
                ]
                for (options, reason) in cases {
                    try await Daemon.with(options, workers: 1) { daemon in
                        let reply = try await daemon.dig("www.example")
                        #expect(reply.status == "SERVFAIL")
                        let error = try #require(reply.error)
                        #expect(error.contains("23 (Network Error): (\(options[1]): \(reason)"))
                        let line = "upstream \(options[1]) cannot be asked: \(reason)"
                        #expect(await daemon.says(line), "\(daemon.program.complaints)")
                    }
                }
            }
        }

        /// An anchor that nobody's certificate leads to.
        private static func strangeAnchor() async throws -> String {
            let folder = try Scratch.shared.makeFolder()
            try await openssl(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                    + "-keyout \(folder)/strange.key -out \(folder)/strange.pem -subj /CN=Strange"
            )
            return "\(folder)/strange.pem"
        }

        @Test("each group has its own anchors, and a file that changes is read again by itself")
        func anchorsOfGroups() async throws {
            try await Self.with { upstream in
                let folder = try Scratch.shared.makeFolder()
                let right = try String(contentsOfFile: upstream.anchor, encoding: .utf8)
                let strange = try await Self.strangeAnchor()
                let wrong = try String(contentsOfFile: strange, encoding: .utf8)
                try Scratch.shared.write(wrong, to: "\(folder)/corp.pem")
                try Scratch.shared.write(
                    """
                    {
                      upstreams: ["\(upstream.address("dns.example"))"],
                      upstreamAnchors: "\(upstream.anchor)",
                      forward: [{
                        suffix: "corp.example.", upstreams: ["\(upstream.address("dns.example"))"],
                        upstreamAnchors: "corp.pem",
                      }],
                    }
                    """,
                    to: "\(folder)/detour.json5"
                )
                let options = ["--config", "\(folder)/detour.json5"]
                try await Daemon.with(options, workers: 1) { daemon in
                    #expect(try await daemon.dig("a.example").data("A") == ["203.0.113.7"])
                    let refused = try await daemon.dig("a.corp.example")
                    #expect(refused.status == "SERVFAIL")
                    #expect(refused.error?.contains("an anchor in corp.pem") == true)
                    try Scratch.shared.write("nothing\n", to: "\(folder)/corp.pem")
                    #expect(await daemon.says("corp.pem: error: forward[0].upstreamAnchors: there"))
                    #expect(try await daemon.dig("b.example").data("A") == ["203.0.113.7"])
                    try Scratch.shared.write(right, to: "\(folder)/corp.pem")
                    #expect(await daemon.says("reloaded: "))
                    #expect(try await daemon.dig("b.corp.example").data("A") == ["203.0.113.7"])
                }
            }
        }

        @Test("--check says what is wrong with a file of anchors")
        func checkedAnchors() async throws {
            let empty = try Scratch.shared.file("empty.pem", "")
            for (file, sentence) in [
                ("/nowhere/ca.pem", "cannot be read: No such file or directory (ENOENT)"),
                (
                    empty,
                    "there is no certificate in it, or one that cannot be read; PEM is expected"
                ),
            ] {
                let configuration = try Scratch.shared.file(
                    "detour.json5",
                    "{ upstreams: [\"tls://127.0.0.1\"], upstreamAnchors: \"\(file)\" }"
                )
                let options = [
                    ["--config", configuration],
                    ["--upstream", "tls://127.0.0.1", "--upstream-anchors", file],
                ]
                for options in options {
                    let outcome = try await Program.run(Daemon.path, ["--check"] + options)
                    #expect(outcome.status == 78)
                    #expect(outcome.errors == "\(file): error: upstreamAnchors: \(sentence)\n")
                }
            }
        }

        @Test(
            "the next connection resumes the session, whoever has ended the last",
            arguments: [300, 30_000]
        )
        func resumption(idle: Int) async throws {
            try await Self.with(idle: idle) { upstream in
                let metrics = UInt16.random(in: 30_000..<32_000)
                let file = try Scratch.shared.file(
                    "detour.json5",
                    """
                    {
                      upstreams: ["\(upstream.address("dns.example"))"],
                      upstreamAnchors: "\(upstream.anchor)", metrics: "127.0.0.1:\(metrics)",
                    }
                    """
                )
                try await Daemon.with(["--config", file], workers: 1) { daemon in
                    for name in ["a.example", "b.example"] {
                        #expect(try await daemon.dig(name).data("A") == ["203.0.113.7"])
                        // We end a connection that has been idle for eight seconds.
                        try await Task.sleep(for: .milliseconds(idle < 1000 ? 1_000 : 10_000))
                    }
                    let url = "http://127.0.0.1:\(metrics)/metrics"
                    let scrape = try await Program.run("curl", ["-sS", url]).output
                    for (resumed, count) in [("no", 1), ("yes", 1)] {
                        let line =
                            "detour_upstream_handshakes_total{resumed=\"\(resumed)\"} \(count)\n"
                        #expect(scrape.contains(line), "\(scrape)")
                    }
                }
            }
        }
    }
}
