import Configuration
import Control
import DNS
import PolicyLoading
import Resolver
import Zones

/// `detour check`: what is wrong or doubtful about a configuration and its zones, before anybody is
/// served by them.
enum Check {
    static func run(_ words: [String]) -> Int32 {
        let options: CheckOptions
        do throws(OptionWords.Mistake) {
            options = try CheckOptions(words)
        } catch {
            Output.error("detour check: \(error.sentence)\nTry detour check --help.")
            return ExitStatus.usage
        }
        if options.wantsHelp {
            Output.print(CheckOptions.usage)
            return 0
        }
        guard options.hasSomething else {
            Output.error(
                "detour check: there is no \(Configuration.usualFile), and no file is given\n"
                    + "Try detour check --help."
            )
            return ExitStatus.usage
        }
        let result = Check.result(options)
        if options.wantsJSON {
            Output.print(result.json.text)
        } else {
            for finding in result.findings { Output.error(finding.text) }
            Output.print(result.summary)
        }
        return result.isGood ? 0 : 1
    }

    /// What was found, and whether it may be served.
    struct Result {
        var findings: [Finding] = []
        var nameCount = 0
        var isGood = true

        var summary: String {
            let warnings = findings.count { $0.severity == "warning" }
            let errors = findings.count - warnings
            return [
                counted(nameCount, "name"), counted(errors, "error"), counted(warnings, "warning"),
            ].joined(separator: ", ")
        }

        var json: JSONText {
            .object([
                ("good", .bool(isGood)), ("names", .number(nameCount)),
                ("findings", .array(findings.map(\.json))),
            ])
        }
    }

    /// One finding, of the configuration or of a zone.
    struct Finding {
        let file: String
        let line: Int
        let column: Int
        let severity: String
        let sentence: String
        let text: String

        init(_ error: ZoneFileError) {
            file = error.file
            line = Int(error.line)
            column = Int(error.column)
            severity = error.severity.rawValue
            sentence = error.sentence
            text = error.description
        }

        init(_ error: SettingError) {
            file = error.file
            line = error.line
            column = error.column
            severity = "error"
            sentence = error.path.isEmpty ? error.sentence : "\(error.path): \(error.sentence)"
            text = error.description
        }

        var json: JSONText {
            .object([
                ("file", .string(file)), ("line", line > 0 ? .number(line) : .null),
                ("column", column > 0 ? .number(column) : .null),
                ("severity", .string(severity)), ("message", .string(sentence)),
            ])
        }
    }

    private static func result(_ options: CheckOptions) -> Result {
        var result = Result()
        let configuration: Configuration
        do throws(RejectedConfiguration) {
            configuration = try options.configuration()
        } catch {
            result.findings = error.errors.map { Finding($0) }
            result.isGood = false
            return result
        }
        let loaded = PolicyLoader(configuration).load(generation: 1, upstreams: [])
        result.nameCount = loaded.nameCount
        result.isGood = loaded.policy != nil
        result.findings = loaded.errors.map { Finding($0) }
        var zoneFindings = loaded.findings
        let sights =
            [(nil, configuration.zones)]
            + configuration.views.map { ($0 as Configuration.View?, $0.zones) }
        for (view, files) in sights {
            for file in files {
                let lint = ZoneLint(file)
                zoneFindings += lint.findings
                if let policy = loaded.policy {
                    zoneFindings += lint.findings(under: policy, in: view)
                }
            }
        }
        // Layers and zones are judged apart, and see some things both.
        var told: Set<String> = []
        let files = sights.flatMap(\.1)
        let order = Dictionary(
            (files.map(\.path) + zoneFindings.map(\.file)).enumerated().map { ($1, $0) },
            uniquingKeysWith: min
        )
        result.findings += zoneFindings.filter { told.insert("\($0)").inserted }
            .sorted { a, b in
                let (x, y) = (order[a.file] ?? 0, order[b.file] ?? 0)
                return (x, a.line, a.column) < (y, b.line, b.column)
            }
            .map { Finding($0) }
        if result.findings.contains(where: { $0.severity == "error" }) { result.isGood = false }
        return result
    }
}
