import DNS
import Platform
import Resolver

/// What the resolver answers to a question, where it can without asking anybody.
struct Answer {
    /// `answered`, `forwarded` or `dropped`.
    let disposition: String
    /// The message; nil unless answered.
    let message: [UInt8]?

    init(_ options: ExplainOptions, _ policy: Policy, _ client: Client) {
        var resolver = Answer.resolver(policy)
        let query = Answer.query(options.name, options.type)
        var store = OctetStore(zeroed: 65_535)
        var reply = store.mutableSpan
        let now = Instant(nanoseconds: Clock.monotonic)
        switch resolver.handle(query.span, from: client, at: now, into: &reply) {
        case .respond(let count):
            disposition = "answered"
            var octets: [UInt8] = []
            for index in 0..<count { octets.append(reply[index]) }
            message = octets
        case .wait:
            disposition = "forwarded"
            message = nil
        case .drop:
            disposition = "dropped"
            message = nil
        }
    }

    var text: String {
        if let message { return MessageText.text(of: message.span) }
        return disposition == "dropped"
            ? ";; there is no answer: the query is dropped\n"
            : ";; the answer is an upstream's\n"
    }

    static func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A resolver of its own, with a cache that nobody else has.
    static func resolver(_ policy: Policy) -> Resolver {
        Resolver(
            policy: policy,
            cache: Cache(bytes: 1 << 20, seed: 0),
            random: RandomPool { words in
                var random = SystemRandomNumberGenerator()
                for index in words.indices { words[index] = random.next() }
            }
        )
    }

    /// A query with EDNS and, unless told otherwise, RD, as stubs send it. The identifier is 0
    /// where the output must be stable.
    static func query(
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
