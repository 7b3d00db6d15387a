public import DNS

// What becomes of a question, and why: the steps of the walk beside the resolver's own answer.

extension Policy {
    /// What becomes of a question, and why.
    public struct Account: Sendable {
        /// What becomes of it, as far as can be seen without asking anybody.
        public enum Outcome: String, Sendable {
            /// The answer is at hand.
            case answered
            /// The answer is an upstream's.
            case forwarded
            /// There is no answer.
            case dropped
        }

        /// What was looked at on the way.
        public let steps: [Step]
        /// What becomes of the question.
        public let outcome: Outcome
        /// The answer; nil unless answered.
        public let message: [UInt8]?
    }

    /// What becomes of a question that a client asks with EDNS, RD and neither DO nor CD.
    ///
    /// With `knowledge` it is what a server that runs has at this moment; without, what a server
    /// would do that has just begun. Nobody is asked, and nothing changes.
    public func account(
        of name: Name,
        type: RecordType,
        from client: Client,
        knowing knowledge: ServerKnowledge? = nil
    ) -> Account {
        let steps = steps(for: name, type: type, from: client, knowledge)
        var resolver = Resolver(
            policy: self,
            cache: knowledge?.seen ?? Cache(bytes: 1 << 20, seed: 0),
            // Whoever has something explained has not used up what the client may ask.
            clients: ClientTable(seed: (1, 2)),
            random: .system
        )
        let query = StubQuery.octets(name, type)
        var store = OctetStore(zeroed: 65_535)
        var reply = store.mutableSpan
        let now = knowledge?.now ?? Instant(nanoseconds: 0)
        switch resolver.handle(query.span, from: client, at: now, into: &reply) {
        case .respond(let count):
            var message: [UInt8] = []
            message.append(reply.span.extracting(0..<count))
            return Account(steps: steps, outcome: .answered, message: message)
        case .wait: return Account(steps: steps, outcome: .forwarded, message: nil)
        case .drop: return Account(steps: steps, outcome: .dropped, message: nil)
        }
    }

    private func steps(
        for name: Name,
        type: RecordType,
        from client: Client,
        _ knowledge: ServerKnowledge?
    ) -> [Step] {
        var walk = DecisionWalk(policy: self, client: client, type: type, knowledge: knowledge)
        guard allowed.contains(where: { $0.contains(client.address) }) else {
            walk.add(.client, "\(client.address) is not served: REFUSED", isDecisive: true)
            return walk.steps
        }
        walk.add(.client, "\(client.address) is served")
        if !views.isEmpty {
            walk.add(.view, view(of: client).map { "the view \($0.name)" } ?? "the base, no view")
        }
        walk.follow(name)
        return walk.steps
    }
}

/// A query as stubs send it.
public enum StubQuery {
    /// A query with EDNS and, unless told otherwise, RD. The identifier is 0 where the output must
    /// be stable.
    public static func octets(
        _ name: Name,
        _ type: RecordType,
        id: UInt16 = 0,
        wantsRecursion: Bool = true
    ) -> [UInt8] {
        var query: [UInt8] = [UInt8(id >> 8), UInt8(id & 0xFF), wantsRecursion ? 1 : 0, 0]
        query += [0, 1, 0, 0, 0, 0, 0, 1] + name.octets
        query += [UInt8(type.rawValue >> 8), UInt8(type.rawValue & 0xFF), 0, 1]
        return query + [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0]
    }
}
