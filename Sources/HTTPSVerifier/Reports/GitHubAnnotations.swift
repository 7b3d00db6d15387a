internal import Certificates

/// Workflow commands of GitHub Actions. It shows ten errors and ten warnings of a step, so that
/// each endpoint gets one line with its worst finding, failures first.
enum GitHubAnnotations {
    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var lines: [(rank: Int, text: String)] = []
        for verification in report.verifications {
            let told = verification.findings.filter {
                $0.severity > .information && verification.accepted[$0.kind.id] == nil
            }
            guard let worst = told.max(by: { $0.severity < $1.severity }) else { continue }
            let isError = !verification.countedVerdict.isGood
            let more = told.count > 1 ? " (and \(told.count - 1) more)" : ""
            let detail = worst.evidence.isEmpty ? "" : ": \(shown(worst.evidence))"
            let waiver = verification.isWaived && worst.severity == .failure ? "waived: " : ""
            let message =
                waiver
                + "\(worst.kind.id): \(worst.kind.title)\(detail). \(worst.kind.advice)\(more)"
            lines.append(
                (
                    isError ? 0 : 1,
                    command(
                        isError ? "error" : "warning",
                        verification.evidence.source,
                        shown(verification.name),
                        message
                    )
                )
            )
        }
        for entry in report.staleEntries {
            let place = SourcePlace(file: "", line: 1)
            lines.append((0, command("error", place, "stale baseline entry", shown(entry.id))))
        }
        lines = lines.enumerated().sorted {
            ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset)
        }.map(\.element)
        lines.append((2, "::notice title=detour verify::" + TextReport.summary(report, options)))
        return lines.map(\.text).joined(separator: "\n") + "\n"
    }

    private static func command(
        _ level: String,
        _ place: SourcePlace,
        _ title: String,
        _ message: String
    ) -> String {
        let file =
            place.file.isEmpty ? "" : "file=\(property(shown(place.file))),line=\(place.line),"
        return "::\(level) \(file)title=\(property(title))::\(escaped(message))"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        escaped(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
