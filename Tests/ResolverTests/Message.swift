import DNS

/// A message as tests write and read it. Records are text: `name TTL TYPE data`, names without the
/// dot at their end.
struct Message {
    enum Flag: UInt16, CaseIterable {
        case qr = 0x8000
        case aa = 0x0400
        case tc = 0x0200
        case rd = 0x0100
        case ra = 0x0080
        case ad = 0x0020
        case cd = 0x0010
        /// Not of the header: DO.
        case dnssec = 0x0001
    }

    var id: UInt16
    var flags: Set<Flag>
    var code: UInt16 = 0
    var question: (name: String, type: RecordType)?
    var answer: [String] = []
    var authority: [String] = []
    var additional: [String] = []
    /// The size that the OPT record says; nil: there is none.
    var ednsSize: UInt16?
    var options: [(code: UInt16, payload: [UInt8])] = []

    init(id: UInt16, flags: Set<Flag>, question: (String, RecordType)?) {
        self.id = id
        self.flags = flags
        self.question = question
    }

    /// The Extended DNS Error: its code.
    var error: UInt16? {
        option(15).map { UInt16($0[0]) << 8 | UInt16($0[1]) }
    }

    /// The Extended DNS Error's text.
    var reason: String { option(15).map { String(decoding: $0.dropFirst(2), as: UTF8.self) } ?? "" }

    func option(_ code: UInt16) -> [UInt8]? { options.first { $0.code == code }?.payload }

    /// The addresses and alias targets of the answer section.
    var data: [String] { answer.map { String($0.split(separator: " ", maxSplits: 3).last ?? "") } }

    /// The TTLs of all sections.
    var ttls: [UInt32] {
        (answer + authority + additional).compactMap { UInt32($0.split(separator: " ")[1]) }
    }

    // MARK: Writing

    var octets: [UInt8] {
        var word = code & 0x0F
        for flag in flags where flag != .dnssec { word |= flag.rawValue }
        let extra = ednsSize == nil ? 0 : 1
        var octets: [UInt8] = []
        for value in [
            id, word, question == nil ? 0 : 1, UInt16(answer.count), UInt16(authority.count),
            UInt16(additional.count + extra),
        ] { octets += Message.two(value) }
        if let question {
            octets += Message.name(question.name) + Message.two(question.type.rawValue) + [0, 1]
        }
        for record in answer + authority + additional { octets += Message.record(record) }
        if let ednsSize {
            let body = options.flatMap {
                Message.two($0.code) + Message.two(UInt16($0.payload.count)) + $0.payload
            }
            octets += [0, 0, 41] + Message.two(ednsSize) + [UInt8(code >> 4), 0]
            octets += [flags.contains(.dnssec) ? 0x80 : 0, 0] + Message.two(UInt16(body.count))
            octets += body
        }
        return octets
    }

