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

        private static func with(_ body: (Upstream) async throws -> Void) async throws {
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

        @Test("a wrong name and an unknown anchor are refused, and the log says so")
        func refusals() async throws {
            try await Self.with { upstream in
                let cases = [
                    (
                        [
                            "--upstream", upstream.address("other.example"), "--upstream-anchors",
                            upstream.anchor,
                        ],
                        "hostname mismatch"
                    ),
                    (
                        ["--upstream", upstream.address("dns.example")],
                        "unable to get local issuer certificate"
                    ),
                ]
                for (options, reason) in cases {
                    try await Daemon.with(options, workers: 1) { daemon in
                        let reply = try await daemon.dig("www.example")
                        #expect(reply.status == "SERVFAIL")
                        #expect(await daemon.says(reason), "\(daemon.program.complaints)")
                    }
                }
            }
        }
    }
}
