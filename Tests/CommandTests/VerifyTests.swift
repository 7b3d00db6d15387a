import Foundation
import Platform
import Testing

/// `detour verify` on zones and configurations, against servers on loopback.
@Suite("Verified overrides", .serialized) struct VerifyTests {
    private func laboratory(_ body: (Laboratory) throws -> Void) throws {
        let laboratory = try Laboratory()
        defer { laboratory.remove() }
        try laboratory.write("api.example.test. A 127.0.0.1", to: "good.zone")
        try body(laboratory)
    }

    @Test("a good endpoint is 0, and the reports are written") func good() throws {
        try laboratory { laboratory in
            try laboratory.serving { port in
                let run = try laboratory.verify(
                    "--zone=good.zone",
                    "--anchors=office.pem",
                    "--port=\(port)",
                    "--report",
                    "junit=verify.xml"
                )
                #expect(run.status == 0, "\(run.text)")
                #expect(run.text.contains("(good.zone:1)"))
                #expect(try laboratory.text(of: "verify.xml").contains("api.example.test"))
            }
        }
    }

    @Test("another name, an unknown issuer: 1; nobody there: 2") func verdicts() throws {
        try laboratory { laboratory in
            try laboratory.write("www.example.test. A 127.0.0.1", to: "wrong.zone")
            try laboratory.write("api.example.test. A 127.0.0.9", to: "away.zone")
            try laboratory.serving { port in
                let port = "--port=\(port)"
                let name = try laboratory.verify("--zone=wrong.zone", "--anchors=office.pem", port)
                #expect(name.status == 1 && name.text.contains("name.mismatch"), "\(name.text)")
                let issuer = try laboratory.verify("--zone=good.zone", "--anchors=other.pem", port)
                #expect(issuer.status == 1 && issuer.text.contains("chain.unknown-issuer"))
                let away = try laboratory.verify("--zone=away.zone", "--anchors=office.pem", port)
                #expect(away.status == 2, "\(away.text)")
            }
        }
    }

    @Test("what is wrong before anything is contacted is 78") func configuration() throws {
        try laboratory { laboratory in
            try laboratory.write("api.example.test. A 127.0.0.1\nwww A 192.0.2", to: "bad.zone")
            try laboratory.write("{ zones: [\"good.zone\"],\n  verfy: {} }", to: "bad.json5")
            let none = try laboratory.verify("--zone=good.zone")
            #expect(none.status == 78)
            #expect(none.text.contains("good.zone:1: error: no anchors"), "\(none.text)")
            let absent = try laboratory.verify("--zone=good.zone", "--anchors=nowhere.pem")
            #expect(absent.status == 78 && absent.text.contains("nowhere.pem"))
            let key = try laboratory.verify("--zone=good.zone", "--anchors=office.key")
            #expect(key.status == 78 && key.text.contains("office.key"))
            let zone = try laboratory.verify("--zone=bad.zone", "--anchors=office.pem")
            #expect(zone.status == 78 && zone.text.hasPrefix("bad.zone:2:7: error: "))
            let file = try laboratory.verify("--config=bad.json5", "--anchors=office.pem")
            #expect(file.status == 78, "\(file.text)")
            #expect(file.text.contains("bad.json5:2:3: error: "), "\(file.text)")
            let missing = try laboratory.verify("--config=nowhere.json5")
            #expect(missing.status == 78)
            #expect(try laboratory.verify("--zone=good.zone", "--server=x").status == 64)
        }
    }

    @Test("names of all kinds: aliases, wildcards, and those that are no targets") func names()
        throws
    {
        try laboratory { laboratory in
            try laboratory.write(
                """
                $ORIGIN example.test.
                api              A      127.0.0.1
                shop             CNAME  api
                far              CNAME  www.example.org.
                _acme-challenge  CNAME  x.example.org.
                *.apps           A      127.0.0.1
                ads              CNAME  .
                text             TXT    "no address"
                """,
                to: "names.zone"
            )
            try laboratory.write("127.0.0.1 a.apps.example.test", to: "team.hosts")
            try laboratory.serving { port in
                let words = ["--zone=names.zone", "--anchors=office.pem", "--port=\(port)"]
                let run = try laboratory.verify(words[0], words[1], words[2])
                #expect(run.status == 0, "\(run.text)")
                #expect(run.text.contains("PASS  shop.example.test"))
                #expect(run.text.contains("SKIP  far.example.test: an alias of www.example.org"))
                #expect(run.text.contains("SKIP  *.apps.example.test: a wildcard without sample"))
                #expect(run.text.contains("2 endpoints, 2 passed"))
                #expect(run.text.contains("2 skipped"))
                let only = try laboratory.verify(words[0], words[1], words[2], "--only=SHOP.*")
                #expect(only.text.contains("1 endpoint, 1 passed"), "\(only.text)")
                let except = try laboratory.verify(
                    words[0],
                    words[1],
                    words[2],
                    "--except=shop.*"
                )
                #expect(except.text.contains("1 endpoint, 1 passed"), "\(except.text)")
                #expect(!except.text.contains("shop."))
                let hosts = try laboratory.verify("--hosts=team.hosts", words[1], words[2])
                #expect(hosts.status == 0 && hosts.text.contains("PASS  a.apps.example.test"))
                let nobody = try laboratory.verify(words[0], words[1], words[2], "--only=nobody")
                #expect(nobody.status == 78)
            }
        }
    }

