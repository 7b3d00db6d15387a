/// Name constraints, as far as OpenSSL does not judge them (RFC 5280, 4.2.1.10).
///
/// OpenSSL compares a wildcard as if it were a name. A certificate for `*.example.com` also speaks
/// for `bar.example.com`, so an issuer that may not issue for that may not issue the wildcard
/// (CVE-2025-61727); and one that may issue for `foo.example.com` only, may not either.
enum NameConstraintCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        var findings: [Finding] = []
        for (index, issuer) in path.certificates.enumerated() {
            guard let constraints = issuer.decoded.nameConstraints.value else { continue }
            let element = path.element(index)
            for fault in faults(of: constraints) {
                findings.append(Finding(.constraintForm, element, fault, profile: question.profile))
            }
            if !issuer.isAuthority {
                findings.append(
                    Finding(.constraintOnLeaf, element, "", profile: question.profile)
                )
            }
            for (place, subject) in path.certificates[..<index].enumerated() {
                // RFC 5280, 6.1.3: a self-issued certificate is exempt unless it is the last.
                if place > 0, subject.isSelfIssued { continue }
                findings += violations(of: constraints, by: subject, path.element(place))
            }
        }
        return findings
    }

    private static func violations(
        of constraints: NameConstraints,
        by subject: Certificate,
        _ element: Finding.Element
    ) -> [Finding] {
        var findings: [Finding] = []
        let permitted = (constraints.permitted ?? []).compactMap(\.dnsSubtree)
        let excluded = (constraints.excluded ?? []).compactMap(\.dnsSubtree)
        let kinds = Set(((constraints.permitted ?? []) + (constraints.excluded ?? [])).map(\.kind))
        let names = subject.subjectAlternativeNames
        // As many comparisons as OpenSSL would make at most; beyond, it refuses the path as well.
        let (work, overflow) = names.count.multipliedReportingOverflow(
            by: permitted.count + excluded.count
        )
        guard !overflow, work <= 1 << 20 else {
            return [
                Finding(.constraintViolated, element, "too many names and constraints to check")
            ]
        }
        for name in names where findings.count < 8 {
            if kinds.contains(name.kind), name.isMalformedUnderConstraint {
                findings.append(Finding(.constraintViolated, element, "\(name) is not well-formed"))
            }
            guard case .dnsName(let dns) = name else { continue }
            let pattern = DNSPattern(dns)
            guard pattern.isWildcard else { continue }
            let reached = excluded.first { subtree in
                // The wildcard adds one label: what it reaches is excluded where the subtree lies
                // at that label, or where all of it lies below the subtree.
                subtree.count == pattern.labels.count + 1
                    && Array(subtree.dropFirst()) == pattern.labels || pattern.isWithin(subtree)
            }
            if reached != nil {
                findings.append(
                    Finding(.constraintWildcard, element, "\(dns) reaches an excluded name")
                )
            }
            if !permitted.isEmpty, !permitted.contains(where: pattern.isWithin) {
                findings.append(
                    Finding(
                        .constraintWildcard,
                        element,
                        "\(dns) reaches beyond the permitted names"
                    )
                )
            }
        }
        return findings
    }

    private static func faults(of constraints: NameConstraints) -> [String] {
        if (constraints.permitted ?? []).isEmpty, (constraints.excluded ?? []).isEmpty {
            return ["it neither permits nor excludes anything"]
        }
        var faults: [String] = []
        for name in (constraints.permitted ?? []) + (constraints.excluded ?? []) {
            switch name {
            case .dnsName(let dns):
                if dns.hasPrefix(".") { faults.append("\(dns) starts with a period") }
                if dns.utf8.contains(0x2A) { faults.append("\(dns) has an asterisk") }
            case .ipAddress(let octets):
                if let fault = networkFault(octets) { faults.append(fault) }
            default: break
            }
            if faults.count == 8 { break }
        }
        return faults
    }

    /// An address and a mask whose ones come first.
    private static func networkFault(_ octets: [UInt8]) -> String? {
        guard octets.count == 8 || octets.count == 32 else {
            return "an address constraint of \(octets.count) octets"
        }
        let mask = octets.suffix(octets.count / 2).flatMap { octet in
            (0..<8).map { octet & (0x80 >> UInt8($0)) != 0 }
        }
        let isPrefix = zip(mask, mask.dropFirst()).allSatisfy { $0 || !$1 }
        return isPrefix ? nil : "an address constraint whose mask has gaps"
    }
}

extension GeneralName {
    fileprivate var dnsSubtree: [[UInt8]]? {
        guard case .dnsName(let dns) = self else { return nil }
        let text = dns.hasPrefix(".") ? String(dns.dropFirst()) : dns
        return text.isEmpty ? [] : DNSPattern(text).labels
    }

    fileprivate var kind: Int {
        switch self {
        case .rfc822Name: 1
        case .dnsName: 2
        case .directoryName: 4
        case .uniformResourceIdentifier: 6
        case .ipAddress: 7
        case .other(let kind, _): Int(kind) + 16
        }
    }

    /// A name that no subtree can hold because it is no name.
    fileprivate var isMalformedUnderConstraint: Bool {
        switch self {
        case .dnsName(let dns):
            dns.hasPrefix(".")
                || dns.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
                    .dropLast().contains { $0.isEmpty }
        case .ipAddress(let octets): octets.count != 4 && octets.count != 16
        case .rfc822Name(let mailbox): mailbox.utf8.count { $0 == 0x40 } != 1
        default: false
        }
    }
}
