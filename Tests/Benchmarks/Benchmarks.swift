import DNS
import Platform
import Resolver
import Zones

/// Measures a step again and again: `benchmarks CASE NAMES ROUNDS`.
enum Benchmarks {
    static func run(_ arguments: [String]) {
        guard arguments.count >= 4, let names = Int(arguments[2]), let rounds = Int(arguments[3])
        else {
            StandardStream.error.write("usage: benchmarks override|miss NAMES ROUNDS\n")
            return
        }
        var text = "$TTL 300\n"
        for number in 0..<names { text += "h\(number).ovr.bench. IN A 10.1.2.3\n" }
        let layer = ZoneCompiler.compile(
            [ZoneFile(path: "b.zone", source: ZoneSource(kind: .override, label: "b.zone"))],
            seed: 7
        ) { _ throws(IncludeError) in Array(text.utf8) }
        let policy = Policy(layers: [Policy.Layer(layer.take())], upstreams: [])
        let random = RandomPool { words in for index in words.indices { words[index] = 42 } }
        var resolver = Resolver(policy: policy, cache: Cache(seed: 1), random: random)
        let suffix = arguments[1] == "miss" ? ".other." : ".ovr.bench."
        let queries = (0..<1024).map { query("h\($0 * 7919 % names)\(suffix)") }
        var reply = [UInt8](repeating: 0, count: 4096)
        let client = Client(
            address: IPAddress(ipv4: 0x7F00_0001),
            localAddress: IPAddress(ipv4: 0x7F00_0001),
            transport: .udp,
            returnPath: .init(0, 0)
        )
        var octets = 0
        let start = Clock.monotonic
        for round in 0..<rounds {
            let query = queries[round & 1023]
            var span = reply.mutableSpan
            let disposition = resolver.handle(
                query.span,
                from: client,
                at: Instant(nanoseconds: 1),
                into: &span
            )
            if case .respond(let count) = disposition { octets += count }
        }
        let nanoseconds = Double(Clock.monotonic - start) / Double(rounds)
        StandardStream.output.write(
            "\(arguments[1]): \(nanoseconds) ns, \(octets / rounds) octets\n"
        )
    }

    private static func query(_ text: String) -> [UInt8] {
        guard let name = try? Name(scanning: text) else { return [] }
        return [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1] + name.octets + [0, 1, 0, 1]
            + [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]
    }
}
