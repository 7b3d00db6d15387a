import DNS

/// The state of a response while its stages write it: what the header and OPT will say.
///
/// The sections stand in the writer; this counts them and finishes them in one place.
struct Response: BitwiseCopyable {
    var code = ResponseCode.noError
    var isAuthoritative = false
    var isAuthenticData = false
    var isTruncated = false
    var answerCount: UInt16 = 0
    var authorityCount: UInt16 = 0
    var additionalCount: UInt16 = 0
    /// The layer of the policy zone that the answer is of, whose SOA goes along; -1: none.
    var policyLayer = -1
    /// For how many bits of the asker's network the answer is meant (RFC 7871, 7.2.1).
    var scope: UInt8 = 0
    /// Why the answer is what it is, for people who ask with EDNS.
    var error: ExtendedError?

    /// How many octets must stay free for what `finish` appends.
    static func reserve(for query: Query) -> Int {
        query.hasEDNS ? EDNS.emptySize + (query.subnet?.optionSize ?? 0) : 0
    }

    /// Appends the OPT record with its Extended DNS Error (as far as there is room) and writes the
    /// header. `explanation` is the error's text.
    mutating func finish(
        _ writer: inout MessageWriter,
        for query: Query,
        echoesQuestion: Bool = true,
        explanation: Span<UInt8>
    ) -> Int {
        if query.hasEDNS {
            writer.setLimit(query.limit)
            appendOPT(to: &writer, explanation: explanation, for: query)
        }
        // The copied bits: opcode, RD and CD; the rest is ours to say.
        var flags = Flags(rawValue: query.flags.rawValue & 0x7910)
        flags.isResponse = true
        flags.offersRecursion = true
        flags.isAuthoritative = isAuthoritative
        flags.isTruncated = isTruncated
        flags.isAuthenticData = isAuthenticData && query.understandsAD
        flags.responseCode = code
        writer.overwrite(
            Header(
                id: query.id,
                flags: flags,
                questionCount: echoesQuestion ? 1 : 0,
                answerCount: answerCount,
                authorityCount: authorityCount,
                additionalCount: additionalCount
            )
        )
        return writer.count
    }

    private mutating func appendOPT(
        to writer: inout MessageWriter,
        explanation: Span<UInt8>,
        for query: Query
    ) {
        let mark = writer.count
        do throws(WireError) {
            try writer.appendOPT(
                udpSize: UInt16(Query.largestDatagram),
                code: code,
                wantsDNSSEC: query.wantsDNSSEC
            )
            if let subnet = query.subnet {
                try subnet.append(to: &writer, scope: scope)
                writer.overwrite(
                    UInt16(truncatingIfNeeded: subnet.optionSize),
                    at: mark + EDNS.emptySize - 2
                )
            }
            additionalCount &+= 1
        } catch {
            writer.rewind(to: mark)
            return
        }
        guard let error else { return }
        let options = writer.count
        do throws(WireError) {
            try writer.appendOption(.extendedError, error.rawValue, explanation)
            writer.overwrite(
                UInt16(truncatingIfNeeded: writer.count - mark - EDNS.emptySize),
                at: mark + EDNS.emptySize - 2
            )
        } catch {
            writer.rewind(to: options)
        }
    }
}

/// The text of an Extended DNS Error while it is put together; what does not fit is left out.
struct Explanation: ~Copyable {
    private var octets = InlineArray<128, UInt8>(repeating: 0)
    private var count = 0

    var text: Span<UInt8> {
        @_lifetime(borrow self)
        get { octets.span.extracting(0..<count) }
    }

    mutating func clear() { count = 0 }

    mutating func append(_ octet: UInt8) {
        guard count < octets.count else { return }
        octets[count] = octet
        count &+= 1
    }

    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { text in
            // Safe: the index stays below the buffer's own count.
            for index in 0..<text.count { append(unsafe text[index]) }
        }
    }

    mutating func append(_ text: Span<UInt8>) {
        let length = min(text.count, octets.count &- count)
        var span = octets.mutableSpan
        span.copy(text.extracting(first: length), at: count)
        count &+= length
    }

    mutating func append(_ store: borrowing OctetStore, _ range: Range<Int>) {
        append(store.span.extracting(range))
    }

    mutating func append(_ text: String) {
        for octet in text.utf8 { append(octet) }
    }

    mutating func append(decimal value: UInt64) {
        // From the last digit to the first; a number of 64 bits has twenty at most.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = 20
        var rest = value
        repeat {
            first &-= 1
            digits[first] = UInt8(truncatingIfNeeded: rest % 10) + 0x30
            rest /= 10
        } while rest > 0
        append(digits.span.extracting(first..<20))
    }
}
