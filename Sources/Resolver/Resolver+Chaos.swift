// Class CH: what this server calls itself, where its operator wants that told (RFC 4892).

import DNS

extension Resolver {
    /// Answers a query of class CH whose name is in `target`, or refuses it.
    mutating func answerChaos(
        _ query: Query,
        _ question: Span<UInt8>,
        into reply: inout MutableSpan<UInt8>
    ) -> Disposition {
        let text = chaosText()
        guard !text.isEmpty else {
            counts.refused &+= 1
            return refuse(query, question, .refused, .notSupported, into: &reply)
        }
        let limit = query.limit - Response.reserve(for: query)
        var writer = MessageWriter(&reply, count: Header.size, limit: limit)
        guard (try? writer.append(question)) != nil else { return .drop }
        var response = Response()
        explanation.clear()
        if query.type == .txt || query.type == .any {
            do throws(WireError) {
                try writer.append(0xC000 | UInt16(Header.size))
                try writer.append(RecordType.txt.rawValue)
                try writer.append(RecordClass.chaos.rawValue)
                try writer.append(0 as UInt32)
                try writer.append(UInt16(truncatingIfNeeded: text.count + 1))
                try writer.append(UInt8(truncatingIfNeeded: text.count))
                try writer.append(text.span)
                response.answerCount = 1
            } catch {
                writer.rewind(to: Header.size + question.count)
                response.isTruncated = true
            }
        }
        return .respond(response.finish(&writer, for: query, explanation: explanation.text))
    }

    private func chaosText() -> [UInt8] {
        guard target.labelCount == 2 else { return [] }
        let isBind = target.hasLabel("bind", at: 1)
        guard isBind || target.hasLabel("server", at: 1) else { return [] }
        if target.hasLabel("version", at: 0) { return policy.settings.version }
        if target.hasLabel(isBind ? "hostname" : "id", at: 0) { return policy.settings.identity }
        return []
    }
}
