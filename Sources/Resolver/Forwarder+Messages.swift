// What is sent upstream, and which attempt a message that came is the answer to.

import DNS

extension Forwarder {
    // MARK: Sending

    /// The next attempt in the outbox that is still wanted, written to `message`.
    mutating func nextSend(into message: inout MutableSpan<UInt8>) -> UpstreamSend? {
        while sent < outbox.count {
            let number = outbox[sent]
            sent += 1
            let attempt = exchanges[attempt: number]
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
        let hasEDNS = attempt.level < .none
        let header = Header(
            id: attempt.id,
            flags: flags,
            questionCount: 1,
            additionalCount: hasEDNS ? 1 : 0
        )
        header.write(to: &message)
        let name = exchanges.name(of: exchange)
        var index = 0
        // A whole word at a time: what is behind the name is overwritten by what follows it.
        while index < name.count {
            let word = name.paddedWord(at: index)
            message.store(word: attempt.spelled(word, at: index), at: Header.size + index)
            index &+= 8
        }
        var end = Header.size + name.count
        message.store(key.type.rawValue, at: end)
        message.store(key.class.rawValue, at: end + 2)
        end += 4
        guard hasEDNS else { return end }
        message[end] = 0
        message.store(RecordType.opt.rawValue, at: end + 1)
        message.store(UInt16(Query.largestDatagram), at: end + 3)
        message.store(key.variant.wantsDNSSEC ? 0x8000 : 0 as UInt32, at: end + 5)
        let options = end + EDNS.emptySize
        end = options
        if attempt.hasCookie { writeCookie(of: Int(attempt.upstream), to: &message, at: &end) }
        if let subnet = exchanges[exchange].subnet { write(subnet, to: &message, at: &end) }
        if isEncrypted[Int(attempt.upstream)] { pad(&message, to: 128, at: &end) }
        message.store(UInt16(truncatingIfNeeded: end - options), at: options - 2)
        return end
    }

    /// Lets the message's length say less about its name (RFC 8467, 4.1).
    private func pad(_ message: inout MutableSpan<UInt8>, to block: Int, at end: inout Int) {
        let padding = (block - (end + 4) % block) % block
        message.store(OptionCode.padding.rawValue, at: end)
        message.store(UInt16(truncatingIfNeeded: padding), at: end + 2)
        for index in 0..<padding { message[end + 4 + index] = 0 }
        end += 4 + padding
    }

    private func writeCookie(
        of upstream: Int,
        to message: inout MutableSpan<UInt8>,
        at end: inout Int
    ) {
        let size = dialects[upstream].serverCookieSize
        message.store(OptionCode.cookie.rawValue, at: end)
        message.store(UInt16(truncatingIfNeeded: 8 + size), at: end + 2)
        message.store(word: dialects[upstream].clientCookie, at: end + 4)
        for index in 0..<size {
            message[end + 12 + index] = dialects[upstream].serverCookie[index]
        }
        end += 12 + size
    }

    private func write(
        _ subnet: ClientSubnet,
        to message: inout MutableSpan<UInt8>,
        at end: inout Int
    ) {
        message.store(OptionCode.clientSubnet.rawValue, at: end)
        message.store(UInt16(truncatingIfNeeded: 4 + subnet.addressSize), at: end + 2)
        message.store(subnet.family, at: end + 4)
        message[end + 6] = subnet.prefixLength
        message[end + 7] = 0
        for index in 0..<subnet.addressSize { message[end + 8 + index] = subnet.octet(index) }
        end += subnet.optionSize
    }

    // MARK: Receiving

    /// A response that answers an attempt.
    struct Match {
        let attempt: AttemptID
        /// Whether it repeats the question, as it must but where it could not read it.
        let hasQuestion: Bool
        /// Whether it repeats the question in the case in which it was sent.
        let isExact: Bool
    }

    /// The attempt that a message answers: path, id and the whole question agree. Else nil.
    mutating func match(
        _ message: Span<UInt8>,
        _ header: Header,
        over path: UpstreamPath
    ) -> Match? {
        guard header.flags.isResponse, header.flags.opcode == .query,
            upstreams.indices.contains(path.upstream),
            let found = pending.find(
                upstream: path.upstream,
                socket: path.socket,
                id: header.id,
                in: exchanges
            )
        else { return mismatch() }
        // Servers that cannot read a query at all may leave its question out (RFC 1035, 4.1.1).
        if header.questionCount == 0, header.flags.responseCode == .formatError {
            return Match(attempt: found, hasQuestion: false, isExact: false)
        }
        let key = exchanges[found.exchange].key
        let end = Header.size + exchanges[found.exchange].nameSize
        guard header.questionCount == 1, end + 4 <= message.count,
            message.uint16(at: end) == key.type.rawValue,
            message.uint16(at: end + 2) == key.class.rawValue
        else { return mismatch() }
        let attempt = exchanges[attempt: found]
        let isExact = isSpelled(message, at: Header.size, as: attempt, of: found.exchange)
        guard isExact || isSpelled(message, at: Header.size, inAnyCaseAs: found.exchange) else {
            return mismatch()
        }
        return Match(attempt: found, hasQuestion: true, isExact: isExact)
    }

    /// Whether the name at `offset` of a message is an exchange's, whatever its letters' case.
    private mutating func isSpelled(
        _ message: Span<UInt8>,
        at offset: Int,
        inAnyCaseAs exchange: Int
    ) -> Bool {
        (try? scratch.read(from: message, at: offset)) != nil
            && scratch.octets.hasSameOctets(as: exchanges.name(of: exchange))
    }

    private mutating func mismatch() -> Match? {
        counts.mismatches &+= 1
        return nil
    }
}
