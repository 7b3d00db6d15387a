// A whole message as text, in the layout that dig(1) made everybody's: for people and golden files.

/// Text of whole messages.
public enum MessageText {
    /// What a message says, section by section; what cannot be read is said so at its place.
    public static func text(of message: Span<UInt8>) -> String {
        guard let header = Header(parsing: message) else { return ";; no message\n" }
        var lines: [String] = []
        var position = Header.size
        var questions: [String] = []
        var sections: [[String]] = [[], [], []]
        var opt: [String] = []
        var trouble: WireError?
        do throws(WireError) {
            for _ in 0..<header.questionCount {
                let (name, end) = try name(in: message, at: position)
                guard end + 4 <= message.count else { throw WireError(.truncated, at: end) }
                let type = RecordType(rawValue: message.uint16(at: end))
                let recordClass = RecordClass(rawValue: message.uint16(at: end + 2))
                questions.append(";\(name)\t\t\(recordClass)\t\(type)")
                position = end + 4
            }
            let counts = [header.answerCount, header.authorityCount, header.additionalCount]
            for section in 0..<3 {
                for _ in 0..<counts[section] {
                    let record = try ResourceRecord(parsing: message, at: position)
                    position = record.end
                    if record.type == .opt {
                        opt = self.opt(record, in: message)
                    } else {
                        sections[section].append(try text(of: record, in: message))
                    }
                }
            }
        } catch {
            trouble = error
        }
        lines.append(
            ";; ->>HEADER<<- opcode: \(opcode(header.flags.opcode)), status: "
                + "\(header.flags.responseCode), id: \(header.id)"
        )
        lines.append(
            ";; flags:\(flags(header.flags)); QUERY: \(header.questionCount), "
                + "ANSWER: \(header.answerCount), AUTHORITY: \(header.authorityCount), "
                + "ADDITIONAL: \(header.additionalCount)"
        )
        lines.append("")
        if !opt.isEmpty { lines += [";; OPT PSEUDOSECTION:"] + opt }
        if !questions.isEmpty { lines += [";; QUESTION SECTION:"] + questions + [""] }
        for (title, records) in zip(["ANSWER", "AUTHORITY", "ADDITIONAL"], sections)
        where !records.isEmpty {
            lines += [";; \(title) SECTION:"] + records + [""]
        }
        if let trouble {
            lines.append(";; the message cannot be read beyond octet \(trouble.offset)")
        }
        lines.append(";; MSG SIZE: \(message.count)")
        return lines.joined(separator: "\n") + "\n"
    }

    /// One record of a message as a line: owner, TTL, class, type and data, tabs between them.
    public static func text(
        of record: ResourceRecord,
        in message: Span<UInt8>
    ) throws(WireError) -> String {
        let (owner, _) = try name(in: message, at: record.owner)
        // Each name of the data may grow from a pointer to 255 octets.
        var store = OctetStore(count: 66_000)
        var out = store.mutableSpan
        let end = try RData.decompress(
            record.type,
            in: message,
            range: record.rdata..<record.end,
            into: &out,
            at: 0
        )
        let data = RData.text(out.span.extracting(0..<end), type: record.type)
        return "\(owner)\t\(record.ttl)\t\(record.class)\t\(record.type)\t\(data)"
    }

    private static func name(
        in message: Span<UInt8>,
        at position: Int
    ) throws(WireError) -> (String, end: Int) {
        var store = OctetStore(count: 256)
        var out = store.mutableSpan
        var end = 0
        let behind = try Name.decompress(
            in: message,
            at: position,
            limit: message.count,
            into: &out,
            end: &end
        )
        let name = try Name(parsing: out.span.extracting(0..<end))
        return (name.description, behind)
    }

    // MARK: OPT

    private static func opt(_ record: ResourceRecord, in message: Span<UInt8>) -> [String] {
        let offset = record.fixedFields + 2
        guard let edns = try? EDNS(parsing: message, at: offset, end: record.end) else {
            return ["; EDNS that cannot be read"]
        }
        var lines = [
            "; EDNS: version: \(edns.version), flags:\(edns.wantsDNSSEC ? " do" : ""); "
                + "udp: \(edns.udpSize)"
        ]
        if edns.extendedResponseCode > 0 {
            lines.append("; extended response code: \(edns.extendedResponseCode)")
        }
        var position = edns.optionsStart
        while position < edns.optionsEnd {
            let code = OptionCode(rawValue: message.uint16(at: position))
            let start = position + 4
            position = start + Int(message.uint16(at: position + 2))
            let payload = message.extracting(start..<position)
            if code == .extendedError, payload.count >= 2 {
                lines.append(extendedError(payload))
            } else {
                lines.append("; OPT=\(code.rawValue): \(payload.count) octets")
            }
        }
        return lines
    }

    private static func extendedError(_ payload: Span<UInt8>) -> String {
        let error = ExtendedError(rawValue: payload.uint16(at: 0))
        var text: [UInt8] = []
        for index in 2..<payload.count {
            // Text from elsewhere must not steer a terminal.
            text.append(payload[index] < 0x20 || payload[index] == 0x7F ? 0x3F : payload[index])
        }
        let line = "; EDE: \(error.rawValue)" + (names[error].map { " (\($0))" } ?? "")
        return text.isEmpty ? line : line + ": (\(String(decoding: text, as: UTF8.self)))"
    }

    private static let names: [ExtendedError: String] = [
        .other: "Other", .staleAnswer: "Stale Answer", .forgedAnswer: "Forged Answer",
        .cachedError: "Cached Error", .prohibited: "Prohibited",
        .notAuthoritative: "Not Authoritative", .notSupported: "Not Supported",
        .noReachableAuthority: "No Reachable Authority", .networkError: "Network Error",
    ]

    // MARK: Header

    private static func opcode(_ opcode: Opcode) -> String {
        switch opcode {
        case .query: "QUERY"
        case .notify: "NOTIFY"
        case .update: "UPDATE"
        default: "OPCODE\(opcode.rawValue)"
        }
    }

    private static func flags(_ flags: Flags) -> String {
        var text = ""
        if flags.isResponse { text += " qr" }
        if flags.isAuthoritative { text += " aa" }
        if flags.isTruncated { text += " tc" }
        if flags.wantsRecursion { text += " rd" }
        if flags.offersRecursion { text += " ra" }
        if flags.isAuthenticData { text += " ad" }
        if flags.isCheckingDisabled { text += " cd" }
        return text
    }
}

extension ResponseCode: CustomStringConvertible {
    /// `NOERROR`, `NXDOMAIN`, `RCODE9`.
    public var description: String {
        switch self {
        case .noError: "NOERROR"
        case .formatError: "FORMERR"
        case .serverFailure: "SERVFAIL"
        case .nxDomain: "NXDOMAIN"
        case .notImplemented: "NOTIMP"
        case .refused: "REFUSED"
        case .yxDomain: "YXDOMAIN"
        default: "RCODE\(rawValue)"
        }
    }
}
