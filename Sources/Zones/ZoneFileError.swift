public import DNS

/// Something wrong or doubtful in a zone's text, with its place.
public struct ZoneFileError: Error, Equatable, Sendable {
    /// Whether the text cannot be taken as it is, or only looks doubtful.
    public enum Severity: String, Sendable {
        /// The record or directive was left out.
        case error
        /// It was taken; the message says how.
        case warning
    }

    /// What was found.
    public enum Kind: Equatable, Sendable {
        /// A record that is not well formed.
        case presentation(PresentationError.Kind)
        /// A record without an owner, at the start of a file.
        case noOwner
        /// A class that is not the zone's.
        case wrongClass(RecordClass)
        /// A TTL above 2^31 - 1, which is taken as that (RFC 2181, 8).
        case ttlTooLarge
        /// `@` under `$ORIGIN .`, as registrars export it; taken as the zone's name.
        case originIsRoot
        /// The same where the zone has no name: the record is left out.
        case ownerIsRoot
        /// A word behind `$` that is not a directive.
        case unknownDirective
        /// An `$ORIGIN`, `$INCLUDE` or `$GENERATE` without what it needs.
        case incompleteDirective
        /// A range that is not `start-stop` or `start-stop/step`, or that runs downwards.
        case badRange
        /// A `${…}` that is not `offset`, `offset,width` or `offset,width,base`.
        case badModifier
        /// More generated records than the settings allow.
        case tooManyGenerated
        /// An `$INCLUDE` of a file outside the directory of the zone's file.
        case includeOutside
        /// Files that include each other too deep, or too many of them.
        case includeTooDeep
        /// A file that cannot be read, and why.
        case unreadable(String)
        /// More quotes and parentheses left open than are looked for; reading ended.
        case abandoned
        /// A hosts line whose first word is not an address.
        case notAnAddress
        /// A hosts line with an address and no name.
        case noHostName
        /// What was found in a zone as a whole.
        case check(ZoneCheck)
    }

    /// The file's name as it was given.
    public let file: String
    /// The line, from 1; 0 where a whole zone is meant.
    public let line: UInt32
    /// The column, from 1, in characters; 0 where a whole line is meant.
    public let column: UInt32
    /// Whether it is an error.
    public let severity: Severity
    /// What was found.
    public let kind: Kind
    /// The text that shows it, or nothing.
    public let token: String
    /// The line of text, or the part of it around the column.
    public let source: String
    /// The characters of `source` in front of the column.
    let caret: Int

    /// A finding about the line of `text` that the octet at `offset` is in.
    init(
        _ kind: Kind,
        _ severity: Severity = .error,
        file: String,
        line: UInt32,
        text: Span<UInt8>,
        at offset: Int,
        length: Int = 0
    ) {
        let offset = min(max(offset, 0), text.count)
        var start = offset
        // A line of megabytes is not looked through for each finding in it.
        while start > 0 && offset - start < 1 << 20 && text[start - 1] != UInt8(ascii: "\n") {
            start -= 1
        }
        var end = offset
        while end < text.count && text[end] != UInt8(ascii: "\n") && end - offset < 200 { end += 1 }
        if end > start && text[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        let window = max(start, offset - 100)
        self.kind = kind
        self.severity = severity
        self.file = file
        self.line = line
        column = UInt32(clamping: ZoneFileError.characters(text, start..<offset) + 1)
        caret = ZoneFileError.characters(text, window..<offset)
        source = ZoneFileError.string(text, window..<max(window, end))
        token = ZoneFileError.string(
            text,
            offset..<min(text.count, offset + min(max(length, 0), 80))
        )
    }

    /// A finding about a line as a whole, or about a zone where the line is 0.
    init(_ kind: Kind, _ severity: Severity, file: String, line: UInt32, token: String = "") {
        self.kind = kind
        self.severity = severity
        self.file = file
        self.line = line
        self.token = token
        column = 0
        caret = 0
        source = ""
    }

    /// A finding about text that was made at the place of `origin`.
    init(_ origin: ZoneFileError, _ kind: Kind, _ severity: Severity, token: String) {
        file = origin.file
        line = origin.line
        column = origin.column
        source = origin.source
        caret = origin.caret
        self.kind = kind
        self.severity = severity
        self.token = token
    }

    /// How many UTF-8 characters start in a range.
    private static func characters(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
        var count = 0
        for index in range where text[index] & 0xC0 != 0x80 { count += 1 }
        return count
    }

    private static func string(_ text: Span<UInt8>, _ range: Range<Int>) -> String {
        var octets: [UInt8] = []
        for index in range {
            // Control characters would garble a terminal.
            let octet = text[index]
            octets.append(
                octet < 0x20 && octet != 0x09 || octet == 0x7F ? UInt8(ascii: "?") : octet
            )
        }
        return String(decoding: octets, as: UTF8.self)
    }
}

extension ZoneFileError: CustomStringConvertible {
    /// `file:line:column`, without what is not known: a file that cannot be read has no lines.
    public var place: String {
        guard line > 0 else { return file }
        return column > 0 ? "\(file):\(line):\(column)" : "\(file):\(line)"
    }

