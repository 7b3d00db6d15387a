internal import Certificates
internal import FoundationEssentials

/// SARIF 2.1.0, as GitHub code scanning takes it.
///
/// Each result stands at the override's line, which is what a person can change. Fingerprints hash
/// rule, name and address, never dates, so that an alert stays the same alert.
enum SARIFReport {
    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var results: [Result] = []
        var kinds: [Finding.Kind] = []
        for verification in report.verifications {
            for finding in verification.findings where finding.severity > .information {
                let index = kinds.firstIndex(of: finding.kind) ?? kinds.count
                if index == kinds.count { kinds.append(finding.kind) }
                results.append(result(finding, index, verification))
            }
        }
        // GitHub takes 25 000 results a run; what is beyond would make it refuse the file.
        let log = Log(
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [
                Run(
                    tool: Tool(driver: Driver(name: "detour", rules: kinds.map(rule))),
                    automationDetails: Automation(id: "detour-verify/"),
                    // A run that found something was still a run that worked.
                    invocations: [Invocation(executionSuccessful: true)],
                    results: Array(results.prefix(25_000))
                )
            ]
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and booleans always encode.
        guard let data = try? encoder.encode(log) else { return "{}\n" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    private static func result(
        _ finding: Finding,
        _ index: Int,
        _ verification: Verification
    ) -> Result {
        let evidence = verification.evidence
        let key = "\(Baseline.id(finding, at: evidence))@\(finding.element)"
        let place = finding.element == .endpoint ? "" : " (\(finding.element))"
        let detail = finding.evidence.isEmpty ? "" : ": \(shown(finding.evidence))"
        let reason = verification.accepted[finding.kind.id]
        let waiver = verification.isWaived && finding.severity == .failure ? "waived" : nil
        return Result(
            ruleId: finding.kind.id,
            ruleIndex: index,
            level: finding.severity == .warning ? "warning" : "error",
            message: Message(
                text: "\(shown(verification.name)): \(finding.kind.title)\(place)\(detail)."
                    + " \(finding.kind.advice)"
            ),
            locations: [
                Location(
                    physicalLocation: Physical(
                        artifactLocation: Artifact(uri: uri(evidence.source.file)),
                        region: Region(startLine: max(1, evidence.source.line))
                    )
                )
            ],
            partialFingerprints: ["overrideFinding/v1": fingerprint(key)],
            suppressions: (reason ?? waiver).map {
                [Suppression(kind: "external", justification: shown($0))]
            }
        )
    }

    private static func rule(_ kind: Finding.Kind) -> Rule {
        let isFailure = kind.severity == .failure
        let severity = kind.isFatal ? "8.0" : isFailure ? "6.0" : "3.0"
        return Rule(
            id: kind.id,
            shortDescription: Message(text: kind.title),
            fullDescription: Message(text: kind.title + "."),
            help: Message(text: kind.advice),
            defaultConfiguration: Level(level: isFailure ? "error" : "warning"),
            properties: Properties(
                tags: ["security", "stage-" + kind.stage.rawValue],
                securitySeverity: severity
            )
        )
    }

    /// A relative reference, percent-encoded; GitHub refuses absolute ones and spaces.
    private static func uri(_ file: String) -> String {
        let path = file.isEmpty ? "detour" : file
        var encoded = ""
        for octet in path.utf8.drop(while: { $0 == 0x2F }) {
            let isPlain =
                (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet)
                || (0x61...0x7A).contains(octet) || "-._~/".utf8.contains(octet)
            if isPlain {
                encoded.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                let digits = String(octet, radix: 16, uppercase: true)
                encoded += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return encoded
    }

    private struct Log: Encodable {
        let schema, version: String
        let runs: [Run]
        enum CodingKeys: String, CodingKey {
            case schema = "$schema"
            case version, runs
        }
    }
    private struct Run: Encodable {
        let tool: Tool
        let automationDetails: Automation
        let invocations: [Invocation]
        let results: [Result]
    }
    private struct Tool: Encodable { let driver: Driver }
    private struct Driver: Encodable {
        let name: String
        let rules: [Rule]
    }
    private struct Automation: Encodable { let id: String }
    private struct Invocation: Encodable { let executionSuccessful: Bool }
    private struct Message: Encodable { let text: String }
    private struct Level: Encodable { let level: String }
    private struct Properties: Encodable {
        let tags: [String]
        let securitySeverity: String
        enum CodingKeys: String, CodingKey {
            case tags
            case securitySeverity = "security-severity"
        }
    }
    private struct Rule: Encodable {
        let id: String
        let shortDescription, fullDescription, help: Message
        let defaultConfiguration: Level
        let properties: Properties
    }
    private struct Artifact: Encodable { let uri: String }
    private struct Region: Encodable { let startLine: Int }
    private struct Physical: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }
    private struct Location: Encodable { let physicalLocation: Physical }
    private struct Suppression: Encodable { let kind, justification: String }
    private struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Message
        let locations: [Location]
        let partialFingerprints: [String: String]
        let suppressions: [Suppression]?
    }
}
