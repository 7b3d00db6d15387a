// Values that several keys have: addresses, networks, names, paths.

import DNS

extension Setting {
    func address(_ decoding: inout Decoding, port: UInt16 = 53) -> Configuration.Address? {
        scanned(
            &decoding,
            allowing:
                "an address such as \"192.0.2.1\", \"192.0.2.1:5300\" or \"[2001:db8::1]:5300\""
        ) { Configuration.Address(scanning: $0, port: port) }
    }

    func addresses(_ decoding: inout Decoding) -> [Configuration.Address]? {
        list(&decoding, of: "addresses") { $0.address(&$1) }
    }

    func upstreams(_ decoding: inout Decoding) -> [Configuration.Address]? {
        list(&decoding, of: "addresses") {
            $0.scanned(
                &$1,
                allowing:
                    "an upstream such as \"192.0.2.1\", \"[2001:db8::1]:5300\" or "
                    + "\"tls://192.0.2.1#dns.example\""
            ) { Configuration.Address(scanningUpstream: $0) }
        }
    }

    func prefixes(_ decoding: inout Decoding) -> [IPPrefix]? {
        list(&decoding, of: "networks") {
            $0.scanned(
                &$1,
                allowing:
                    "a network such as \"192.168.0.0/16\" or \"2001:db8::/32\", or one address"
            ) { IPPrefix(scanning: $0) }
        }
    }

    func name(_ decoding: inout Decoding) -> Name? {
        scanned(&decoding, allowing: "a name such as \"corp.example.\"") {
            try? Name(scanning: $0)
        }
    }

    func path(_ decoding: inout Decoding, allowing allowed: String = "a path") -> String? {
        text(&decoding, allowing: allowed).map { decoding.resolved($0) }
    }

    /// Text that one string of a TXT record can hold (RFC 1035, 3.3).
    func characterString(_ decoding: inout Decoding) -> String? {
        scanned(&decoding, allowing: "a text of at most 255 octets") {
            $0.utf8.count <= 255 ? $0 : nil
        }
    }

    func ports(_ decoding: inout Decoding) -> [UInt16]? {
        list(&decoding, of: "ports") { $0.integer(1...65_535, &$1).map { UInt16($0) } }
    }

    func texts(_ decoding: inout Decoding, of allowed: String) -> [String]? {
        list(&decoding, of: allowed) { $0.text(&$1) }
    }

    func paths(_ decoding: inout Decoding) -> [String]? {
        list(&decoding, of: "paths") { $0.path(&$1) }
    }
}
