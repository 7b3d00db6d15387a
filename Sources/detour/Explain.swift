import Configuration
import Control
import DNS
import PolicyLoading
import Resolver
import Zones

/// `detour explain`: why a name is answered as it is, from files or by the daemon that runs. Both
/// are told by the same code, and the answer is the resolver's own.
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
        do throws(ControlError) {
            let explanation =
                if let path = options.control {
                    try ask(path, options)
                } else {
                    try explain(options)
                }
            Output.print(
                options.wantsJSON ? explanation.json.text : explanation.lines,
                terminator: options.wantsJSON ? "\n" : ""
            )
            return 0
        } catch {
            for finding in error.findings ?? [] { Output.error(finding) }
            guard !error.sentence.isEmpty else { return ExitStatus.configuration }
            Output.error("detour explain: \(error.sentence)")
            return ControlCommand.status(of: error)
        }
    }

    /// What the daemon says that serves a control socket.
    private static func ask(
        _ path: String,
        _ options: ExplainOptions
    ) throws(ControlError) -> Explanation {
        var request = Request(.explain)
        request.name = options.name.description
        request.type = options.type.description
        request.client = options.asker.client
        request.server = options.asker.server
        request.view = options.asker.view
        request.stream = options.asker.isStream
        var connection = try ControlConnection(to: path)
        return try connection.ask(request, for: Explanation.self, milliseconds: 20_000)
    }

    /// What a daemon would do that has just begun with these files.
    private static func explain(_ options: ExplainOptions) throws(ControlError) -> Explanation {
        let configuration: Configuration
        do throws(RejectedConfiguration) {
            configuration = try options.sources.configuration()
        } catch {
            throw ControlError(.invalid, "", findings: error.errors.map { "\($0)" })
        }
        let upstreams =
            configuration.upstreams.map {
                $0.compactMap { Policy.Upstream($0) }
            } ?? SystemResolvers.read(except: []).map { Policy.Upstream($0) }
        let loaded = PolicyLoader(configuration).load(generation: 1, upstreams: upstreams)
        guard let policy = loaded.policy else {
            let wrong = loaded.findings.filter { $0.severity == .error }
            throw ControlError(
                .invalid,
                "",
                findings: loaded.errors.map { "\($0)" } + wrong.map { "\($0)" }
            )
        }
        return Explanation(
            options.name,
            options.type,
            from: try options.asker.client(under: policy),
            under: policy,
            Explanation.Origins(configuration, loaded)
        )
    }
}

extension Explanation {
    /// For people.
    fileprivate var lines: String {
        var text = "\(question)\n\n"
        var stage = ""
        for step in steps {
            let title = step.stage == stage ? "" : step.stage
            stage = step.stage
            text += title.padded(to: 12) + (step.decisive ? "* " : "  ") + step.message
            if let place = step.place { text += "  (\(place))" }
            text += "\n"
            if let override = step.override { text += "".padded(to: 14) + override.story + "\n" }
        }
        let name = question.prefix { $0 != " " }
        for place in shadowed {
            text += "".padded(to: 14) + "\(name) is shadowed  (\(place))\n"
        }
        return text + "\n" + self.text
    }

    fileprivate var json: JSONText {
        .object([
            ("question", .string(question)), ("steps", .array(steps.map(\.json))),
            ("shadowed", .array(shadowed.map { .string($0) })),
            ("disposition", .string(disposition)),
            ("answer", answer.map { .string($0) } ?? .null), ("text", .string(text)),
        ])
    }
}

extension Explanation.Step {
    fileprivate var json: JSONText {
        var members: [(String, JSONText)] = [
            ("stage", .string(stage)), ("decisive", .bool(decisive)),
            ("message", .string(message)), ("place", place.map { .string($0) } ?? .null),
        ]
        if let override {
            members.append(
                (
                    "override",
                    .object([
                        ("user", .string(override.user)), ("setAt", .string("\(override.setAt)")),
                        ("expiresAt", override.expiresAt.map { .string("\($0)") } ?? .null),
                        ("note", override.note.map { .string($0) } ?? .null),
                    ])
                )
            )
        }
        return .object(members)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}
