import Configuration
import DNS
import Platform
import Resolver

/// Queries as lines of text, put together octet by octet: there can be many.
struct QueryLines {
    private let format: Configuration.Log.Format
    /// What stands before each field of a line, and behind the last.
    private let labels: Labels
    /// The spelling of each type that has been met.
    private var types: [UInt16: [UInt8]] = [:]
    private var second: Int64 = -1
    private var secondText: [UInt8] = []
    /// What the wall clock is ahead of the monotonic one, in nanoseconds.
    private let offset: Int64

    private struct Labels {
        let time, client, transport, name, type, source, code, duration, end: [UInt8]

        init(_ format: Configuration.Log.Format) {
            func label(_ key: String) -> [UInt8] {
                switch format {
                case .json: Array("\",\"\(key)\":\"".utf8)
                case .text, .logfmt: Array(" \(key)=".utf8)
                }
            }
            client = label("client")
            transport = label("protocol")
            name = label("name")
            type = label("type")
            source = label("source")
            code = label("code")
            switch format {
            case .json:
                time = Array("{\"at\":\"".utf8)
                duration = Array("\",\"microseconds\":".utf8)
                end = Array("}\n".utf8)
            case .text, .logfmt:
                time = Array("query at=".utf8)
                duration = label("microseconds")
                end = Array("\n".utf8)
            }
        }
    }

    init(format: Configuration.Log.Format) {
        self.format = format
        labels = Labels(format)
        offset = Clock.millisecondsSince1970 * 1_000_000 - Int64(clamping: Clock.monotonic)
    }

    /// How many octets of lines are made at once: they stay in the processor's cache, and their
    /// memory with the allocator.
    static let portion = 1 << 15

    /// Appends lines of a batch from a position on, a portion at most; `isChosen` is asked about
    /// each, and those that are chosen are appended to `chosen` too. False: that was the last.
    mutating func append(
        _ batch: borrowing QueryBatch,
        from position: inout QueryBatch.Position,
        to lines: inout [UInt8],
        chosen: inout [UInt8],
        where isChosen: () -> Bool
    ) -> Bool {
        // 255 octets of a name, each written as five at most, and the rest.
        var line = OctetStore(count: 2048)
        while let query = batch.next(&position) {
            let start = lines.count
            append(query, name: batch.name(of: query), composedIn: &line, to: &lines)
            if isChosen() { chosen += lines[start...] }
            if lines.count >= QueryLines.portion { return true }
        }
        return false
    }

    /// Appends the line of a query, with its newline.
    private mutating func append(
        _ query: LoggedQuery,
        name: Span<UInt8>,
        composedIn line: inout OctetStore,
        to lines: inout [UInt8]
    ) {
        let milliseconds = (Int64(clamping: query.arrivedAt.nanoseconds) + offset) / 1_000_000
        spell(second: milliseconds / 1000)
        let type = spelling(of: query.type)
        let transport = QueryLines.transports[Int(query.transport.rawValue)]
        let source = QueryLines.sources[Int(query.source.rawValue)]
        var writer = OctetWriter(line.mutableSpan)
        writer.append(labels.time.span)
        writer.append(secondText.span)
        writer.append(decimal: UInt64(truncatingIfNeeded: milliseconds % 1000), digits: 3)
        writer.append(UInt8(ascii: "Z"))
        writer.append(labels.client.span)
        writer.append(query.client)
        writer.append(labels.transport.span)
        writer.append(transport.span)
        writer.append(labels.name.span)
        writer.append(name: name, isJSON: format == .json)
        writer.append(labels.type.span)
        writer.append(type.span)
        writer.append(labels.source.span)
        writer.append(source.span)
        writer.append(labels.code.span)
        if let code = query.code, Int(code.rawValue) < QueryLines.codes.count {
            let text = QueryLines.codes[Int(code.rawValue)]
            writer.append(text.span)
        } else if let code = query.code {
            writer.append(text: "RCODE")
            writer.append(decimal: UInt64(code.rawValue))
        } else {
            writer.append(text: "dropped")
        }
        writer.append(labels.duration.span)
        writer.append(decimal: UInt64(query.microseconds))
        writer.append(labels.end.span)
        lines.append(writer.written)
    }

    private static let transports: [[UInt8]] = [Array("udp".utf8), Array("tcp".utf8)]
    private static let sources: [[UInt8]] = AnswerSource.allCases.map { Array("\($0)".utf8) }
    private static let codes: [[UInt8]] = [
        "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN",
    ].map { Array($0.utf8) }

    private mutating func spelling(of type: RecordType) -> [UInt8] {
        if let text = types[type.rawValue] { return text }
        let text = Array(type.description.utf8)
        // As many as there are mnemonics; others come from those who try all.
        if types.count < 128 { types[type.rawValue] = text }
        return text
    }

    /// RFC 3339 without the fraction; made once a second.
    private mutating func spell(second: Int64) {
        guard second != self.second else { return }
        self.second = second
        let text = Timestamp(milliseconds: second * 1000).description
        secondText = Array(text.utf8.prefix(20))
    }
}

extension OctetWriter {
    @_lifetime(self: copy self)
    fileprivate mutating func append(text: StaticString) {
        // Safe: the pointer is to `utf8CodeUnitCount` octets that live for ever.
        for index in 0..<text.utf8CodeUnitCount { append(unsafe text.utf8Start[index]) }
    }

    /// A number in decimal, with zeros before it up to so many digits.
    @_lifetime(self: copy self)
    fileprivate mutating func append(decimal number: UInt64, digits: Int = 1) {
        // From the last digit to the first; a number of 64 bits has twenty at most.
        var text = InlineArray<20, UInt8>(repeating: 0x30)
        var first = 20
        var rest = number
        while rest > 0 || 20 - first < digits {
            first -= 1
            text[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        append(text.span.extracting(first..<20))
    }

    @_lifetime(self: copy self)
    fileprivate mutating func append(_ address: IPAddress) {
        guard address.isIPv4 else {
            for octet in address.description.utf8 { append(octet) }
            return
        }
        for octet in 0..<4 as Range<UInt64> {
            if octet > 0 { append(UInt8(ascii: ".")) }
            append(decimal: address.low >> (24 - 8 * octet) & 0xFF)
        }
    }

    /// A name in presentation format. A client chose it: what is not plain is escaped.
    @_lifetime(self: copy self)
    fileprivate mutating func append(name: Span<UInt8>, isJSON: Bool) {
        var position = 0
        if name.count == 1 { append(UInt8(ascii: ".")) }
        while position < name.count, name[position] != 0 {
            let end = min(name.count, position + 1 + Int(name[position]))
            for index in (position + 1)..<end {
                let octet = name[index]
                if octet &- 0x61 < 26 || octet &- 0x30 < 10 || octet &- 0x41 < 26
                    || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
                    || octet == UInt8(ascii: "*")
                {
                    append(octet)
                } else {
                    append(UInt8(ascii: "\\"))
                    // JSON has a backslash of its own.
                    if isJSON { append(UInt8(ascii: "\\")) }
                    append(decimal: UInt64(octet), digits: 3)
                }
            }
            append(UInt8(ascii: "."))
            position = end
        }
    }
}
