import DNS
import Resolver
import Zones

/// A resolver with scripted clients, upstreams and time: no sockets, thousands of steps a second.
final class Player {
    private var resolver: Resolver
    private var policy: Policy
    private let cache: Cache
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    /// Queries that went upstream and were not taken yet.
    private var outgoing: [Sent] = []
    /// Replies that clients got and were not taken yet.
    private var finished: [Reply] = []
    private var clients: UInt64 = 0
    private var clientIDs: [UInt64: UInt16] = [:]
    private var buffer = OctetStore(count: 65_536)

    /// A query that went upstream.
    struct Sent {
        let path: UpstreamPath
        let message: Message

        var upstream: Int {
            switch path {
            case .datagram(let upstream, _), .stream(let upstream): upstream
            }
        }

        var isStream: Bool {
            if case .stream = path { return true }
            return false
        }
    }

    /// A reply that a client got.
    struct Reply {
        /// Which query it answers, counted from 1.
        let client: UInt64
        let message: Message
        let size: Int
    }

    /// A resolver over the text of an override zone, and as many upstreams: 192.0.2.1, .2, …
    init(
        upstreams: Int = 1,
        zone: String = "",
        cache: Cache = Cache(bytes: 4 << 20, seed: 1),
        groups: [Policy.UpstreamGroup] = [],
        rules: [Policy.ForwardRule] = [],
        settings: Policy.Settings = Policy.Settings()
    ) {
        self.cache = cache
        policy = Player.policy(
            upstreams: Array(1..<(upstreams + 1)),
            zone: zone,
            groups: groups,
            rules: rules,
            settings: settings
        )
        resolver = Resolver(
            policy: policy,
            cache: cache,
            random: RandomPool { words in
                var random = SystemRandomNumberGenerator()
                for index in words.indices { words[index] = random.next() }
            }
        )
    }

    /// A policy whose upstreams have these last octets of their addresses.
    static func policy(
        upstreams: [Int],
        zone: String = "",
        groups: [Policy.UpstreamGroup] = [],
        rules: [Policy.ForwardRule] = [],
        identity: Policy.Upstream.Identity? = nil,
        settings: Policy.Settings = Policy.Settings()
    ) -> Policy {
        let file = ZoneFile(
            path: "test.zone",
            source: ZoneSource(kind: .override, label: "test.zone", origin: .root)
        )
        let layers = ZoneCompiler.layers(of: [file]).map { group in
            let layer = ZoneCompiler.compile(group, seed: 1) { _ in Array(zone.utf8) }
            precondition(layer.isUsable, "\(layer.findings)")
            return Policy.Layer(layer.take())
        }
        return Policy(
            layers: layers,
            upstreams: upstreams.map {
                Policy.Upstream(
                    address: IPAddress(ipv4: 0xC000_0200 + UInt32($0)),
                    identity: identity
                )
            },
            groups: groups,
            forwardRules: rules,
            settings: settings
        )
    }

    func adopt(_ policy: Policy) {
        self.policy = policy
        resolver.adopt(policy, at: now)
        drain()
    }

    /// Why a question is answered as it is now.
    func account(_ name: String, _ type: RecordType = .a) throws -> Policy.Account {
        let loopback = IPAddress(ipv4: 0x7F00_0001)
        return policy.account(
            of: try Name(scanning: name),
            type: type,
            from: Client(
                address: loopback,
                localAddress: loopback,
                transport: .udp,
                returnPath: .init(0, 0)
            ),
            knowing: ServerKnowledge(
                cache: cache,
                upstreams: resolver.upstreamStatistics,
                at: now
            )
        )
    }

    var statistics: ResolverStatistics { resolver.statistics }
    var upstreams: [Policy.Upstream?] { resolver.upstreams }

    // MARK: Clients

