import DNS

/// What a response says about a name's addresses.
struct AddressAnswer {
    /// The message.
    let message: [UInt8]
    /// The addresses of the answer section in their order, of four or sixteen octets.
    private(set) var addresses: [[UInt8]] = []
    /// Where the last alias of the answer section leads; nil without an alias.
    private(set) var lastAlias: Name?
    /// Whether an SOA says that the name has no such data, or does not exist (RFC 2308, 2).
    private(set) var hasSOA = false
    /// Whether overrides or zones of the server's own answered.
    let isAuthoritative: Bool
    let isTruncated: Bool
    let code: ResponseCode

    /// The response that a message is; nil where it is none, or its answer does not parse.
    init?(_ message: [UInt8]) {
        self.message = message
        let span = message.span
        guard let header = Header(parsing: span), header.flags.isResponse else { return nil }
        isAuthoritative = header.flags.isAuthoritative
        isTruncated = header.flags.isTruncated
        code = header.flags.responseCode
        var position = Header.size
        for _ in 0..<header.questionCount {
            guard let end = try? ResourceRecord.skipName(in: span, at: position) else { return nil }
            position = end + 4
        }
        if isTruncated { return }
        for _ in 0..<header.answerCount {
            guard let record = try? ResourceRecord(parsing: span, at: position) else { return nil }
            let length = record.end - record.rdata
            switch record.type {
            case .a where length == 4, .aaaa where length == 16:
                addresses.append(Array(message[record.rdata..<record.end]))
            case .cname:
                guard let alias = AddressAnswer.name(in: span, at: record.rdata) else { return nil }
                lastAlias = alias
            default: break
            }
            position = record.end
        }
        for _ in 0..<header.authorityCount {
            guard let record = try? ResourceRecord(parsing: span, at: position) else { return nil }
            if record.type == .soa { hasSOA = true }
            position = record.end
        }
    }

    /// The response in octets of somebody else's.
    init?(copying octets: Span<UInt8>) {
        var message: [UInt8] = []
        message.append(octets)
        self.init(message)
    }

    private static func name(in message: Span<UInt8>, at position: Int) -> Name? {
        var store = OctetStore(zeroed: 256)
        var room = store.mutableSpan
        var end = 0
        guard
            (try? Name.decompress(
                in: message,
                at: position,
                limit: message.count,
                into: &room,
                end: &end
            )) != nil
        else { return nil }
        return try? Name(parsing: room.span.extracting(0..<end))
    }
}
