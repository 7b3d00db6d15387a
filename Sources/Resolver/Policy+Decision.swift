public import DNS
import Zones

// Why an answer is what it is: the steps that DecisionWalk writes down, and what else is asked about
// who owns a name.

extension Policy {
    /// One thing that was looked at on the way to an answer.
    public struct Step: Sendable, Equatable {
        /// What was looked at.
        public let stage: Stage
        /// What came of it, in one clause.
        public let sentence: String
        /// The file, without its folders, and the line that say so; nil where no file does.
        public let place: Place?
        /// Whether it decides about the answer; else it fell through, or is shadowed.
        public let isDecisive: Bool

        /// Where an entry is.
        public struct Place: Sendable, Equatable {
            /// The file's name without its folders.
            public let file: String
            /// The line, from 1; 0 where nothing in the file stands for it. Of what was set while
            /// the server runs: its number.
            public let line: UInt32
            /// Whether it is no file's, but was set while the server runs.
            public var isRuntime = false
        }
    }

    /// The stages of a query, in their order.
    public enum Stage: String, Sendable {
        /// Whether the client is served.
        case client
        /// Which view it has.
        case view
        /// Who owns the name.
        case overrides
        /// Names that never leave this machine.
        case special
        /// What upstreams have answered before.
        case cache
        /// Who is asked.
        case forwarding
    }

    /// The entry that owns a name, in the first layer that has one for it.
    public func owner(of name: Name, from client: Client) -> Step.Place? {
        let sight = horizon.sight(for: client)
        var folded = FoldedName()
        guard (try? folded.read(from: name.octets.span, at: 0)) != nil else { return nil }
        for number in sight.lower..<sight.upper {
            let lookup = horizon.layers[number].index.lookup(folded, type: .any)
            if lookup.kind != .notOwned { return horizon.layers[number].index.place(of: lookup) }
        }
        return nil
    }

    /// Whether an alias that is owned leads in a circle, or through more names than are followed.
    public func isEndless(_ name: Name, from client: Client) -> Bool {
        var walk = DecisionWalk(policy: self, client: client, type: .a)
        walk.follow(name)
        return walk.isEndless
    }
}
