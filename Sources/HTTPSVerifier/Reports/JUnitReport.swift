internal import Certificates

/// JUnit XML, the dialect that GitLab, Jenkins and dorny/test-reporter all read.
///
/// One suite an endpoint, one case a stage. Class and case names are unique, because GitLab drops
/// later duplicates; the message is repeated in the element's text, because it once dropped the
/// attribute; there is always one case, because Jenkins fails a file without any.
enum JUnitReport {
    private struct Case {
        let name: String
        let failure: [String]
        let error: [String]
        let skipped: String?
        let seconds: Double
    }

    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var suites: [(name: String, place: SourcePlace?, cases: [Case])] = []
        suites.append(("detour", nil, ownCases(report)))
        var seen: [String: Int] = [:]
        for verification in report.verifications {
            seen[verification.name, default: 0] += 1
            let number = seen[verification.name, default: 1]
            let name = number == 1 ? verification.name : "\(verification.name) (\(number))"
            suites.append((name, verification.evidence.source, cases(verification, options)))
        }
        let all = suites.flatMap(\.cases)
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        // The schema that Jenkins publishes knows no skipped count here.
        lines.append("<testsuites name=\"detour verify\" \(counts(all, withSkipped: false))>")
        for (index, suite) in suites.enumerated() {
            let name = markup(suite.name)
            var attributes = "name=\"\(name)\" \(counts(suite.cases)) id=\"\(index)\""
            attributes += " hostname=\"localhost\""
            let time = options.includesTimes ? report.time : Moment(seconds: 0)
            attributes += " timestamp=\"\(time.description.dropLast())\""
            lines.append("  <testsuite \(attributes)>")
            if let place = suite.place, !place.file.isEmpty {
                let value = "\(markup(place.file)):\(place.line)"
                lines.append(
                    "    <properties><property name=\"override\" value=\"\(value)\"/></properties>"
                )
            }
            for one in suite.cases { lines += element(one, name) }
            lines.append("  </testsuite>")
        }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func counts(_ cases: [Case], withSkipped: Bool = true) -> String {
        let failures = cases.count { !$0.failure.isEmpty }
        let errors = cases.count { !$0.error.isEmpty }
        let skipped = cases.count { $0.skipped != nil }
        let seconds = cases.reduce(0) { $0 + $1.seconds }
        return "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
            + (withSkipped ? " skipped=\"\(skipped)\"" : "")
            + " time=\"\(decimalSeconds(seconds))\""
    }

    private static func ownCases(_ report: Report) -> [Case] {
        var cases = [
            Case(name: "configuration", failure: [], error: [], skipped: nil, seconds: 0)
        ]
        for entry in report.staleEntries {
            let text = "baseline.stale: nothing to accept any more; remove the entry"
            cases.append(
                Case(
                    name: "baseline \(entry.id)",
                    failure: [text],
                    error: [],
                    skipped: nil,
                    seconds: 0
                )
            )
        }
        for (index, skipped) in report.skipped.enumerated() {
            cases.append(
                Case(
                    name: "\(skipped.name) (\(index + 1))",
                    failure: [],
                    error: [],
                    skipped: skipped.reason,
                    seconds: 0
                )
            )
        }
        return cases
    }

    private static func cases(_ verification: Verification, _ options: RenderOptions) -> [Case] {
        let stages = Finding.Stage.allCases.filter { stage in
            // A stage that was not reached has no case; one with findings always has.
            stage == .chain || verification.findings.contains { $0.kind.stage == stage }
        }
        return stages.map { stage in
            func texts(_ severity: Finding.Severity) -> [String] {
                verification.findings.filter {
                    $0.kind.stage == stage && $0.severity == severity
                        && verification.accepted[$0.kind.id] == nil
                }.map(line)
            }
            let accepted = verification.findings.compactMap { finding -> String? in
                guard finding.kind.stage == stage,
                    let reason = verification.accepted[finding.kind.id]
                else { return nil }
                return "accepted: \(finding.kind.id): \(reason)"
            }
            let failures = texts(.failure)
            let errors = failures.isEmpty ? texts(.error) : []
            let isWaived = verification.isWaived && !failures.isEmpty
            let skipped =
                isWaived
                ? "waived: " + failures.joined(separator: "; ")
                : failures.isEmpty && errors.isEmpty ? accepted.first : nil
            let duration = stage == .chain ? verification.evidence.phases.total ?? 0 : 0
            return Case(
                name: stage.rawValue,
                failure: isWaived ? [] : failures,
                error: errors,
                skipped: skipped,
                seconds: options.includesTimes ? duration : 0
            )
        }
    }

    private static func line(_ finding: Finding) -> String {
        let place = finding.element == .endpoint ? "" : " (\(finding.element))"
        let evidence = finding.evidence.isEmpty ? "" : ": \(shown(finding.evidence))"
        return "\(finding.kind.id): \(finding.kind.title)\(place)\(evidence)."
            + " \(finding.kind.advice)"
    }

    private static func element(_ one: Case, _ suite: String) -> [String] {
        var attributes = "classname=\"\(suite)\" name=\"\(markup(one.name))\""
        attributes += " time=\"\(decimalSeconds(one.seconds))\""
        func child(_ tag: String, _ texts: [String]) -> String {
            let kind = texts[0].prefix { $0 != ":" }
            let body = texts.map { markup($0, limit: 2_000) }.joined(separator: "\n")
            return "      <\(tag) message=\"\(markup(texts[0]))\" type=\"\(markup(String(kind)))\">"
                + "\(body)</\(tag)>"
        }
        let inner: String
        if !one.failure.isEmpty {
            inner = child("failure", one.failure)
        } else if !one.error.isEmpty {
            inner = child("error", one.error)
        } else if let skipped = one.skipped {
            inner = "      <skipped message=\"\(markup(skipped))\"/>"
        } else {
            return ["    <testcase \(attributes)/>"]
        }
        return ["    <testcase \(attributes)>", inner, "    </testcase>"]
    }
}
