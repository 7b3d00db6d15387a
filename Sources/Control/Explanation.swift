public import DNS
public import Resolver
public import Zones

/// Why a question is answered as it is: for people and programs, from files or from a daemon.
public struct Explanation: Codable, Sendable {
    /// The name and the type.
    public var question: String
    /// What was looked at, in its order.
    public var steps: [Step]
    /// Where the name has entries that an earlier file of the same layer hides.
    public var shadowed: [String]
    /// `answered`, `forwarded` or `dropped`.
    public var disposition: String
    /// The answer as hexadecimal digits; nil unless answered.
    public var answer: String?
    /// The answer as dig prints it, or why there is none.
    public var text: String

    /// One thing that was looked at.
    public struct Step: Codable, Sendable {
        /// Which stage of a query looks at it.
        public var stage: String
        /// Whether it decides about the answer.
        public var decisive: Bool
        /// What came of it.
        public var message: String
        /// File and line, or `runtime` and the number in `list`; nil where nothing is written.
        public var place: String?
        /// What was set while the daemon runs; nil where a file decides.
        public var override: Override?
    }

    /// What explanations of one state have in common: where its names come from.
    public struct Origins: Sendable {
        /// The files, in all views.
        var files: [ZoneFile]
        /// What was found in them; of that, entries that are never served.
        private(set) var shadowed: [ZoneFileError]
        /// What was set while the daemon runs, in the order of its numbers.
        var overrides: [Override]

        /// Files, what was found in them, and overrides.
        public init(files: [ZoneFile], findings: [ZoneFileError], overrides: [Override] = []) {
            self.files = files
            self.overrides = overrides
            shadowed = findings.filter {
                if case .check(.shadowed) = $0.kind { true } else { false }
            }
        }

        /// `zones/a.zone:12`: the path, where only one file has the name.
        func text(of place: Policy.Step.Place) -> String {
            let paths = Set(files.filter { $0.source.label == place.file }.map(\.path))
            let isKnown = !place.isRuntime && paths.count == 1
            let file = isKnown ? paths.first ?? place.file : place.file
            return place.line > 0 ? "\(file):\(place.line)" : file
        }

        /// The override that a place is about.
        func override(at place: Policy.Step.Place) -> Override? {
            let index = Int(place.line) - 1
            return place.isRuntime && overrides.indices.contains(index) ? overrides[index] : nil
        }
    }

    /// What becomes of a question under a policy.
    public init(
        _ name: Name,
        _ type: RecordType,
        from client: Client,
        under policy: Policy,
        _ origins: Origins,
        knowing knowledge: ServerKnowledge? = nil
    ) {
        let account = policy.account(of: name, type: type, from: client, knowing: knowledge)
        question = "\(name) \(type)"
        steps = account.steps.map { step in
            Step(
                stage: step.stage.rawValue,
                decisive: step.isDecisive,
                message: step.sentence,
                place: step.place.map { origins.text(of: $0) },
                override: step.place.flatMap { origins.override(at: $0) }
            )
        }
        shadowed = origins.shadowed.filter { (try? Name(scanning: $0.token)) == name }
            .map { "\($0.file):\($0.line)" }
        disposition = account.outcome.rawValue
        answer = account.message.map { octets in
            octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        text =
            switch account.outcome {
            case .answered: account.message.map { MessageText.text(of: $0.span) } ?? ""
            case .dropped: ";; there is no answer: the query is dropped\n"
            case .forwarded: ";; the answer is an upstream's\n"
            }
    }
}
