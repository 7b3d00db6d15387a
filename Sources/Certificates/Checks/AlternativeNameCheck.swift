/// The form of the subject alternative names (RFC 5280, 4.2.1.6). Whether one of them is the name
/// that was asked for is OpenSSL's to say; a common name never counts (RFC 9525, 2).
enum AlternativeNameCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        var findings: [Finding] = []
        for name in path.leaf.subjectAlternativeNames {
            if let fault = fault(of: name) {
                findings.append(
                    Finding(
                        .nameForm,
                        path.element(0),
                        "\(name): \(fault)",
                        profile: question.profile
                    )
                )
                if findings.count == 8 { break }
            }
            if case .dnsName(let dns) = name, isTooWide(dns) {
                findings.append(
                    Finding(.wildcardTooWide, path.element(0), dns, profile: question.profile)
                )
            }
        }
        if path.anchor == nil, let name = question.name,
            !isFor(name, path.leaf.subjectAlternativeNames)
        {
            // OpenSSL judges paths only; without one, the name is still worth telling.
            let kind: Finding.Kind =
                path.leaf.decoded.subjectAlternativeNames.isAbsent
                ? .noAlternativeName : .nameMismatch
            findings.append(Finding(kind, path.element(0), mismatch(path.leaf, question)))
        }
        return findings
    }

    /// What was asked for, and the first names that the certificate has instead.
    static func mismatch(_ leaf: Certificate, _ question: Question) -> String {
        let asked = question.name?.description ?? ""
        let names = leaf.subjectAlternativeNames
        if names.isEmpty {
            let common = leaf.subject.commonNames.map { "CN=" + $0 }.joined(separator: ", ")
            return "asked for \(asked); it has \(common.isEmpty ? "no name at all" : common)"
        }
        let shown = names.prefix(8).map(\.description).joined(separator: ", ")
        let rest = names.count > 8 ? " and \(names.count - 8) more" : ""
        return "asked for \(asked); it is for \(shown)\(rest)"
    }

    /// Whether one of the names is the reference name (RFC 9525, 6.3 and 6.5).
    static func isFor(_ reference: ReferenceName, _ names: [GeneralName]) -> Bool {
        names.contains { name in
            switch (reference, name) {
            case (.ip(let address), .ipAddress(let octets)): address.octets == octets
            case (.dns(let wanted), .dnsName(let presented)): DNSPattern(presented).matches(wanted)
            default: false
            }
        }
    }

    private static func fault(of name: GeneralName) -> String? {
        switch name {
        case .dnsName(let dns):
            if dns.utf8.isEmpty { return "it is empty" }
            let labels = dns.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
            for (index, label) in labels.enumerated() {
                if label.isEmpty { return "it has an empty label" }
                if index == 0, label.elementsEqual([0x2A]), labels.count > 1 { continue }
                if label.contains(0x2A) { return "an asterisk does not stand alone and first" }
                if label.contains(0x5F) { return "it has an underscore" }
                guard label.count <= 63, label.allSatisfy(\.isHostNameOctet) else {
                    return "a label is not of letters, digits and hyphens"
                }
            }
            return nil
        case .ipAddress(let octets):
            return octets.count == 4 || octets.count == 16 ? nil : "\(octets.count) octets"
        case .rfc822Name(let mailbox):
            let parts = mailbox.utf8.split(separator: 0x40, omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty
                ? nil : "it is no mailbox"
        default:
            return nil
        }
    }

    /// `*` alone, or above a single label: every name of a top-level domain.
    private static func isTooWide(_ dns: String) -> Bool {
        dns == "*" || dns.hasPrefix("*.") && dns.utf8.count { $0 == 0x2E } < 2
    }
}

/// A DNS name of a certificate, with at most one asterisk as its whole left-most label.
struct DNSPattern {
    let isWildcard: Bool
    /// Lower-case labels, without the asterisk.
    let labels: [[UInt8]]

    init(_ name: String) {
        let all = name.utf8.split(separator: 0x2E, omittingEmptySubsequences: false).map {
            $0.map(\.lowercased)
        }
        isWildcard = all.first == [0x2A]
        labels = isWildcard ? Array(all.dropFirst()) : all
    }

    func matches(_ reference: String) -> Bool {
        let wanted = DNSPattern(reference).labels
        if labels.joined().contains(0x2A) { return false }
        guard isWildcard else { return wanted == labels }
        return labels.count >= 2 && wanted.count == labels.count + 1
            && Array(wanted.dropFirst()) == labels
    }

    /// Whether this name is `ancestor` or lies below it.
    func isWithin(_ ancestor: [[UInt8]]) -> Bool {
        labels.count >= ancestor.count && Array(labels.suffix(ancestor.count)) == ancestor
    }
}
