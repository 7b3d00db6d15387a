internal import CLinux

/// The process that holds a port, for the message of an "address in use".
public struct PortHolder: Hashable, Sendable, CustomStringConvertible {
    /// The process.
    public let process: Int32
    /// Its name, as top shows it.
    public let name: String

    /// `systemd-resolve (process 512)`.
    public var description: String { "\(name) (process \(process))" }

    /// Who holds the port of `address` so that nobody else can have it; nil when that cannot be
    /// found out, as for another user's process without privilege.
    ///
    /// Reads /proc/net and then every process's descriptors: slow, for when starting has failed.
    public static func of(_ address: SocketAddress, datagram: Bool) -> PortHolder? {
        var inodes: Set<Substring> = []
        for family in ["", "6"] {
            let table = "/proc/net/\(datagram ? "udp" : "tcp")\(family)"
            guard let octets = try? File.octets(at: table) else { continue }
            for line in String(decoding: octets, as: UTF8.self).split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count > 9, let local = local(fields[1]),
                    local.port == address.port, overlap(local, address),
                    datagram || fields[3] == "0A"  // TCP_LISTEN
                else { continue }
                inodes.insert(fields[9])
            }
        }
        guard !inodes.isEmpty else { return nil }
        for process in entries(of: "/proc") {
            guard let number = Int32(process) else { continue }
            for descriptor in entries(of: "/proc/\(process)/fd") {
                guard let target = link("/proc/\(process)/fd/\(descriptor)"),
                    target.hasPrefix("socket:["), target.hasSuffix("]"),
                    inodes.contains(target.dropFirst(8).dropLast())
                else { continue }
                let octets = (try? File.octets(at: "/proc/\(process)/comm")) ?? []
                let name = String(decoding: octets, as: UTF8.self)
                return PortHolder(process: number, name: String(name.prefix { $0 != "\n" }))
            }
        }
        return nil
    }

    /// Reads `0100007F:0035`: each 32-bit word of the address in the machine's order, then the port.
    static func local(_ field: Substring) -> SocketAddress? {
        let parts = field.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1], radix: 16) else { return nil }
        var words: [UInt64] = []
        var rest = parts[0]
        while rest.count >= 8 {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
            words.append(UInt64(UInt32(bigEndian: word)))
            rest = rest.dropFirst(8)
        }
        switch words.count {
        case 1: return SocketAddress(ipv4: UInt32(words[0]), port: port)
        case 4:
            return SocketAddress(
                high: words[0] << 32 | words[1],
                low: words[2] << 32 | words[3],
                port: port
            )
        default: return nil
        }
    }

    private static func overlap(_ a: SocketAddress, _ b: SocketAddress) -> Bool {
        // An IPv6 wildcard that is not IPV6_V6ONLY holds the IPv4 port too.
        if a.isAny { return !a.isIPv4 || b.isIPv4 }
        if b.isAny { return a.isIPv4 == b.isIPv4 }
        return a.high == b.high && a.low == b.low
    }

    private static func entries(of path: String) -> [String] {
        // Safe: the directory is closed before we return, and each name is copied at once.
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            names.append(unsafe String(cString: clinux_entry_name(entry)))
        }
        return names
    }

    private static func link(_ path: String) -> String? {
        var target = [UInt8](repeating: 0, count: 256)
        // Safe: writes at most `count` octets to the array, which is lent for the call.
        let length = unsafe target.withUnsafeMutableBytes { room in
            guard let start = room.baseAddress else { return -1 }
            return unsafe readlink(path, start, room.count)
        }
        return length > 0 ? String(decoding: target.prefix(length), as: UTF8.self) : nil
    }
}
