import DNS
import Platform
import Resolver
import Support

/// The resolver alone, without a socket.
struct ResolverRun: ~Copyable {
    private var resolver: Resolver
    private var reply = OctetStore(count: 65_536)
    private var now = Instant(nanoseconds: 1)
    private let client = Client(
        address: IPAddress(ipv4: 0x7F00_0001),
        localAddress: IPAddress(ipv4: 0x7F00_0001),
        transport: .udp,
        returnPath: .init(1, 2)
    )

    private init() {
        let upstream = SocketAddress(ipv4: 0x7F00_0001, port: 53)
        let random = RandomPool { words in
            var random = Random()
            for index in words.indices { words[index] = random.next() }
        }
        resolver = Resolver(
            policy: Allocations.policy(upstream: upstream),
            cache: Cache(seed: 1),
            random: random
        )
    }

    static func measureAll() -> Int32 {
        var run = ResolverRun()
        let names = (0..<100).map { "n\($0)" }
        let overrides = names.map { Messages.query("\($0).test", id: 7) }
        let missing = names.map { Messages.query("\($0).test", id: 7, type: 65) }
        let cached = names.map { Messages.query("\($0).example", id: 7) }
        for query in cached { run.forward(query) }
        let rounds = 100
        let total = rounds * names.count
        var failures: Int32 = 0
        for (what, queries) in [
            ("resolver, override", overrides), ("resolver, no such data", missing),
            ("resolver, cached", cached),
        ] {
            var answers = run.ask(queries)
            let count = Allocations.count { for _ in 0..<rounds { answers += run.ask(queries) } }
            let isRight = count == 0 && answers == total + names.count
            failures += Allocations.report(what, count, of: total, isRight: isRight)
        }
        // That counting works at all.
        let control = Allocations.count { _ = run.forwardNew(100) }
        return failures
            + Allocations.report("control, must not be 0", control, of: 100, isRight: control > 0)
    }

    /// How many of the queries are answered at once.
    private mutating func ask(_ queries: [[UInt8]]) -> Int {
        var answers = 0
        for query in queries {
            let disposition = resolver.handle(query.span, from: client, at: now, into: &reply)
            if case .respond = disposition { answers += 1 }
        }
        return answers
    }

    /// Lets one query go upstream and come back, so that its answer is in the cache.
    private mutating func forward(_ query: [UInt8]) {
        _ = resolver.handle(query.span, from: client, at: now, into: &reply)
        while let send = resolver.nextSend() {
            let answer = Messages.answer(to: send.query, address: [192, 0, 2, 1])
            resolver.receive(answer.span, over: send.path, at: now)
        }
        while resolver.nextReply(into: &reply, at: now) != nil {}
    }

    /// The same for names that nobody has asked for; the messages made here are allocated.
    private mutating func forwardNew(_ count: Int) -> Int {
        for number in 0..<count { forward(Messages.query("new\(number).example", id: 9)) }
        return count
    }
}