    static func two(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    static func four(_ value: UInt32) -> [UInt8] {
        two(UInt16(value >> 16)) + two(UInt16(value & 0xFFFF))
    }

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private static let types: [String: RecordType] = [
        "A": .a, "NS": .ns, "CNAME": .cname, "SOA": .soa, "TXT": RecordType(rawValue: 16),
        "AAAA": .aaaa, "RRSIG": .rrsig, "NSEC": .nsec, "DNAME": .dname,
        "HTTPS": RecordType(rawValue: 65),
    ]

    /// One record. The data of TXT is how many octets of text there are; of RRSIG, a type.
    private static func record(_ text: String) -> [UInt8] {
        let parts = text.split(separator: " ").map(String.init)
        let type = types[parts[2]] ?? .a
        var data: [UInt8] = []
        switch parts[2] {
        case "A": data = parts[3].split(separator: ".").map { UInt8($0) ?? 0 }
        case "NS", "CNAME", "DNAME": data = name(parts[3])
        case "SOA":
            data = name("ns.\(parts[0])") + name("host.\(parts[0])")
            for _ in 0..<4 { data += four(1) }
            data += four(UInt32(parts[3]) ?? 0)
        case "TXT":
            var rest = Int(parts[3]) ?? 0
            while rest > 0 {
                let length = min(rest, 255)
                data += [UInt8(length)] + Array(repeating: UInt8(ascii: "x"), count: length)
                rest -= length
            }
        case "RRSIG":
            data = two((types[parts[3]] ?? .a).rawValue) + [13, 2] + four(300) + four(0) + four(0)
            data += two(1) + name("example") + Array(repeating: 7, count: 64)
        case "NSEC": data = name(parts[3]) + [0, 1, 0x40]
        default: data = Array(repeating: 0, count: 16)
        }
        return name(parts[0]) + two(type.rawValue) + [0, 1] + four(UInt32(parts[1]) ?? 0)
            + two(UInt16(data.count)) + data
    }

    // MARK: Reading

    init?(_ octets: [UInt8]) {
        var reader = Reader(octets: octets)
        guard octets.count >= 12 else { return nil }
        id = reader.two()
        let word = reader.two()
        flags = Set(Flag.allCases.filter { $0 != .dnssec && word & $0.rawValue != 0 })
        code = word & 0x0F
        let counts = (0..<4).map { _ in Int(reader.two()) }
        if counts[0] == 1 {
            let name = reader.name()
            question = (name, RecordType(rawValue: reader.two()))
            _ = reader.two()
        }
        for _ in 0..<counts[1] { answer.append(reader.record(&self)) }
        for _ in 0..<counts[2] { authority.append(reader.record(&self)) }
        for _ in 0..<counts[3] {
            let record = reader.record(&self)
            if !record.isEmpty { additional.append(record) }
        }
        guard !reader.isBroken, reader.position == octets.count else { return nil }
    }

    private struct Reader {
        let octets: [UInt8]
        var position = 0
        var isBroken = false

        mutating func octet() -> UInt8 {
            guard position < octets.count else {
                isBroken = true
                return 0
            }
            position += 1
            return octets[position - 1]
        }

        mutating func two() -> UInt16 { UInt16(octet()) << 8 | UInt16(octet()) }
        mutating func four() -> UInt32 { UInt32(two()) << 16 | UInt32(two()) }

        mutating func name() -> String {
            var labels: [String] = []
            var end: Int?
            while !isBroken {
                let length = Int(octet())
                if length >= 0xC0 {
                    let target = (length & 0x3F) << 8 | Int(octet())
                    if end == nil { end = position }
                    if target >= position { isBroken = true }
                    position = target
                } else if length == 0 {
                    break
                } else {
                    labels.append(
                        String(decoding: (0..<length).map { _ in octet() }, as: UTF8.self)
                    )
                }
            }
            if let end { position = end }
            return labels.joined(separator: ".")
        }

        /// A record as text; empty for an OPT record, which goes to the message.
        mutating func record(_ message: inout Message) -> String {
            let owner = name()
            let type = RecordType(rawValue: two())
            let size = two()
            let ttl = four()
            let end = Int(two()) + position
            defer { position = end }
            if type == .opt {
                message.ednsSize = size
                message.code |= UInt16(ttl >> 24) << 4
                if ttl & 0x8000 != 0 { message.flags.insert(.dnssec) }
                while position < end, !isBroken {
                    let code = two()
                    let length = Int(two())
                    message.options.append((code, (0..<length).map { _ in octet() }))
                }
                return ""
            }
            let mnemonic = Message.types.first { $0.value == type }?.key ?? "TYPE\(type.rawValue)"
            var data: String
            switch mnemonic {
            case "A": data = (0..<4).map { _ in String(octet()) }.joined(separator: ".")
            case "NS", "CNAME", "DNAME": data = name()
            case "SOA":
                _ = (name(), name())
                for _ in 0..<4 { _ = four() }
                data = String(four())
            case "TXT":
                var length = 0
                while position < end, !isBroken {
                    let count = Int(octet())
                    length += count
                    position += count
                }
                data = String(length)
            default: data = "\(end - position) octets"
            }
            if position > end { isBroken = true }
            return "\(owner) \(ttl) \(mnemonic) \(data)"
        }
    }
}
