import DNS
public import Platform

/// The resolvers that this machine was told to use (resolv.conf(5)).
public enum SystemResolvers {
    /// Its `nameserver` lines in their order; those that we serve ourselves are left out.
    public static func read(
        at path: String = "/etc/resolv.conf",
        except ours: [SocketAddress]
    ) -> [SocketAddress] {
        guard let octets = try? File.octets(at: path, limit: 1 << 20) else { return [] }
        var addresses: [SocketAddress] = []
        for line in String(decoding: octets, as: UTF8.self).split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard words.count >= 2, words[0] == "nameserver",
                let address = SocketAddress(scanning: String(words[1]), port: 53),
                !ours.contains(where: { serves($0, address) }), !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }

    private static func serves(_ listening: SocketAddress, _ address: SocketAddress) -> Bool {
        guard listening.port == address.port else { return false }
        return listening == address
            || listening.isAny && IPAddress(high: address.high, low: address.low).isLoopback
    }
}
