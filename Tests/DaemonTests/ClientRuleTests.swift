import Support
import Testing

extension TheDaemon {
    /// What 44 client libraries need from a server that overrides names, rule by rule.
    @Suite("What clients need")
    struct ClientRuleTests {
        /// The public DNS has other records for most of these names (PublicDNS).
        static let zone =
            """
            $ORIGIN example.com.
            api      A 192.0.2.10
            below    A 192.0.2.11
            a.ent    A 192.0.2.12
            gone     CNAME .
            cn       CNAME api
            cnup     CNAME www
            signed2  A 192.0.2.14
            """ + "\n"
            + (1...120).map { "many A 203.0.113.\($0)\n" }.joined()

        private func serve(_ body: (Daemon) async throws -> Void) async throws {
            try await PublicDNS.with { upstream in
                let file = try Scratch.shared.file("rules.zone", Self.zone)
                try await Daemon.with(["--zone", file] + upstream.options, body)
            }
        }

        @Test("1. the name is owned, not the type: NODATA with an SOA, though upstream has records")
        func ownsTheName() async throws {
            try await serve { daemon in
                for type in ["AAAA", "HTTPS", "SVCB", "MX", "TXT", "SRV", "NS", "CAA"] {
                    let reply = try await daemon.dig("api.example.com \(type)")
                    #expect(reply.isNoData, "\(type): \(reply.text)")
                }
                // The hints of a service on another port would lead around the override.
                let binding = try await daemon.dig("_8443._https.api.example.com HTTPS")
                #expect(binding.isNoData, "\(binding.text)")
                // What only lies below is not owned: certificates are issued by such records.
                let challenge = try await daemon.dig("_acme-challenge.api.example.com TXT")
                #expect(challenge.data("TXT") == ["\"challenge\""])
            }
        }

        @Test(
            "2. a missing type is NODATA, also above an owned name; NXDOMAIN only where it is said"
        )
        func noDataNotNXDomain() async throws {
            try await serve { daemon in
                for type in ["A", "AAAA", "HTTPS", "TXT"] {
                    let gone = try await daemon.dig("gone.example.com \(type)")
                    #expect(gone.status == "NXDOMAIN" && gone.hasOneSOA, "\(type)")
                    // Upstream says that it does not exist, and would take the owned name along.
                    let above = try await daemon.dig("ent.example.com \(type)")
                    #expect(above.status == "NOERROR" && above.answer.isEmpty, "\(above.text)")
                }
            }
        }

        @Test("3. every type is answered: no drop, no SERVFAIL, no REFUSED")
        func everyTypeIsAnswered() async throws {
            try await serve { daemon in
                let types = [
                    "A", "AAAA", "ANY", "CNAME", "SOA", "PTR", "DNSKEY", "RRSIG", "NSEC",
                    "TYPE65280",
                ]
                for type in types {
                    let reply = try await daemon.dig("api.example.com \(type)")
                    #expect(reply.status == "NOERROR", "\(type): \(reply.text)")
                }
            }
        }

        @Test(
            "4. an alias is followed to its end, each step through the overrides first; cold, both orders"
        )
        func aliases() async throws {
            for order in [["A", "AAAA", "HTTPS"], ["HTTPS", "AAAA", "A"]] {
                try await serve { daemon in
                    for type in order {
                        let local = try await daemon.dig("cn.example.com \(type)")
                        #expect(local.data("CNAME") == ["api.example.com."])
                        #expect(local.data(type) == (type == "A" ? ["192.0.2.10"] : []))
                        #expect(local.status == "NOERROR")
                        #expect(local.hasOneSOA == (type != "A"), "\(local.text)")

                        let upstream = try await daemon.dig("cnup.example.com \(type)")
                        #expect(upstream.data("CNAME") == ["www.example.com."])
                        let expected = [
                            "A": "198.51.100.10", "AAAA": "2001:db8:1::10",
                            "HTTPS": "1 . alpn=\"h2\"",
                        ]
                        #expect(upstream.data(type) == [expected[type] ?? ""])

                        // Twice: the second comes from the cache.
                        for _ in 0..<2 {
                            let ours = try await daemon.dig("toours.example.com \(type)")
                            #expect(ours.data("CNAME") == ["api.example.com."])
                            #expect(ours.data(type) == (type == "A" ? ["192.0.2.10"] : []))
                        }
                    }
                }
            }
        }

        @Test("5. what does not fit is TC with as many records as fit; TCP has all of them")
        func truncation() async throws {
            try await serve { daemon in
                let small = try await daemon.dig("many.example.com +ignore +noedns")
                #expect(small.flags.contains("tc"))
                // 512 octets, less header and question, in records of 16.
                let room = 512 - 12 - 22
                #expect(small.answer.count == room / 16)
                let large = try await daemon.dig("many.example.com +ignore +bufsize=4096")
                #expect(large.flags.contains("tc"))
                #expect(large.answer.count == (room + 1232 - 512 - 11) / 16)
                let stream = try await daemon.dig("many.example.com +noedns")
                #expect(stream.answer.count == 120 && !stream.flags.contains("tc"))
                let both = try await Stub.addresses(
                    "many.example.com",
                    port: daemon.port,
                    tcp: true
                )
                #expect(both.count == 2)
            }
        }

