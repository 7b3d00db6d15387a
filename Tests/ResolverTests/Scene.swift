import DNS
import Resolver
import Zones

/// A resolver with zones given as text, and an upstream that says what a test lets it say.
struct Scene: ~Copyable {
    private var resolver: Resolver
    private let now = Instant(nanoseconds: 1_000_000_000)
    /// What the upstream answers, as lines of a master file, by question (`name. TYPE`).
    var upstream: [String: [String]]
    /// What the upstream was asked.
    private(set) var asked: [String] = []

    init(_ policy: Policy, upstream: [String: [String]] = [:]) {
        self.upstream = upstream
        resolver = Resolver(
            policy: policy,
            cache: Cache(bytes: 1 << 20, seed: 1),
            random: RandomPool { words in
                for index in words.indices { words[index] = .random(in: 0...UInt64.max) }
            }
        )
    }

    /// A layer of one zone.
    static func layer(
        _ text: String,
        _ kind: ZoneKind = .override,
        origin: String = ".",
        label: String = "z"
    ) -> Policy.Layer {
        let name = (try? Name(scanning: origin)) ?? .root
        let file = ZoneFile(path: label, source: ZoneSource(kind: kind, label: label, origin: name))
        let layer = ZoneCompiler.compile([file], seed: 7) { (_) throws(IncludeError) in
            Array(text.utf8)
        }
        return Policy.Layer(layer.take())
    }

    /// A policy zone.
    static func policyZone(_ text: String, origin: String = "rpz.example.") -> Policy.Layer {
        layer(text, .rpz, origin: origin)
    }

    /// A policy with one upstream.
    static func policy(
        _ layers: [Policy.Layer],
        views: [Policy.View] = [],
        settings: Policy.Settings = .init()
    ) -> Policy {
        Policy(
            layers: layers,
            views: views,
            upstreams: [Policy.Upstream(address: IPAddress(ipv4: 0x0909_0909))],
            settings: settings
        )
    }

    /// The answer: `STATUS flags`, and each record of the answer section; authority and additional
    /// records behind `authority` and `additional`. Nothing for a query that is dropped.
    mutating func ask(
        _ name: String,
        _ type: RecordType = .a,
        from client: String = "192.168.1.1",
        at local: String = "127.0.0.1",
        over transport: Transport = .udp,
        in recordClass: RecordClass = .in
    ) throws -> [String] {
        let query = try Scene.query(name, type, recordClass)
        let client = Client(
            address: IPAddress(scanning: client) ?? IPAddress(high: 0, low: 1),
            localAddress: IPAddress(scanning: local) ?? IPAddress(high: 0, low: 1),
            transport: transport,
            returnPath: Client.ReturnPath(0, 0)
        )
        var buffer = OctetStore(zeroed: 65_535)
        var reply = buffer.mutableSpan
        switch resolver.handle(query.span, from: client, at: now, into: &reply) {
        case .drop: return []
        case .respond(let count): return Scene.lines(reply.span.extracting(0..<count))
        case .wait: break
        }
        for _ in 0..<20 {
            var sends: [(UpstreamPath, [UInt8])] = []
            while let send = resolver.nextSend(into: &reply) {
                sends.append((send.path, Array(copying: reply.span.extracting(0..<send.count))))
            }
            for (path, query) in sends {
                let response = try answer(query)
                resolver.receive(response.span, over: path, at: now)
            }
            if let (_, count) = resolver.nextReply(into: &reply, at: now) {
                return count == 0 ? [] : Scene.lines(reply.span.extracting(0..<count))
            }
            if sends.isEmpty { break }
        }
        return []
    }

    private mutating func answer(_ query: [UInt8]) throws -> [UInt8] {
        var name = FoldedName()
        let end = try name.read(from: query.span, at: Header.size)
        let type = RecordType(rawValue: query.span.uint16(at: end))
        let question = "\(Name(folded: name)) \(type)"
        asked.append(question)
        var response = Array(query[..<(end + 4)])
        response[2] |= 0x80
        response[3] = 0x80
        response[10] = 0
        response[11] = 0
        guard let lines = upstream[question] else {
            response[3] |= 3
            return response
        }
        var records = Rendering()
        let text = Array(lines.joined(separator: "\n").utf8)
        _ = MasterFileScanner.scan(
            text.span,
            file: "upstream",
            settings: ScanSettings(kind: .override, defaultTTL: 30),
            including: { (_) throws(IncludeError) in throw IncludeError(reason: "none") },
            into: &records
        )
        response[7] = UInt8(records.count)
        return response + records.octets
    }

    private static func query(
        _ name: String,
        _ type: RecordType,
        _ recordClass: RecordClass
    ) throws -> [UInt8] {
        var query: [UInt8] = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        query += try Name(scanning: name).octets
        for value in [type.rawValue, recordClass.rawValue] {
            query += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        return query
    }

    /// The lines of `MessageText`, without what each answer has.
    private static func lines(_ message: Span<UInt8>) -> [String] {
        var lines: [String] = []
        var section = ""
        for line in MessageText.text(of: message).split(separator: "\n") {
            if line.hasPrefix(";; ->>HEADER") {
                let status = line.split(separator: " ")[5].dropLast()
                lines.append(String(status))
            } else if line.hasPrefix(";; flags: ") {
                lines[0] += line.dropFirst(9).prefix { $0 != ";" }
            } else if line.hasSuffix("SECTION:") {
                let title = line.split(separator: " ")[1]
                section = title == "ANSWER" ? "" : title.lowercased() + " "
            } else if !line.hasPrefix(";") {
                lines.append(section + line.split(separator: "\t").joined(separator: " "))
            }
        }
        return lines
    }
}

/// Records as they stand in a message, names spelled out.
private struct Rendering: RecordSink {
    var octets: [UInt8] = []
    var count = 0

    mutating func add(
        owner: Span<UInt8>,
        type: RecordType,
        class recordClass: RecordClass,
        ttl: UInt32,
        explicitTTL: Bool,
        rdata: Span<UInt8>,
        line: UInt32,
        file: UInt16
    ) {
        octets += Array(copying: owner)
        for value in [
            type.rawValue, 1, UInt16(ttl >> 16), UInt16(ttl & 0xFFFF), UInt16(rdata.count),
        ] {
            octets += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        octets += Array(copying: rdata)
        count += 1
    }
}

extension Array where Element == UInt8 {
    fileprivate init(copying span: Span<UInt8>) {
        self = []
        for index in span.indices { append(span[index]) }
    }
}