    /// `file:line:column: error: …`, then the line of text and a caret under the column.
    public var description: String {
        let text = "\(place): \(severity.rawValue): \(sentence)"
        guard column > 0 else { return text }
        let indent = source.unicodeScalars.prefix(caret).map { $0 == "\t" ? "\t" : " " }
        return text + "\n\(source)\n\(indent.joined())^"
    }

    /// What was found, in one clause.
    public var sentence: String {
        switch kind {
        case .presentation(let kind): kind.sentence(about: token)
        case .noOwner: "the first record of a file must name its owner"
        case .wrongClass(let found): "the zone does not hold records of class \(found)"
        case .ttlTooLarge: "the TTL \(token) is taken as 2147483647"
        case .originIsRoot: "'@' under '$ORIGIN .' is taken as the zone's name"
        case .ownerIsRoot: "'@' under '$ORIGIN .' is the root; the record is left out"
        case .unknownDirective: "'\(token)' is not a directive"
        case .incompleteDirective: "the directive lacks a part"
        case .badRange: "'\(token)' is not a range like 1-254 or 0-30/2"
        case .badModifier: "'\(token)' has a '${…}' that is not {offset,width,base}"
        case .tooManyGenerated: "the zone generates too many records"
        case .includeOutside: "'\(token)' is outside the directory of the zone's file"
        case .includeTooDeep: "files include each other too deep"
        case .unreadable(let reason): "'\(token)' cannot be read: \(reason)"
        case .abandoned: "too much is left open; the rest of the file is not read"
        case .notAnAddress: "'\(token)' is not an IP address"
        case .noHostName: "a name is missing behind the address"
        case .check(let check): check.sentence(about: token)
        }
    }
}

/// What scanning a zone's text found, beside its records.
public struct ScanReport: Sendable {
    /// The files that were read, the zone's own first; a record's `file` counts these.
    public internal(set) var files: [String]
    /// The first findings, in the order of the text.
    public private(set) var findings: [ZoneFileError] = []
    /// How many errors there were, the ones not kept included.
    public private(set) var errorCount = 0
    /// How many warnings there were, the ones not kept included.
    public private(set) var warningCount = 0
    /// How many records were given to the sink.
    public internal(set) var recordCount = 0

    let limit: Int

    /// An empty report about a file.
    public init(file: String, limit: Int = 100) {
        files = [file]
        self.limit = limit
    }

    /// Whether another finding of a severity is kept; errors do not crowd out warnings.
    func keeps(_ severity: ZoneFileError.Severity) -> Bool {
        (severity == .error ? errorCount : warningCount) < limit
    }

    /// Counts a finding, and keeps it while the limit is not reached.
    public mutating func add(_ finding: ZoneFileError) {
        if keeps(finding.severity) { findings.append(finding) }
        count(finding.severity)
    }

    mutating func count(_ severity: ZoneFileError.Severity) {
        if severity == .error { errorCount += 1 } else { warningCount += 1 }
    }
}
