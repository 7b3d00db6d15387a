internal import CLinux

extension SocketAddress {
    /// The address that a text names, or nil: `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`,
    /// `[2001:db8::1]`, `[fe80::1%eth0]:53`, `fe80::1%2`.
    ///
    /// A text without a port gets `port`. A scope is an interface's name or index; an interface
    /// that does not exist gives nil.
    public init?(scanning text: String, port: UInt16) {
        var host = Substring(text)
        var service: Substring?
        if host.first == "[" {
            guard let close = host.lastIndex(of: "]") else { return nil }
            let rest = host[host.index(after: close)...]
            if !rest.isEmpty {
                guard rest.first == ":" else { return nil }
                service = rest.dropFirst()
            }
            host = host[host.index(after: host.startIndex)..<close]
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":"), host.lastIndex(of: ":") == colon {
            service = host[host.index(after: colon)...]
            host = host[..<colon]
        }
        var parsedPort = port
        if let service {
            // UInt16 takes a sign, a port does not.
            guard service.allSatisfy(\.isWholeNumber), let number = UInt16(service) else {
                return nil
            }
            parsedPort = number
        }
        var scope: UInt32 = 0
        if let percent = host.firstIndex(of: "%") {
            let zone = String(host[host.index(after: percent)...])
            host = host[..<percent]
            guard host.contains(":"), let index = interfaceIndex(zone) else { return nil }
            scope = index
        }
        var endpoint = clinux_endpoint()
        // Safe: a String lends NUL-terminated text for the call, which writes one struct of ours.
        guard unsafe clinux_scan(String(host), &endpoint) else { return nil }
        self.init(high: endpoint.high, low: endpoint.low, port: parsedPort, scope: scope)
    }
}

/// The index of the interface with a name, or of a decimal index itself.
private func interfaceIndex(_ zone: String) -> UInt32? {
    if let number = UInt32(zone), number > 0 { return number }
    // Safe: NUL-terminated for the call.
    let index = unsafe if_nametoindex(zone)
    return index > 0 ? index : nil
}

extension SocketAddress: CustomStringConvertible {
    /// The address without the port: `192.0.2.1`, `fe80::1%eth0`.
    public var host: String {
        // Longer than the longest address (46, RFC 4291 form with dots) and interface name (16).
        // Safe: writes at most `room.count` octets, and says how many.
        let text = unsafe String(unsafeUninitializedCapacity: 64) { room in
            unsafe Int(clinux_print(endpoint, room.baseAddress, room.count))
        }
        guard scope != 0 else { return text }
        // Safe: as above.
        let name = unsafe String(unsafeUninitializedCapacity: Int(IF_NAMESIZE)) { room in
            unsafe Int(clinux_interface_name(scope, room.baseAddress, room.count))
        }
        return name.isEmpty ? "\(text)%\(scope)" : "\(text)%\(name)"
    }

    /// The address with the port: `192.0.2.1:53`, `[fe80::1%eth0]:53`.
    public var description: String { isIPv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }
}