        @Test(
            "6. the answer does not depend on DO, CD, AD, EDNS or the case",
            arguments: [
                "+noedns", "+dnssec", "+cdflag", "+adflag", "+cookie", "+ednsopt=5:08", "+nsid",
                "+subnet=192.0.2.0/24", "+ednsopt=65001:00", "+bufsize=512",
            ]
        )
        func sameForAll(option: String) async throws {
            try await serve { daemon in
                let reply = try await daemon.dig("aPi.ExAmple.cOM A \(option)")
                #expect(reply.status == "NOERROR")
                #expect(reply.data("A") == ["192.0.2.10"])
                #expect(reply.question == "aPi.ExAmple.cOM. IN A")
                #expect((reply.edns != nil) == (option != "+noedns"))
                #expect(reply.flags.contains("cd") == (option == "+cdflag"))
                #expect(!reply.flags.contains("ad"))
            }
        }

        @Test("7. DNSSEC passes through where nothing is overridden, to those who ask for it")
        func dnssec() async throws {
            try await serve { daemon in
                for wants in [true, false, true] {
                    let option = wants ? "+dnssec" : "+nodnssec"
                    let reply = try await daemon.dig("signed.example.com A \(option)")
                    #expect(reply.data("A") == ["198.51.100.11"])
                    #expect(reply.data("RRSIG").count == (wants ? 1 : 0), "\(reply.text)")
                    #expect(reply.edns?.contains("do") == wants)
                }
                for type in ["DNSKEY", "DS"] {
                    let reply = try await daemon.dig("signed.example.com \(type)")
                    #expect(reply.data(type).count == 1, "\(reply.text)")
                }
            }
        }

        /// The rule of the clients' survey is NODATA for DS as for any type. Detour forwards it at
        /// the topmost owned name, for there it is the parent's: so a validator can prove that the
        /// name is not signed. Both are what the validators of the survey accept.
        @Test("8. DS at an owned name is the parent's; below another owned name it is NODATA")
        func delegationSigner() async throws {
            try await serve { daemon in
                let reply = try await daemon.dig("api.example.com DS")
                #expect(reply.data("DS").count == 1, "\(reply.text)")
                let key = try await daemon.dig("api.example.com DNSKEY")
                #expect(key.isNoData)
            }
        }

        /// The survey asks for 60 seconds or less; overrides have 5.
        @Test("9. overrides live 5 seconds, negative ones too; forwarded answers 60 at most")
        func timesToLive() async throws {
            try await serve { daemon in
                let override = try await daemon.dig("api.example.com")
                #expect(override.answer == ["api.example.com. 5 IN A 192.0.2.10"])
                let negative = try await daemon.dig("api.example.com AAAA")
                let fields = negative.authority[0].split(separator: " ")
                #expect(fields[1] == "5" && fields[fields.count - 1] == "5")
                for name in ["www.example.com", "slowttl.example.com"] {
                    let reply = try await daemon.dig(name)
                    let ttl = try #require(Int(reply.answer[0].split(separator: " ")[1]))
                    #expect((1...60).contains(ttl))
                }
            }
        }

        @Test("10. names that lead around the server do not; names that clients probe with work")
        func probes() async throws {
            try await serve { daemon in
                let canary = try await daemon.dig("use-application-dns.net")
                #expect(canary.status == "NXDOMAIN")
                let designated = try await daemon.dig("_dns.resolver.arpa SVCB")
                #expect(designated.isNoData)
                let probes = [
                    "firefox.com": "198.51.100.20", "mozilla.org": "198.51.100.21",
                    "example.org": "198.51.100.22", "ipv4only.arpa": "192.0.0.170",
                    "detectportal.firefox.com": "198.51.100.23",
                ]
                for (name, address) in probes {
                    let reply = try await daemon.dig(name)
                    #expect(reply.data("A") == [address], "\(name)")
                }
                let binding = try await daemon.dig("cloudflare-dns.com HTTPS")
                #expect(binding.data("HTTPS") == ["1 . alpn=\"h3\""])
            }
        }

        @Test("11. the answer itself says which line of which file made it")
        func explanation() async throws {
            try await serve { daemon in
                let answer = try await daemon.dig("below.example.com")
                #expect(answer.error == "4 (Forged Answer): (rules.zone:3)")
                let missing = try await daemon.dig("below.example.com AAAA")
                #expect(missing.error == "4 (Forged Answer): (rules.zone:3)")
                let gone = try await daemon.dig("gone.example.com")
                #expect(gone.error == "4 (Forged Answer): (rules.zone:5)")
                let forwarded = try await daemon.dig("www.example.com")
                #expect(forwarded.error == nil)
            }
        }
    }
}
