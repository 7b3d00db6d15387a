internal import Certificates

/// TAP 14: one point an endpoint, with a YAML block where something is to be said.
enum TAPReport {
    static func render(_ report: Report, _ options: RenderOptions) -> String {
        let count = report.verifications.count + report.skipped.count + report.staleEntries.count
        var lines = ["TAP version 14", count == 0 ? "1..0 # SKIP no endpoints" : "1..\(count)"]
        var number = 0
        for verification in report.verifications {
            number += 1
            let isGood = verification.verdict.isGood
            // TAP's own word for a point that may fail without failing the run; nothing is open here.
            let waiver = !isGood && verification.isWaived ? " # TODO waived" : ""
            let name = escaped(verification.name)
            lines.append("\(isGood ? "ok" : "not ok") \(number) - \(name)\(waiver)")
            lines += block(verification)
        }
        for skipped in report.skipped {
            number += 1
            lines.append(
                "ok \(number) - \(escaped(skipped.name)) # SKIP \(escaped(skipped.reason))"
            )
        }
        for entry in report.staleEntries {
            number += 1
            lines.append("not ok \(number) - stale baseline entry \(escaped(entry.id))")
        }
        if report.isInterrupted { lines.append("Bail out! interrupted") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func block(_ verification: Verification) -> [String] {
        let told = verification.findings.filter { $0.severity > .information }
        guard !told.isEmpty else { return [] }
        var lines = ["  ---", "  verdict: \(verification.verdictText)", "  findings:"]
        for finding in told {
            lines.append("    - id: \(finding.kind.id)")
            lines.append("      severity: \(finding.severity.name)")
            lines.append("      element: \(finding.element)")
            lines.append("      evidence: \(quoted(finding.evidence))")
            lines.append("      advice: \(quoted(finding.kind.advice))")
            if let accepted = verification.accepted[finding.kind.id] {
                lines.append("      accepted: \(quoted(accepted))")
            }
        }
        return lines + ["  ..."]
    }

    private static func escaped(_ text: String) -> String {
        shown(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
    }

    private static func quoted(_ text: String) -> String {
        "\"" + shown(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
