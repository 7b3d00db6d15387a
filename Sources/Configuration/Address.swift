public import DNS

extension Configuration {
    /// An address with a port, as in `192.0.2.1:5300` or `[fe80::1%eth0]:53`.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        /// The address.
        public let address: IPAddress
        /// The interface of a link-local address, by name or index; empty without one.
        public let scope: String
        /// The port; 0 leaves the choice to the kernel.
        public let port: UInt16
        /// How an upstream proves who it is over TLS; nil: it is asked in the clear.
        public private(set) var identity: Identity?

        /// What a certificate must be for.
        public enum Identity: Hashable, Sendable {
            /// This name.
            case name(String)
            /// The upstream's address.
            case address
        }

        /// The upstream that text spells: an address, or `tls://ADDR[:PORT]#NAME` for one that is
        /// asked over TLS; without a name its certificate must be for its address.
        public init?(scanningUpstream text: String) {
            let scheme = "tls://"
            guard text.hasPrefix(scheme) else {
                self.init(scanning: text, port: 53)
                return
            }
            let rest = text.dropFirst(scheme.utf8.count)
            let parts = rest.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard let plain = Address(scanning: String(parts[0]), port: 853) else { return nil }
            if parts.count == 2, parts[1].isEmpty { return nil }
            self = plain
            identity = parts.count == 2 ? .name(String(parts[1])) : .address
        }

        /// The address that text spells; `port` where the text has none.
        public init?(scanning text: String, port: UInt16) {
            var host = Substring(text)
            var service: Substring?
            if host.first == "[" {
                guard let close = host.firstIndex(of: "]") else { return nil }
                let rest = host[host.index(after: close)...]
                guard rest.isEmpty || rest.first == ":" else { return nil }
                service = rest.isEmpty ? nil : rest.dropFirst()
                host = host[host.index(after: host.startIndex)..<close]
                guard host.contains(":") else { return nil }
            } else if let colon = host.firstIndex(of: ":"), host.lastIndex(of: ":") == colon {
                service = host[host.index(after: colon)...]
                host = host[..<colon]
            }
            var scope = Substring()
            if let percent = host.firstIndex(of: "%") {
                scope = host[host.index(after: percent)...]
                host = host[..<percent]
                guard !scope.isEmpty, host.contains(":") else { return nil }
            }
            var number = port
            if let service {
                // UInt16 takes a sign, a port does not.
                guard service.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let given = UInt16(service)
                else { return nil }
                number = given
            }
            guard let address = IPAddress(scanning: String(host)) else { return nil }
            self.address = address
            self.scope = String(scope)
            self.port = number
            identity = nil
        }

        /// As `init(scanning:)` and `init(scanningUpstream:)` take it.
        public var description: String {
            switch identity {
            case .name(let name): "tls://\(endpoint)#\(name)"
            case .address: "tls://\(endpoint)"
            case nil: endpoint
            }
        }

        /// `192.0.2.1:53`, `[fe80::1%eth0]:53`.
        public var endpoint: String {
            guard !address.isIPv4 else { return "\(address):\(port)" }
            return scope.isEmpty ? "[\(address)]:\(port)" : "[\(address)%\(scope)]:\(port)"
        }
    }
}