    /// A client asks; gives the reply where it comes at once.
    @discardableResult
    func ask(
        _ name: String,
        _ type: RecordType = .a,
        id: UInt16? = nil,
        edns: UInt16? = 1232,
        flags: Set<Message.Flag> = [.rd],
        subnet: [UInt8]? = nil,
        over transport: Transport = .udp
    ) -> Reply? {
        clients += 1
        let id = id ?? UInt16(truncatingIfNeeded: clients &* 7919)
        var query = Message(id: id, flags: flags, question: (name, type))
        query.ednsSize = edns
        if let subnet { query.options.append((8, subnet)) }
        return ask(query.octets, id: id, over: transport)
    }

    /// A client sends these octets.
    @discardableResult
    func ask(_ octets: [UInt8], id: UInt16, over transport: Transport = .udp) -> Reply? {
        clientIDs[clients] = id
        let client = Client(
            address: IPAddress(ipv4: 0x7F00_0001),
            localAddress: IPAddress(ipv4: 0x7F00_0001),
            transport: transport,
            returnPath: .init(clients, 0)
        )
        var room = buffer.mutableSpan
        let disposition = resolver.handle(octets.span, from: client, at: now, into: &room)
        var reply: Reply?
        if case .respond(let count) = disposition { reply = read(count, for: clients) }
        drain()
        return reply
    }

    private func read(_ count: Int, for client: UInt64) -> Reply {
        let octets = Player.copy(buffer, count)
        guard let message = Message(octets) else {
            preconditionFailure("a reply cannot be read: \(octets)")
        }
        precondition(message.id == clientIDs[client], "the asker's id comes back")
        return Reply(client: client, message: message, size: count)
    }

    /// The replies since the last time.
    func replies() -> [Reply] {
        defer { finished = [] }
        return finished
    }

    // MARK: Upstreams

    /// The queries that went upstream since the last time.
    func sent() -> [Sent] {
        defer { outgoing = [] }
        return outgoing
    }

    /// An upstream answers a query; `change` makes the answer, which begins as the query's echo.
    func answer(_ sent: Sent, change: (inout Message) -> Void = { _ in }) {
        var message = sent.message
        message.flags.formUnion([.qr, .ra])
        message.ednsSize = nil
        message.options = []
        change(&message)
        deliver(message.octets, over: sent.path)
    }

    /// An upstream answers a query with records.
    func answer(_ sent: Sent, _ records: String...) {
        answer(sent) { $0.answer = records }
    }

    /// A message comes from an upstream.
    func deliver(_ octets: [UInt8], over path: UpstreamPath) {
        resolver.receive(octets.span, over: path, at: now)
        drain()
    }

    /// A path to an upstream breaks.
    func fail(_ path: UpstreamPath, _ failure: PathFailure = .unreachable) {
        resolver.pathFailed(path, failure, at: now)
        drain()
    }

    // MARK: Time

    /// Lets time pass; what is due happens when it is due.
    func pass(milliseconds: UInt64) {
        let end = now.advanced(byMilliseconds: milliseconds)
        while let deadline = resolver.nextDeadline, deadline <= end {
            now = max(now, deadline)
            resolver.expire(at: now)
            drain()
        }
        now = end
    }

    private func drain() {
        repeat {
            while let (path, octets) = nextSend() {
                guard let message = Message(octets) else {
                    preconditionFailure("an upstream query cannot be read: \(octets)")
                }
                outgoing.append(Sent(path: path, message: message))
            }
            while let (client, count) = nextReply() {
                if count > 0 { finished.append(read(count, for: client)) }
            }
        } while resolver.hasUnsent
    }

    private func nextSend() -> (UpstreamPath, [UInt8])? {
        var room = buffer.mutableSpan
        guard let send = resolver.nextSend(into: &room) else { return nil }
        return (send.path, Player.copy(buffer, send.count))
    }

    private static func copy(_ buffer: borrowing OctetStore, _ count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        for index in 0..<count { octets.append(buffer.span[index]) }
        return octets
    }

    private func nextReply() -> (UInt64, Int)? {
        var room = buffer.mutableSpan
        guard let (client, count) = resolver.nextReply(into: &room, at: now) else { return nil }
        return (client.returnPath.first, count)
    }
}
