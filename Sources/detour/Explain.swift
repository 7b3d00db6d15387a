import Configuration
import DNS
import Platform
import PolicyLoading
import Resolver
import Zones

/// `detour explain`: why a name is answered as it is. The answer is the resolver's own.
enum Explain {
    static func run(_ words: [String]) -> Int32 {
        let options: ExplainOptions
        do throws(OptionWords.Mistake) {
            options = try ExplainOptions(words)
        } catch {
            Output.error("detour explain: \(error.sentence)\nTry detour explain --help.")
            return ExitStatus.usage
        }
        if options.wantsHelp {
            Output.print(ExplainOptions.usage)
            return 0
        }
        do throws(RejectedConfiguration) {
            return explain(options, try options.sources.configuration())
        } catch {
            for error in error.errors { Output.error("\(error)") }
            return ExitStatus.configuration
        }
    }

    private static func explain(_ options: ExplainOptions, _ configuration: Configuration) -> Int32
    {
        let upstreams =
            configuration.upstreams.map {
                $0.compactMap { Policy.Upstream($0) }
            } ?? SystemResolvers.read(except: []).map { Policy.Upstream($0) }
        let loaded = PolicyLoader(configuration).load(generation: 1, upstreams: upstreams)
        guard let policy = loaded.policy else {
            for error in loaded.errors { Output.error("\(error)") }
            for finding in loaded.findings where finding.severity == .error {
                Output.error("\(finding)")
            }
            return ExitStatus.configuration
        }
        let client = Client(
            address: options.client,
            localAddress: options.server,
            transport: options.isStream ? .tcp : .udp,
            returnPath: Client.ReturnPath(0, 0)
        )
        let explanation = Explanation(
            question: "\(options.name) \(options.type)",
            steps: policy.steps(for: options.name, type: options.type, from: client),
            shadowed: shadowed(options.name, loaded.findings),
            answer: Answer(options, policy, client),
            files: configuration.zones + configuration.views.flatMap(\.zones)
        )
        Output.print(
            options.wantsJSON ? explanation.json.text : explanation.text,
            terminator: options.wantsJSON ? "\n" : ""
        )
        return 0
    }

    /// Entries for the name that the layer's other files hide; the layer itself no longer has them.
    private static func shadowed(_ name: Name, _ findings: [ZoneFileError]) -> [ZoneFileError] {
        findings.filter { finding in
            guard case .check(.shadowed) = finding.kind else { return false }
            return (try? Name(scanning: finding.token)) == name
        }
    }
}

/// What is known about an answer, to be shown.
struct Explanation {
    let question: String
    let steps: [Policy.Step]
    let shadowed: [ZoneFileError]
    let answer: Answer
    let files: [ZoneFile]

    /// `zones/a.zone:12`: the path, where only one file has the name.
    private func place(_ place: Policy.Step.Place) -> String {
        let paths = Set(files.filter { $0.source.label == place.file }.map(\.path))
        let file = paths.count == 1 ? paths.first ?? place.file : place.file
        return place.line > 0 ? "\(file):\(place.line)" : file
    }

    var text: String {
        var text = "\(question)\n\n"
        var stage: Policy.Stage?
        for step in steps {
            let title = step.stage == stage ? "" : step.stage.rawValue
            stage = step.stage
            text += title.padded(to: 12) + (step.isDecisive ? "* " : "  ") + step.sentence
            if let place = step.place { text += "  (\(self.place(place)))" }
            text += "\n"
        }
        for finding in shadowed {
            text += "".padded(to: 12) + "  \(finding.token) is shadowed"
            text += "  (\(finding.file):\(finding.line))\n"
        }
        return text + "\n" + answer.text
    }

    var json: JSONText {
        .object([
            ("question", .string(question)),
            (
                "steps",
                .array(
                    steps.map { step in
                        .object([
                            ("stage", .string(step.stage.rawValue)),
                            ("decisive", .bool(step.isDecisive)),
                            ("message", .string(step.sentence)),
                            ("place", step.place.map { .string(place($0)) } ?? .null),
                        ])
                    }
                )
            ),
            (
                "shadowed",
                .array(shadowed.map { .string("\($0.file):\($0.line)") })
            ),
            ("disposition", .string(answer.disposition)),
            ("answer", answer.message.map { .string(Answer.hexadecimal($0)) } ?? .null),
            ("text", .string(answer.text)),
        ])
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}
