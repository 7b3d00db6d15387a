// Names from a master file's tokens, straight into octets and without an allocation.

extension Name {
    /// Appends the wire format of the name that `token` spells; `origin` follows where no dot ends it.
    ///
    /// `@` alone is the origin. Labels outside ASCII are taken as U-labels and converted to A-labels
    /// (RFC 5890, 2.3.2.1); an octet that is meant as such is written `\DDD`. The octets in front of
    /// the name stay. Throws what is wrong with the token. Complexity: O(octets).
    @_lifetime(out: copy out)
    public static func scan(
        _ token: Token,
        of text: borrowing TextScanner,
        origin: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let octets = text.octets(of: token)
        if octets.count == 1 {
            if octets[0] == UInt8(ascii: "@") && !token.isQuoted {
                out.append(origin)
                return
            }
            if octets[0] == UInt8(ascii: ".") {
                out.append(UInt8(0))
                return
            }
        }
        guard octets.count > 0 else { throw PresentationError(.emptyLabel, token) }
        let start = out.count
        do {
            if token.hasHighOctet {
                try scanInternational(octets, into: &out)
            } else if token.hasEscape {
                try scanEscaped(octets, into: &out)
            } else {
                try scanPlain(octets, into: &out)
            }
        } catch {
            out.truncate(to: start)
            throw PresentationError(
                error.kind,
                at: token.start + error.offset,
                length: error.length
            )
        }
        if octets[octets.count - 1] == UInt8(ascii: "."),
            !token.hasEscape || endsWithDot(octets)
        {
            out.append(UInt8(0))
        } else {
            out.append(origin)
        }
        guard out.count - start <= 255 else {
            out.truncate(to: start)
            throw PresentationError(.nameTooLong, token)
        }
    }

    /// Whether the dot at the end is not escaped: an even number of backslashes is in front of it.
    private static func endsWithDot(_ octets: Span<UInt8>) -> Bool {
        var position = octets.count - 1
        while position > 0 && octets[position - 1] == UInt8(ascii: "\\") { position -= 1 }
        return (octets.count - 1 - position).isMultiple(of: 2)
    }

    /// Labels without escapes: a copy one octet further on, length octets in place of the dots.
    @_lifetime(out: copy out)
    private static func scanPlain(
        _ octets: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        guard octets.count <= 255 else {
            throw PresentationError(.nameTooLong, at: 0, length: octets.count)
        }
        let base = out.count
        guard out.hasRoom(for: octets.count + 1) else { return }
        out.octets.copy(octets, at: base + 1)
        // `label` is the offset of the first octet of the label that is open.
        var label = 0
        var position = 0
        while position < octets.count {
            var dots: UInt64
            if position &+ 8 <= octets.count {
                dots = octets.littleEndianWord(at: position).octets(equalTo: UInt8(ascii: "."))
            } else {
                dots = 0
                var index = position
                while index < octets.count {
                    if octets[index] == UInt8(ascii: ".") {
                        dots |= 0x80 << UInt64(8 &* (index &- position))
                    }
                    index &+= 1
                }
            }
            while dots != 0 {
                let dot = position &+ dots.trailingZeroBitCount >> 3
                try out.closeLabel(from: label, to: dot, base: base)
                label = dot &+ 1
                dots &= dots &- 1
            }
            position &+= 8
        }
        if label < octets.count {
            try out.closeLabel(from: label, to: octets.count, base: base)
            out.advance(by: octets.count + 1)
        } else {
            out.advance(by: octets.count)
        }
    }

    @_lifetime(out: copy out)
    private static func scanEscaped(
        _ octets: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let base = out.count
        var label = 0
        var position = 0
        var length = out.reserveOctet()
        while position < octets.count {
            if octets[position] == UInt8(ascii: ".") {
                let size = out.count - length - 1
                try checkLabel(size, from: label, to: position)
                out.setOctet(at: length, to: UInt8(size))
                position += 1
                label = position
                guard position < octets.count else { return }
                length = out.reserveOctet()
                continue
            }
            let start = position
            guard let octet = unescape(octets, &position) else {
                throw PresentationError(.badEscape, at: start, length: position - start)
            }
            out.append(octet)
            guard out.count - base <= 255 else {
                throw PresentationError(.nameTooLong, at: 0, length: octets.count)
            }
        }
        let size = out.count - length - 1
        try checkLabel(size, from: label, to: position)
        out.setOctet(at: length, to: UInt8(size))
    }

    static func checkLabel(_ size: Int, from: Int, to: Int) throws(PresentationError) {
        guard size > 0 else { throw PresentationError(.emptyLabel, at: from, length: 1) }
        guard size <= 63 else {
            throw PresentationError(.labelTooLong, at: from, length: to - from)
        }
    }
}

extension OctetWriter {
    /// Writes the length octet of a label that was copied with the dots in place.
    @_lifetime(self: copy self)
    fileprivate mutating func closeLabel(
        from start: Int,
        to end: Int,
        base: Int
    ) throws(PresentationError) {
        try Name.checkLabel(end &- start, from: start, to: end)
        octets[base &+ start] = UInt8(truncatingIfNeeded: end &- start)
    }
}

/// The octet at `position`, an escape resolved (RFC 1035, 5.1), and goes behind it; nil where the
/// escape is not one.
func unescape(_ text: Span<UInt8>, _ position: inout Int) -> UInt8? {
    let octet = text[position]
    position += 1
    guard octet == UInt8(ascii: "\\") else { return octet }
    guard position < text.count else { return nil }
    let first = text[position]
    guard first &- 0x30 < 10 else {
        position += 1
        return first
    }
    guard position + 3 <= text.count,
        let value = text.extracting(position..<(position + 3)).decimal(upTo: 255)
    else { return nil }
    position += 3
    return UInt8(value)
}