    @Test("the configuration says what is required, by pattern and by view") func section() throws {
        try laboratory { laboratory in
            try laboratory.write(
                """
                *.apps.example.test. A 127.0.0.1
                www.example.test.    A 127.0.0.1
                api.example.test.    A 127.0.0.1
                """,
                to: "base.zone"
            )
            try laboratory.write("api.example.test. A 127.0.0.9\n A 127.0.0.1", to: "view.zone")
            try laboratory.serving { port in
                try laboratory.write(
                    """
                    { zones: ["base.zone"], upstreams: [],
                      views: [{ name: "v", clients: ["10.0.0.0/8"], zones: ["view.zone"] }],
                      verify: {
                        anchors: ["other.pem"], ports: [1], timeout: 5, jobs: 4,
                        samples: { "*.apps.example.test": ["a.apps.example.test"] },
                        names: [
                          { match: "www.*", anchors: ["office.pem"], ports: [\(port)],
                            allowInvalid: true },
                          { match: "*", anchors: ["office.pem"], ports: [\(port)],
                            expect: { status: [200] } },
                        ] } }
                    """,
                    to: "detour.json5"
                )
                let run = try laboratory.verify("--config=detour.json5")
                #expect(run.status == 2, "\(run.text)")
                #expect(run.text.contains("PASS  a.apps.example.test"))
                #expect(run.text.contains("WAIVED www.example.test"))
                #expect(run.text.contains("PASS  api.example.test at 127.0.0.1:"))
                #expect(run.text.contains("ERROR api.example.test at 127.0.0.9:"))
                #expect(run.text.contains("4 endpoints"), "\(run.text)")
                let teapot = try laboratory.text(of: "detour.json5")
                    .replacing("status: [200]", with: "status: [418]")
                try laboratory.write(teapot, to: "teapot.json5")
                let words = ["--config=teapot.json5", "--only=a.apps.*"]
                #expect(try laboratory.verify(words[0], words[1]).status == 1)
            }
        }
    }

    @Test(
        "a file that the section names and that is not there is 78",
        arguments: [
            "basic: { user: \"ci\", passwordFile: \"nowhere\" }", "revocationLists: [\"nowhere\"]",
            "clientCertificate: { certificate: \"leaf.pem\" }", "pins: [\"AAAA\"]",
            "baseline: \"nowhere\"", "samples: { \"*.apps.example.test\": [\"a.example.test\"] }",
        ]
    ) func files(setting: String) throws {
        try laboratory { laboratory in
            try laboratory.write(
                "{ zones: [\"good.zone\"], verify: { anchors: [\"office.pem\"], \(setting) } }",
                to: "detour.json5"
            )
            let run = try laboratory.verify("--config=detour.json5")
            #expect(run.status == 78, "\(run.text)")
            #expect(run.text.contains("error: "), "\(run.text)")
        }
    }

    @Test("SIGINT ends a run with 130 and its report") func interruption() throws {
        try laboratory { laboratory in
            // The kernel takes the connection, and nobody says a word.
            let silence = try StreamListener(serving: SocketAddress(ipv4: 0x7F00_0001, port: 0))
            let port = try silence.boundAddress().port
            let process = try laboratory.detour(
                [
                    "verify", "--zone=good.zone", "--anchors=office.pem", "--port=\(port)",
                    "--report=junit=verify.xml", "--timeout=60",
                ],
                log: "interrupted"
            )
            var peer = SocketAddress(ipv4: 0, port: 0)
            var connection = StreamSocket.none
            for _ in 0..<500 where !connection.isOpen {
                if let accepted = try silence.accept(from: &peer) { connection = accepted }
                Thread.sleep(forTimeInterval: 0.02)
            }
            process.interrupt()
            process.waitUntilExit()
            #expect(process.terminationStatus == 130)
            #expect(try laboratory.text(of: "verify.xml").contains("api.example.test"))
        }
    }

    @Test("a running daemon is asked, and its answers are kept as evidence") func server() throws {
        try laboratory { laboratory in
            let many = (1...120).map { "many.example.test. A 127.1.0.\($0)\n" }.joined()
            try laboratory.write(many + "api.example.test. A 127.0.0.1", to: "daemon.zone")
            try laboratory.write(
                "api.example.test. A 127.0.0.9\nmany.example.test. A 127.0.0.9",
                to: "stale.zone"
            )
            let listen = UInt16.random(in: 30_000..<32_000)
            let daemon = try laboratory.start(
                Bundle.main.bundleURL.appending(path: "detourd").path,
                [
                    "--listen=127.0.0.1:\(listen)", "--zone=daemon.zone", "--no-upstream",
                    "--workers=1",
                ],
                log: "daemon"
            )
            defer { laboratory.end(daemon) }
            try #require(try laboratory.wait(for: "ready", in: "daemon") != nil)
            try laboratory.serving { port in
                let words = [
                    "--zone=stale.zone", "--anchors=office.pem", "--port=\(port)",
                    "--server=127.0.0.1:\(listen)",
                ]
                let run = try laboratory.verify(
                    words[0],
                    words[1],
                    words[2],
                    words[3],
                    "--only=api.*",
                    "--evidence-out=evidence.json"
                )
                #expect(run.status == 0, "\(run.text)")
                #expect(try laboratory.text(of: "evidence.json").contains("\"dnsAnswer\""))
                // More than a datagram holds comes over TCP.
                let all = try laboratory.verify(words[0], words[1], words[2], words[3])
                #expect(all.text.contains("121 endpoints"), "\(all.text)")
            }
        }
    }

    @Test("a daemon that is not there is told apart from endpoints that are not") func noServer()
        throws
    {
        try laboratory { laboratory in
            let silence = try StreamListener(serving: SocketAddress(ipv4: 0x7F00_0001, port: 0))
            let port = try silence.boundAddress().port
            let run = try laboratory.verify(
                "--zone=good.zone",
                "--anchors=office.pem",
                "--server=127.0.0.1:\(port)"
            )
            #expect(run.status == 2)
            #expect(run.text.contains("127.0.0.1:\(port) did not answer"), "\(run.text)")
        }
    }
}
