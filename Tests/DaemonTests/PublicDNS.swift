import Foundation
import Testing

/// What stands for the public DNS: a real Unbound, on loopback, that serves one small root zone.
///
/// It holds public records of the names that the overrides are about, so that a leak shows.
struct PublicDNS {
    let program: Program
    let port: UInt16

    /// The options by which a daemon forwards to it.
    var options: [String] { ["--upstream", "127.0.0.1:\(port)"] }

    /// Starts it, and ends it behind `body`.
    static func with<Result>(_ body: (PublicDNS) async throws -> Result) async throws -> Result {
        let upstream = try await start()
        defer { upstream.program.signal(SIGKILL) }
        return try await body(upstream)
    }

    private static func start() async throws -> PublicDNS {
        let zone = try Scratch.shared.file("root.zone", records)
        for _ in 0..<10 {
            let port = UInt16.random(in: 30_000..<32_000)
            let settings = try Scratch.shared.file("unbound.conf", configuration(port, zone))
            let upstream = PublicDNS(
                program: try Program("unbound", ["-d", "-c", settings]),
                port: port
            )
            for _ in 0..<50 where upstream.program.isRunning {
                let reply = try await Reply.dig(port, "www.example.com +timeout=1")
                if reply.status == "NOERROR" { return upstream }
                try await Task.sleep(for: .milliseconds(20))
            }
            upstream.program.signal(SIGKILL)
        }
        throw Daemon.NotReady(said: "unbound does not answer")
    }

    private static func configuration(_ port: UInt16, _ zone: String) -> String {
        """
        server:
            interface: 127.0.0.1
            port: \(port)
            do-daemonize: no
            username: ""
            chroot: ""
            directory: "/"
            pidfile: ""
            use-syslog: no
            num-threads: 1
            module-config: "iterator"
        remote-control:
            control-enable: no
        auth-zone:
            name: "."
            zonefile: "\(zone)"
            for-downstream: yes
            for-upstream: yes
            fallback-enabled: no
        """
    }

    /// The signature is none that could be checked; it is only to be passed on.
    private static let records = """
        $TTL 300
        .                           SOA  ns. hostmaster. 1 3600 600 86400 300
        .                           NS   ns.
        ns.                         A    127.0.0.1
        example.com.                A    198.51.100.1
        www.example.com.            A    198.51.100.10
        www.example.com.            AAAA 2001:db8:1::10
        www.example.com.            HTTPS 1 . alpn=h2
        api.example.com.            A    198.51.100.66
        api.example.com.            AAAA 2001:db8:1::66
        api.example.com.            HTTPS 1 . ipv4hint=198.51.100.66
        api.example.com.            MX   10 mx.example.com.
        api.example.com.            TXT  "public"
        api.example.com.            DS   1 13 2 \(String(repeating: "00", count: 32))
        _8443._https.api.example.com. HTTPS 1 . ipv4hint=198.51.100.66
        _acme-challenge.api.example.com. TXT "challenge"
        gone.example.com.           A    198.51.100.67
        toours.example.com.         CNAME api.example.com.
        slowttl.example.com. 86400  A    198.51.100.68
        signed.example.com.         A    198.51.100.11
        signed.example.com.         RRSIG A 13 3 300 20400101000000 20200101000000 1 example.com. AAAA
        signed.example.com.         DNSKEY 257 3 13 AAAA
        signed.example.com.         DS   2 13 2 \(String(repeating: "11", count: 32))
        firefox.com.                A    198.51.100.20
        mozilla.org.                A    198.51.100.21
        cloudflare-dns.com.         HTTPS 1 . alpn=h3
        example.org.                A    198.51.100.22
        ipv4only.arpa.              A    192.0.0.170
        detectportal.firefox.com.   A    198.51.100.23
        use-application-dns.net.    A    198.51.100.24
        _dns.resolver.arpa.         SVCB 1 dot.example.com. alpn=dot
        """ + "\n"
}
