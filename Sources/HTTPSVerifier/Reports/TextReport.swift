internal import Certificates

/// The report for a person.
enum TextReport {
    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var lines: [String] = []
        for warning in report.anchorWarnings { lines.append(shown(warning.description)) }
        for verification in report.verifications {
            lines += self.lines(verification, options)
        }
        for skipped in report.skipped {
            lines.append("SKIP  \(shown(skipped.name)): \(shown(skipped.reason))")
        }
        for entry in report.staleEntries {
            lines.append("STALE \(shown(entry.id)): nothing to accept any more; remove the entry")
        }
        lines.append(summary(report, options))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ verification: Verification, _ options: RenderOptions) -> [String] {
        let (word, colour) =
            switch verification.verdict {
            case .passed: ("PASS ", "32")
            case .passedWithWarnings: ("WARN ", "33")
            case .failed: (verification.isWaived ? "WAIVED" : "FAIL ", "31")
            case .error: ("ERROR", "35")
            }
        let mark = options.usesColour ? "\u{1B}[\(colour)m\(word)\u{1B}[0m" : word
        var lines = ["\(mark) \(shown(verification.name))\(place(verification.evidence))"]
        if let from = verification.evidence.redirectedFrom {
            lines.append("      redirected from \(shown(from))")
        }
        lines += facts(verification)
        for finding in verification.findings {
            let accepted = verification.accepted[finding.kind.id]
            let severity = accepted == nil ? finding.severity.name : "accepted"
            var line = "      \(severity): \(finding.kind.id): \(finding.kind.title)"
            if finding.element != .endpoint { line += " (\(finding.element))" }
            if !finding.evidence.isEmpty { line += ": \(shown(finding.evidence))" }
            lines.append(line)
            if let accepted { lines.append("        because \(shown(accepted))") }
            if accepted == nil, finding.severity >= .warning {
                lines.append("        \(finding.kind.advice)")
            }
        }
        lines += candidates(verification)
        for client in verification.clients where !client.accepts {
            lines.append("      \(client.client) would refuse: \(shown(client.reason))")
        }
        return lines
    }

    private static func facts(_ verification: Verification) -> [String] {
        var lines: [String] = []
        if let handshake = verification.evidence.handshake, let version = handshake.version {
            let parts = [version, handshake.cipher, handshake.group, handshake.applicationProtocol]
            lines.append(
                "      " + parts.compactMap(\.self).map { shown($0) }.joined(separator: ", ")
            )
        }
        if let response = verification.evidence.response {
            lines.append("      HTTP/\(response.version) \(response.status)")
        }
        if let path = verification.judgement?.path {
            for (index, certificate) in path.certificates.enumerated() {
                let isLast = index == path.certificates.count - 1
                let anchor = isLast ? path.anchor.map { " [anchor \(shown($0.place))]" } ?? "" : ""
                lines.append(
                    "      \(index == 0 ? "" : String(repeating: "  ", count: index) + "signed by ")"
                        + "\(shown(certificate.subject.description, limit: 200))"
                        + ", until \(certificate.notAfter)\(anchor)"
                )
            }
        }
        return lines
    }

    /// The other paths that were tried, each with its one reason.
    private static func candidates(_ verification: Verification) -> [String] {
        guard let judgement = verification.judgement, judgement.candidates.count > 1 else {
            return []
        }
        return judgement.candidates.prefix(8).compactMap { candidate in
            guard let fault = candidate.findings.first(where: { $0.severity == .failure }) else {
                return nil
            }
            let names = candidate.path.certificates.map { shown($0.subject.description, limit: 60) }
            return "      tried \(names.joined(separator: " < ")): \(fault.kind.id)"
                + " (\(fault.element)): \(shown(fault.evidence, limit: 120))"
        }
    }

    private static func place(_ evidence: Evidence) -> String {
        evidence.source.file.isEmpty
            ? "" : "  (\(shown(evidence.source.file)):\(evidence.source.line))"
    }

    static func summary(_ report: Report, _ options: RenderOptions) -> String {
        let count = report.verifications.count
        var parts = [count == 1 ? "1 endpoint" : "\(count) endpoints"]
        let passed = report.count(.passed) + report.count(.passedWithWarnings)
        parts.append("\(passed) passed (\(report.count(.passedWithWarnings)) with warnings)")
        parts.append("\(report.count(.failed)) failed")
        parts.append("\(report.count(.error)) could not be judged")
        let waived = report.verifications.count { $0.verdict == .failed && $0.isWaived }
        if waived > 0 { parts.append("\(waived) waived") }
        if !report.skipped.isEmpty { parts.append("\(report.skipped.count) skipped") }
        if !report.staleEntries.isEmpty {
            parts.append("\(report.staleEntries.count) stale baseline entries")
        }
        if report.isInterrupted { parts.append("interrupted") }
        if options.includesTimes, let duration = report.duration {
            parts.append("\(decimalSeconds(duration)) s")
        }
        return parts.joined(separator: ", ")
    }
}
