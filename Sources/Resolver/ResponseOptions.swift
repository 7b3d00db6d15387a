import DNS

/// What a response's OPT record says. Nothing of it outlives the hop but the subnet's scope and the
/// reason of a failure.
struct ResponseOptions {
    /// The response code, with its upper eight bits.
    var code: ResponseCode
    var hasEDNS = false
    /// Where the cookie stands, both halves; empty: there is none.
    var cookie = 0..<0
    /// The subnet that the answer is for.
    var subnet: ClientSubnet?
    /// The first Extended DNS Error.
    var error: ExtendedError?

    /// Reads the OPT record of a response, if there is one that can be read.
    init(parsing message: Span<UInt8>, header: Header) {
        code = header.flags.responseCode
        guard let edns = ResponseOptions.opt(in: message, header: header) else { return }
        hasEDNS = true
        code = ResponseCode(
            rawValue: UInt16(edns.extendedResponseCode) << 4 | code.rawValue & 0x0F
        )
        guard edns.optionsStart < edns.optionsEnd else { return }
        if let range = edns.payload(of: .cookie, in: message) { cookie = range }
        if let range = edns.payload(of: .clientSubnet, in: message) {
            subnet = try? ClientSubnet(parsing: message, at: range)
        }
        if let range = edns.payload(of: .extendedError, in: message), range.count >= 2 {
            error = ExtendedError(rawValue: message.uint16(at: range.lowerBound))
        }
    }

    private static func opt(in message: Span<UInt8>, header: Header) -> EDNS? {
        guard header.additionalCount > 0 else { return nil }
        do throws(WireError) {
            var position = Header.size
            for _ in 0..<Int(header.questionCount) {
                position = try ResourceRecord.skipName(in: message, at: position) + 4
            }
            let others = Int(header.answerCount) + Int(header.authorityCount)
            for index in 0..<(others + Int(header.additionalCount)) {
                let record = try ResourceRecord(parsing: message, at: position)
                position = record.end
                if index >= others, record.type == .opt {
                    return try EDNS(
                        parsing: message,
                        at: record.fixedFields + 2,
                        end: record.end
                    )
                }
            }
        } catch {}
        return nil
    }
}
