import DNS

/// Reads hosts files: an address and its names a line, `#` in front of what is no data.
///
/// Names are absolute. A zone identifier (`fe80::1%eth0`) is dropped, for no record can carry one.
/// A line that is wrong is reported and left out; where one name of a line is wrong, the others stay.
public struct HostsFileScanner: ~Copyable {
    private let settings: ScanSettings
    private var report: ScanReport
    private var owner = [UInt8](repeating: 0, count: 512)
    private var data = [UInt8](repeating: 0, count: 16)
    private let root: [UInt8] = [0]

    private init(file: String, settings: ScanSettings) {
        self.settings = settings
        report = ScanReport(file: file, limit: settings.maximumFindings)
    }

    /// Reads a hosts file's text, gives an A or AAAA record for each name to `sink`, and reports what
    /// was wrong. Complexity: O(octets).
    public static func scan<Sink: RecordSink & ~Copyable>(
        _ text: Span<UInt8>,
        file: String,
        settings: ScanSettings,
        into sink: inout Sink
    ) -> ScanReport {
        var scanner = HostsFileScanner(file: file, settings: settings)
        let names = TextScanner(text)
        var position = text.startsWithByteOrderMark ? 3 : 0
        var line: UInt32 = 0
        while position < text.count {
            line &+= 1
            scanner.scanLine(names, &position, line: line, into: &sink)
        }
        return scanner.report
    }

    private mutating func scanLine<Sink: RecordSink & ~Copyable>(
        _ scanner: TextScanner,
        _ position: inout Int,
        line: UInt32,
        into sink: inout Sink
    ) {
        let text = scanner.text
        defer {
            while position < text.count && text[position] != UInt8(ascii: "\n") { position &+= 1 }
            position &+= 1
        }
        guard let word = nextWord(text, &position) else { return }
        var length = word.end - word.start
        for index in word.start..<word.end where text[index] == UInt8(ascii: "%") {
            length = index - word.start
            break
        }
        let spelling = text.extracting(word.start..<(word.start + length))
        let isIPv4: Bool
        if length == word.end - word.start, let quad = IPAddress.ipv4(scanning: spelling) {
            isIPv4 = true
            for index in 0..<4 {
                data[index] = UInt8(truncatingIfNeeded: quad >> UInt32(24 - 8 * index))
            }
        } else if let address = IPAddress.ipv6(scanning: spelling) {
            isIPv4 = false
            for index in 0..<8 {
                let shift = UInt64(56 - 8 * index)
                data[index] = UInt8(truncatingIfNeeded: address.high >> shift)
                data[index + 8] = UInt8(truncatingIfNeeded: address.low >> shift)
            }
        } else {
            return add(.notAnAddress, line, text, at: word.start, word.end - word.start)
        }
        guard var name = nextWord(text, &position) else {
            return add(.noHostName, line, text, at: word.end)
        }
        while true {
            do throws(PresentationError) {
                let count = try MasterFileScanner.scanName(
                    name,
                    of: scanner,
                    origin: root,
                    into: &owner
                )
                // A dot or an at sign alone would be the root.
                guard count > 1 else {
                    throw PresentationError(.malformed(.name), about: name)
                }
                report.recordCount += 1
                sink.add(
                    owner: owner.span.extracting(first: count),
                    type: isIPv4 ? .a : .aaaa,
                    class: .in,
                    ttl: settings.defaultTTL,
                    explicitTTL: false,
                    rdata: data.span.extracting(first: isIPv4 ? 4 : 16),
                    line: line,
                    file: 0
                )
            } catch {
                add(.presentation(error.kind), line, text, at: error.offset, error.length)
            }
            guard let next = nextWord(text, &position) else { break }
            name = next
        }
    }

    /// The next word of the line; nil at its end or in front of a comment.
    private func nextWord(_ text: Span<UInt8>, _ position: inout Int) -> Token? {
        while position < text.count, text[position].isHostsBlank { position &+= 1 }
        let start = position
        var high: UInt8 = 0
        var escaped = false
        while position < text.count {
            let octet = text[position]
            if octet <= 0x20 && (octet.isHostsBlank || octet == UInt8(ascii: "\n")) { break }
            if octet == UInt8(ascii: "#") { break }
            if octet == UInt8(ascii: "\\") { escaped = true }
            high |= octet
            position &+= 1
        }
        guard position > start else { return nil }
        return Token(
            start: start,
            end: position,
            isQuoted: false,
            hasEscape: escaped,
            hasHighOctet: high & 0x80 != 0
        )
    }

    private mutating func add(
        _ kind: ZoneFileError.Kind,
        _ line: UInt32,
        _ text: Span<UInt8>,
        at offset: Int,
        _ length: Int = 0
    ) {
        guard report.keeps(.error) else { return report.count(.error) }
        report.add(
            ZoneFileError(
                kind,
                file: report.files[0],
                line: line,
                text: text,
                at: offset,
                length: length
            )
        )
    }
}

extension UInt8 {
    fileprivate var isHostsBlank: Bool {
        self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0B || self == 0x0C
    }
}
