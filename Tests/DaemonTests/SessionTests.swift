import Support
import Testing

extension TheDaemon {
    /// What somebody does who has just installed it, with the tools that are at hand.
    @Suite("A session with dig and kdig")
    struct SessionTests {
        let zone = """
            $ORIGIN example.com.
            $TTL 5
            api   A 192.0.2.10
            *.app A 192.0.2.20
            cn    CNAME api
            gone  CNAME .
            quiet CNAME *.
            www.app CNAME rpz-passthru.
            """ + "\n"

        @Test("an override over UDP and TCP, with its place in the zone; the rest from upstream")
        func dig() async throws {
            try await PublicDNS.with { upstream in
                let file = try Scratch.shared.file("office.zone", zone)
                try await Daemon.with(["--zone", file] + upstream.options) { daemon in
                    for transport in ["", "+tcp"] {
                        let override = try await daemon.dig("api.example.com \(transport)")
                        #expect(override.answer == ["api.example.com. 5 IN A 192.0.2.10"])
                        #expect(override.flags == ["qr", "aa", "rd", "ra"])
                        #expect(override.error == "4 (Forged Answer): (office.zone:3)")

                        let missing = try await daemon.dig("api.example.com AAAA \(transport)")
                        #expect(missing.isNoData, "\(missing.text)")
                        let binding = try await daemon.dig("api.example.com HTTPS \(transport)")
                        #expect(binding.isNoData, "\(binding.text)")

                        let alias = try await daemon.dig("cn.example.com \(transport)")
                        #expect(alias.data("CNAME") == ["api.example.com."])
                        #expect(alias.data("A") == ["192.0.2.10"])

                        let deep = try await daemon.dig("a.b.app.example.com \(transport)")
                        #expect(deep.data("A") == ["192.0.2.20"])
                        let gone = try await daemon.dig("gone.example.com \(transport)")
                        #expect(gone.status == "NXDOMAIN" && gone.hasOneSOA)
                        let quiet = try await daemon.dig("quiet.example.com \(transport)")
                        #expect(quiet.isNoData)

                        let public_ = try await daemon.dig("www.example.com \(transport)")
                        #expect(public_.data("A") == ["198.51.100.10"])
                        #expect(!public_.flags.contains("aa") && public_.error == nil)
                        let unknown = try await daemon.dig("nobody.example.net \(transport)")
                        #expect(unknown.status == "NXDOMAIN" && unknown.hasOneSOA)
                    }
                }
            }
        }

        @Test("kdig, over UDP, over TCP, and with one connection for several queries")
        func kdig() async throws {
            try await PublicDNS.with { upstream in
                let file = try Scratch.shared.file("office.zone", zone)
                try await Daemon.with(["--zone", file] + upstream.options) { daemon in
                    let server = ["@127.0.0.1", "-p", "\(daemon.port)", "+short"]
                    for transport in [["+notcp"], ["+tcp"], ["+tcp", "+keepopen"]] {
                        let outcome = try await Program.run(
                            "kdig",
                            server + transport + [
                                "api.example.com", "A", "www.example.com", "AAAA",
                            ]
                        )
                        #expect(outcome.output == "192.0.2.10\n2001:db8:1::10\n", "\(transport)")
                    }
                }
            }
        }

        @Test("a stub that asks for both families at once gets both, over UDP and in one segment")
        func stub() async throws {
            try await PublicDNS.with { upstream in
                let file = try Scratch.shared.file("office.zone", zone)
                try await Daemon.with(["--zone", file] + upstream.options) { daemon in
                    for name in ["api.example.com", "www.example.com", "api.example.com"] {
                        let replies = try await Stub.addresses(name, port: daemon.port)
                        #expect(Set(replies.map(Messages.id)) == [1, 2])
                        #expect(replies.allSatisfy { Messages.responseCode($0) == 0 })
                        let streamed = try await Stub.addresses(name, port: daemon.port, tcp: true)
                        #expect(Set(streamed.map(Messages.id)) == [1, 2])
                        #expect(streamed.allSatisfy { Messages.responseCode($0) == 0 })
                    }
                }
            }
        }
    }
}
