/// A common name that looks like a host must repeat an alternative name, character for character
/// (Baseline Requirements, 7.1.4.3). It never identifies the endpoint either way.
///
/// Left in peace: a common name of no dot and no colon, which is a title; one of another kind than
/// all the alternative names; and the domain above an alternative name, which names the site.
enum CommonNameCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard question.purpose == .server, path.leaf.version == 3 else { return [] }
        let names = path.leaf.subjectAlternativeNames
        // Names are hostile: a few are enough to tell.
        return path.leaf.subject.commonNames.prefix(8).compactMap { common in
            guard isStray(common, among: names) else { return nil }
            return Finding(.commonName, path.element(0), "CN=\(common)", profile: question.profile)
        }
    }

    private static func isStray(_ common: String, among names: [GeneralName]) -> Bool {
        if isAddressLike(common) {
            let addresses = names.compactMap { name -> String? in
                guard case .ipAddress(let octets) = name else { return nil }
                return InternetAddress(octets: octets)?.description
            }
            return !addresses.isEmpty && !addresses.contains(common)
        }
        guard common.utf8.contains(0x2E) else { return false }
        let hosts = names.compactMap { name -> String? in
            guard case .dnsName(let dns) = name else { return nil }
            return dns
        }
        if hosts.isEmpty || hosts.contains(common) { return false }
        let labels = DNSPattern(common).labels
        return !hosts.contains { host in
            let pattern = DNSPattern(host)
            let isBelow = pattern.labels.count > labels.count || pattern.isWildcard
            return isBelow && pattern.isWithin(labels)
        }
    }

    /// An address in whatever notation: `192.168.001.001`, `0xC0.0xA8.1.1`, `2001:DB8::1`.
    private static func isAddressLike(_ text: String) -> Bool {
        guard text.utf8.contains(0x2E) || text.utf8.contains(0x3A) else {
            return text.hasPrefix("0x") && UInt64(text.dropFirst(2), radix: 16) != nil
        }
        if text.utf8.contains(0x3A) {
            return text.utf8.allSatisfy { $0 == 0x3A || $0 == 0x2E || $0.isHexadecimalDigit }
        }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            let isHexadecimal = part.hasPrefix("0x") || part.hasPrefix("0X")
            let digits = isHexadecimal ? part.dropFirst(2) : part
            return !digits.isEmpty
                && digits.utf8.allSatisfy {
                    isHexadecimal ? $0.isHexadecimalDigit : (0x30...0x39).contains($0)
                }
        }
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self)
            || (0x61...0x66).contains(self)
    }
}
