import DNS
import Resolver
import Support
import Zones

/// Takes arbitrary octets as what came over the network, and traps where what must hold does not.
///
/// The first octet of an input chooses: bit 0 TCP, bit 1 the rest came from an upstream, bit 2 with
/// id and question made right, bit 3 the client wants DNSSEC.
///
/// A class, so that no other module is compiled with the layout of a resolver in it.
public final class MessageFuzzer {
    private var resolver: Resolver
    private var reply = OctetStore(count: 65_536)
    private var now = Instant(nanoseconds: 1_000_000_000)

    /// A fuzzer with a small policy: overrides of each kind, and two upstreams.
    public init() {
        // Never random: the same input must do the same thing again.
        let random = RandomPool { words in
            for index in words.indices { words[index] = UInt64(index) &* 0x9E37_79B9_7F4A_7C15 }
        }
        resolver = Resolver(
            policy: MessageFuzzer.policy,
            cache: Cache(bytes: 0, seed: 1),
            random: random
        )
    }

    private static let policy: Policy = {
        let text = """
            a.example. A 192.0.2.1
            *.w.example. TXT "text"
            c.example. CNAME up.example.
            gone.example. CNAME .
            x.tcp.example. CNAME rpz-tcp-only.
            """ + "\n" + (1...150).map { "many.example. A 203.0.113.\($0)\n" }.joined()
        let zone =
            "@ SOA a b 1 2 3 4 5\n@ NS ns\nns A 192.0.2.2\nd DNAME e\nsub NS ns.sub\n*.w MX 1 ns\n"
        let files = [
            (ZoneSource(kind: .override, label: "o.zone"), text),
            (ZoneSource(kind: .authoritative, label: "a.zone", origin: auth), zone),
        ]
        let layers = files.map { source, text in
            let file = ZoneFile(path: source.label, source: source)
            let layer = ZoneCompiler.compile([file], seed: 7) { _ in Array(text.utf8) }
            precondition(layer.isUsable, "\(layer.findings)")
            return Policy.Layer(layer.take())
        }
        let upstreams = [0x7F00_0035, 0x7F00_0036].map {
            Policy.Upstream(address: IPAddress(ipv4: $0))
        }
        return Policy(layers: layers, upstreams: upstreams)
    }()

    private static let auth = (try? Name(scanning: "auth.example.")) ?? .root

    /// Takes one input.
    public func take(_ input: Span<UInt8>) {
        guard input.count > 0 else { return }
        let choice = input[0]
        let message = input.extracting(1..<input.count)
        let transport: Transport = choice & 1 == 0 ? .udp : .tcp
        if choice & 2 == 0 {
            ask(message, over: transport)
        } else {
            let asked = MessageFuzzer.question(wantsDNSSEC: choice & 8 != 0)
            ask(asked.span, over: transport, upstream: message, isFitted: choice & 4 != 0)
            // Again: what was kept of it is served, too.
            now = now.advanced(byMilliseconds: 1500)
            ask(asked.span, over: transport, upstream: message, isFitted: choice & 4 != 0)
        }
        giveUp()
    }

    /// `up.example. A`, with EDNS.
    private static func question(wantsDNSSEC: Bool) -> [UInt8] {
        [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
            + [2, 0x75, 0x70, 7] + Array("example".utf8) + [0, 0, 1, 0, 1]
            + [0, 0, 41, 0x04, 0xD0, 0, 0, wantsDNSSEC ? 0x80 : 0, 0, 0, 0]
    }

    private func ask(
        _ query: Span<UInt8>,
        over transport: Transport,
        upstream: Span<UInt8>? = nil,
        isFitted: Bool = false
    ) {
        let client = Client(
            address: IPAddress(ipv4: 0x7F00_0001),
            localAddress: IPAddress(ipv4: 0x7F00_0001),
            transport: transport,
            returnPath: .init(0, 0)
        )
        switch resolver.handle(query, from: client, at: now, into: &reply) {
        case .respond(let count):
            MessageFuzzer.check(reply.span.extracting(0..<count), query, transport)
        case .wait, .drop: break
        }
        for _ in 0..<20 {
            guard let (asked, path) = resolver.nextSend() else { break }
            if let upstream {
                let octets = (0..<upstream.count).map { upstream[$0] }
                let message = isFitted ? fit(octets, to: asked) : octets
                resolver.receive(message.span, over: path, at: now)
            } else {
                resolver.receive(MessageFuzzer.answer(to: asked).span, over: path, at: now)
            }
            takeReplies(query, transport)
        }
    }

    /// Lets all that still waits run into its end.
    private func giveUp() {
        for _ in 0..<20 {
            guard let deadline = resolver.nextDeadline else { return }
            now = max(now, deadline)
            resolver.expire(at: now)
            while resolver.nextSend() != nil {}
            while resolver.nextReply(into: &reply, at: now) != nil {}
        }
    }

    private func takeReplies(_ query: Span<UInt8>, _ transport: Transport) {
        while let count = resolver.nextReply(into: &reply, at: now) {
            MessageFuzzer.check(reply.span.extracting(0..<count), query, transport)
        }
    }

    /// A reply is one message that anybody can read, of the query's id, and not longer than allowed.
    private static func check(
        _ octets: Span<UInt8>,
        _ query: Span<UInt8>,
        _ transport: Transport
    ) {
        guard let header = Header(parsing: octets), let asked = Header(parsing: query) else {
            fatalError("a reply without a header, or to what has none")
        }
        precondition(
            !asked.flags.isResponse && header.flags.isResponse,
            "no response to a response"
        )
        precondition(header.id == asked.id && header.flags.opcode == asked.flags.opcode)
        precondition(transport == .tcp || octets.count <= 1232, "longer than any datagram")
        precondition(header.questionCount <= 1)
        var name = FoldedName()
        var position = Header.size
        do throws(WireError) {
            if header.questionCount == 1 {
                position = try name.read(from: octets, at: position) + 4
                for index in Header.size..<position {
                    precondition(octets[index] == query[index], "the question's own octets")
                }
            }
            let records =
                Int(header.answerCount) + Int(header.authorityCount) + Int(header.additionalCount)
            for _ in 0..<records {
                let record = try ResourceRecord(parsing: octets, at: position)
                _ = try name.readCompressed(from: octets, at: record.owner)
                position = record.end
            }
        } catch {
            fatalError("a reply that cannot be read: \(error)")
        }
        precondition(position == octets.count, "nothing is behind the last record")
    }

    /// The octets as an answer to a query: its id and question, then what comes.
    private func fit(_ octets: [UInt8], to asked: [UInt8]) -> [UInt8] {
        guard octets.count >= 12 else { return octets }
        var message = Array(asked[..<2]) + octets[2..<12]
        message[2] |= 0x80
        (message[4], message[5]) = (0, 1)
        return message + asked[12..<MessageFuzzer.questionEnd(asked)] + octets[12...]
    }

    private static func answer(to asked: [UInt8]) -> [UInt8] {
        var message = Array(asked[..<questionEnd(asked)])
        message[2] |= 0x80
        message.replaceSubrange(6..<12, with: [0, 1, 0, 0, 0, 0])
        return message + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 99]
    }

    private static func questionEnd(_ asked: [UInt8]) -> Int {
        var end = 12
        while asked[end] != 0 { end += Int(asked[end]) + 1 }
        return end + 5
    }
}
