import DNS

/// The facts of one query that decide its answer: all but the name's octets, which stay where they are.
struct Query: BitwiseCopyable {
    /// The asker's identifier.
    var id: UInt16
    /// The asker's flags.
    var flags: Flags
    /// QTYPE.
    var type: RecordType
    /// QCLASS.
    var `class`: RecordClass
    /// How many octets the question takes: name, type and class.
    var questionSize: Int
    /// How many octets the response may take.
    var limit: Int
    /// Whether the query had an OPT record: then the response has one.
    var hasEDNS: Bool
    /// DO.
    var wantsDNSSEC: Bool
    /// The response goes over a stream: nothing is truncated.
    var isStream: Bool
    /// The network that the asker speaks for, where it says so.
    var subnet: ClientSubnet?

    /// Whether AD may be set in the response (RFC 6840, 5.8).
    var understandsAD: Bool { wantsDNSSEC || flags.isAuthenticData }

    /// What a message turned out to be.
    enum Parsed {
        case query(Query)
        /// A response, or too short to be anything: no answer, so that no loop can start.
        case drop
        /// An error; the question is echoed only where it could be read.
        case error(ResponseCode, Query, echoesQuestion: Bool)
    }

    /// Most octets of a UDP response: fits every path's MTU (DNS Flag Day 2020).
    static let largestDatagram = 1232

    /// Reads a message and its question's name, which ends up folded in `name`.
    static func parse(
        _ message: Span<UInt8>,
        over transport: Transport,
        name: inout FoldedName
    ) -> Parsed {
        guard let header = Header(parsing: message), !header.flags.isResponse else { return .drop }
        var query = Query(
            id: header.id,
            flags: header.flags,
            type: .any,
            class: .in,
            questionSize: 0,
            limit: transport == .udp ? 512 : 65_535,
            hasEDNS: false,
            wantsDNSSEC: false,
            isStream: transport != .udp
        )
        guard header.flags.opcode == .query else {
            return .error(.notImplemented, query, echoesQuestion: false)
        }
        guard header.questionCount == 1 else {
            return .error(.formatError, query, echoesQuestion: false)
        }
        do throws(WireError) {
            let nameEnd = try name.read(from: message, at: Header.size)
            guard nameEnd + 4 <= message.count else { throw WireError(.truncated, at: nameEnd) }
            query.type = RecordType(rawValue: message.uint16(at: nameEnd))
            query.class = RecordClass(rawValue: message.uint16(at: nameEnd + 2))
            query.questionSize = nameEnd + 4 - Header.size
            if let edns = try query.opt(in: message, header: header) {
                query.hasEDNS = true
                query.wantsDNSSEC = edns.wantsDNSSEC
                if let range = edns.payload(of: .clientSubnet, in: message) {
                    // The question could be read; it is the option that means nothing.
                    guard var subnet = try? ClientSubnet(parsing: message, at: range) else {
                        return .error(.formatError, query, echoesQuestion: true)
                    }
                    subnet.scope = 0
                    // Families that are not IP mean nothing here.
                    query.subnet = subnet.family == 1 || subnet.family == 2 ? subnet : nil
                }
                if transport == .udp {
                    query.limit = min(max(Int(edns.udpSize), 512), largestDatagram)
                }
                guard edns.version == 0 else {
                    return .error(.badVersion, query, echoesQuestion: true)
                }
            }
        } catch {
            return .error(.formatError, query, echoesQuestion: false)
        }
        switch query.type.rawValue {
        // Transfers are not served, mail-agent types are long obsolete, and OPT is no question.
        case 251, 252: return .error(.refused, query, echoesQuestion: true)
        case 253, 254: return .error(.notImplemented, query, echoesQuestion: true)
        case 0, 41: return .error(.formatError, query, echoesQuestion: true)
        default: return .query(query)
        }
    }

    /// The query's OPT record, which stands once, in the additional section, at the root.
    private func opt(in message: Span<UInt8>, header: Header) throws(WireError) -> EDNS? {
        var position = Header.size + questionSize
        let others = Int(header.answerCount) + Int(header.authorityCount)
        let count = others + Int(header.additionalCount)
        var edns: EDNS?
        var index = 0
        while index < count {
            let record = try ResourceRecord(parsing: message, at: position)
            position = record.end
            index += 1
            guard record.type == .opt else { continue }
            guard edns == nil, index > others, message[record.owner] == 0 else {
                throw WireError(.badOPT, at: record.owner)
            }
            edns = try EDNS(parsing: message, at: record.fixedFields + 2, end: record.end)
        }
        return edns
    }
}
