import Configuration
import DNS
import Platform
import Resolver

/// Queries as lines of text, put together octet by octet: there can be many.
struct QueryLines {
    let format: Configuration.Log.Format
    /// The spelling of each type that has been met.
    private var types: [UInt16: [UInt8]] = [:]
    private var second: Int64 = -1
    private var secondText: [UInt8] = []
    /// What the wall clock is ahead of the monotonic one, in nanoseconds.
    private let offset: Int64

    init(format: Configuration.Log.Format) {
        self.format = format
        offset = Clock.millisecondsSince1970 * 1_000_000 - Int64(clamping: Clock.monotonic)
    }

    /// Appends the line of a query, with its newline.
    mutating func append(_ query: LoggedQuery, name: Span<UInt8>, to lines: inout [UInt8]) {
        switch format {
        case .json:
            lines += "{\"at\":\"".utf8
            appendTime(query.arrivedAt, to: &lines)
            lines += "\",\"client\":\"".utf8
            append(query.client, to: &lines)
            lines += "\",\"protocol\":\"".utf8
            lines += QueryLines.transports[Int(query.transport.rawValue)]
            lines += "\",\"name\":\"".utf8
            append(name, isJSON: true, to: &lines)
            lines += "\",\"type\":\"".utf8
            appendType(query.type, to: &lines)
            lines += "\",\"source\":\"".utf8
            lines += QueryLines.sources[Int(query.source.rawValue)]
            lines += "\",\"code\":\"".utf8
            appendCode(query.code, to: &lines)
            lines += "\",\"microseconds\":".utf8
            append(UInt64(query.microseconds), to: &lines)
            lines += "}\n".utf8
        case .text, .logfmt:
            lines += "query at=".utf8
            appendTime(query.arrivedAt, to: &lines)
            lines += " client=".utf8
            append(query.client, to: &lines)
            lines += " protocol=".utf8
            lines += QueryLines.transports[Int(query.transport.rawValue)]
            lines += " name=".utf8
            append(name, isJSON: false, to: &lines)
            lines += " type=".utf8
            appendType(query.type, to: &lines)
            lines += " source=".utf8
            lines += QueryLines.sources[Int(query.source.rawValue)]
            lines += " code=".utf8
            appendCode(query.code, to: &lines)
            lines += " microseconds=".utf8
            append(UInt64(query.microseconds), to: &lines)
            lines.append(UInt8(ascii: "\n"))
        }
    }

    private static let transports: [[UInt8]] = [Array("udp".utf8), Array("tcp".utf8)]
    private static let sources: [[UInt8]] = AnswerSource.allCases.map { Array("\($0)".utf8) }
    private static let codes: [[UInt8]] = [
        "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN",
    ].map { Array($0.utf8) }

    private mutating func appendType(_ type: RecordType, to lines: inout [UInt8]) {
        if let text = types[type.rawValue] {
            lines += text
            return
        }
        let text = Array(type.description.utf8)
        // As many as there are mnemonics; others come from those who try all.
        if types.count < 128 { types[type.rawValue] = text }
        lines += text
    }

    private func appendCode(_ code: ResponseCode?, to lines: inout [UInt8]) {
        guard let code else {
            lines += "dropped".utf8
            return
        }
        if Int(code.rawValue) < QueryLines.codes.count {
            lines += QueryLines.codes[Int(code.rawValue)]
        } else {
            lines += "RCODE".utf8
            append(UInt64(code.rawValue), to: &lines)
        }
    }

    /// RFC 3339, to the millisecond; the text of a second is made once.
    private mutating func appendTime(_ instant: Instant, to lines: inout [UInt8]) {
        let milliseconds = (Int64(clamping: instant.nanoseconds) + offset) / 1_000_000
        if milliseconds / 1000 != second {
            second = milliseconds / 1000
            let text = Timestamp(milliseconds: second * 1000).description
            secondText = Array(text.utf8.prefix(20))
        }
        lines += secondText
        let rest = UInt8(truncatingIfNeeded: milliseconds % 1000 / 100)
        lines.append(0x30 + rest)
        let hundredth = milliseconds % 100
        lines.append(0x30 + UInt8(truncatingIfNeeded: hundredth / 10))
        lines.append(0x30 + UInt8(truncatingIfNeeded: hundredth % 10))
        lines.append(UInt8(ascii: "Z"))
    }

    private func append(_ address: IPAddress, to lines: inout [UInt8]) {
        guard address.isIPv4 else {
            lines += address.description.utf8
            return
        }
        for shift in [24, 16, 8, 0] as [UInt64] {
            if shift < 24 { lines.append(UInt8(ascii: ".")) }
            append(address.low >> shift & 0xFF, to: &lines)
        }
    }

    private func append(_ number: UInt64, to lines: inout [UInt8]) {
        guard number >= 10 else {
            lines.append(0x30 + UInt8(truncatingIfNeeded: number))
            return
        }
        var divisor: UInt64 = 10
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            lines.append(0x30 + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    /// A name in presentation format. A client chose it: what is not plain is escaped.
    private func append(_ name: Span<UInt8>, isJSON: Bool, to lines: inout [UInt8]) {
        var position = 0
        if name.count == 1 { lines.append(UInt8(ascii: ".")) }
        while position < name.count, name[position] != 0 {
            let end = min(name.count, position + 1 + Int(name[position]))
            for index in (position + 1)..<end {
                let octet = name[index]
                if octet &- 0x61 < 26 || octet &- 0x30 < 10 || octet &- 0x41 < 26
                    || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
                    || octet == UInt8(ascii: "*")
                {
                    lines.append(octet)
                } else {
                    lines.append(UInt8(ascii: "\\"))
                    // JSON has a backslash of its own.
                    if isJSON { lines.append(UInt8(ascii: "\\")) }
                    lines.append(0x30 + octet / 100)
                    lines.append(0x30 + octet / 10 % 10)
                    lines.append(0x30 + octet % 10)
                }
            }
            lines.append(UInt8(ascii: "."))
            position = end
        }
    }
}
