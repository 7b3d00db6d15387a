internal import Certificates

/// Markdown for a step summary. A step's summary may have 1 MiB: good endpoints are one line each,
/// and the list ends with a note where it is too long.
enum MarkdownReport {
    private static let limit = 900_000

    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var text = "## detour verify\n\n\(TextReport.summary(report, options))\n\n"
        text += "| | endpoint | override | findings |\n|---|---|---|---|\n"
        var left = report.verifications.count
        for verification in report.verifications {
            if text.utf8.count > limit {
                text += "\n\(left) more endpoints are left out of this summary.\n"
                break
            }
            left -= 1
            text += row(verification)
        }
        for skipped in report.skipped {
            text += "| skipped | \(cell(skipped.name)) | \(place(skipped.source))"
            text += " | \(cell(skipped.reason)) |\n"
        }
        for entry in report.staleEntries {
            text += "| failed | stale baseline entry | | \(cell(entry.id)) |\n"
        }
        for warning in report.anchorWarnings { text += "\n- \(cell(warning.description))\n" }
        return text
    }

    private static func row(_ verification: Verification) -> String {
        let told = verification.findings.filter { $0.severity > .information }.prefix(20)
        let findings = told.map { finding in
            let accepted = verification.accepted[finding.kind.id].map { " (accepted: \(cell($0)))" }
            let evidence = finding.evidence.isEmpty ? "" : ": \(cell(finding.evidence))"
            return "\(cell(finding.kind.id)) \(finding.element)\(evidence)\(accepted ?? "")"
        }.joined(separator: "<br>")
        let source = verification.evidence.source
        return "| \(verification.verdictText) | \(cell(verification.name)) | \(place(source))"
            + " | \(findings) |\n"
    }

    private static func place(_ source: SourcePlace) -> String {
        source.file.isEmpty ? "" : "\(cell(source.file)):\(source.line)"
    }

    /// Every character that means something to Markdown, HTML or a mention becomes a reference.
    private static func cell(_ text: String) -> String {
        var result = ""
        for scalar in shown(text).unicodeScalars {
            if scalar.isASCII, "\\`*_{}[]()<>#+!|&~@\"'".unicodeScalars.contains(scalar) {
                result += "&#\(scalar.value);"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
