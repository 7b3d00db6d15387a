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
        }

        /// `192.0.2.1:53`, `[fe80::1%eth0]:53`.
        public var description: String {
            guard !address.isIPv4 else { return "\(address):\(port)" }
            return scope.isEmpty ? "[\(address)]:\(port)" : "[\(address)%\(scope)]:\(port)"
        }
    }
}
