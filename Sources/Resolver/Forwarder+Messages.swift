// What is sent upstream, and which attempt a message that came is the answer to.

import DNS

extension Forwarder {
    // MARK: Sending

    /// The next attempt in the outbox that is still wanted, written to `message`.
    mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? {
        while sent < outbox.count {
            let number = outbox[sent]
            sent += 1
            let attempt = exchanges[number.exchange].attempts[number.index]
            guard attempt.isPending else { continue }
            let count = write(attempt, of: number.exchange, to: &message)
            return UpstreamSend(path: attempt.path, count: count)
        }
        outbox.removeAll(keepingCapacity: true)
        sent = 0
        for upstream in batchSockets.indices { batchSockets[upstream] = -1 }
        return nil
    }

    private func write(
        _ attempt: Exchange.Attempt,
        of exchange: Int,
        to message: inout MutableSpan<UInt8>
    ) -> Int {
        let key = exchanges[exchange].key
        var flags = Flags(rawValue: 0)
        flags.wantsRecursion = true
        flags.isAuthenticData = true
        flags.isCheckingDisabled = key.variant.isCheckingDisabled
        let header = Header(
            id: attempt.id,
            flags: flags,
            questionCount: 1,
            additionalCount: attempt.hasEDNS ? 1 : 0
        )
        header.write(to: &message)
        let name = exchanges.name(of: exchange)
        message.copy(name, at: Header.size)
        var end = Header.size + name.count
        message.store(key.type.rawValue, at: end)
        message.store(key.class.rawValue, at: end + 2)
        end += 4
        guard attempt.hasEDNS else { return end }
        message[end] = 0
        message.store(RecordType.opt.rawValue, at: end + 1)
        message.store(UInt16(Query.largestDatagram), at: end + 3)
        message.store(key.variant.wantsDNSSEC ? 0x8000 : 0 as UInt32, at: end + 5)
        message.store(0 as UInt16, at: end + 9)
        return end + EDNS.emptySize
    }

    // MARK: Receiving

    /// The attempt that a message answers: path, id and the whole question agree. Else nil.
    mutating func match(_ message: Span<UInt8>, over path: UpstreamPath) -> AttemptID? {
        guard let header = Header(parsing: message), header.flags.isResponse,
            header.flags.opcode == .query,
            let match = pending.find(
                upstream: path.upstream,
                socket: path.socket,
                id: header.id,
                in: exchanges
            )
        else { return mismatch() }
        // Servers that cannot read a query at all may leave its question out (RFC 1035, 4.1.1).
        if header.questionCount == 0, header.flags.responseCode == .formatError { return match }
        let key = exchanges[match.exchange].key
        guard header.questionCount == 1,
            let end = try? scratch.read(from: message, at: Header.size),
            end + 4 <= message.count, message.uint16(at: end) == key.type.rawValue,
            message.uint16(at: end + 2) == key.class.rawValue,
            scratch.octets.hasSameOctets(as: exchanges.name(of: match.exchange))
        else { return mismatch() }
        return match
    }

    private mutating func mismatch() -> AttemptID? {
        mismatches &+= 1
        return nil
    }
}
