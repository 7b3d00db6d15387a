import DNS

/// Reads RFC 1035 master files: entries to records, directives to state.
///
/// An entry that is wrong is reported and left out, and reading goes on at the next one; whether an
/// error condemns the zone is for the caller to say. A record allocates nothing, unless its type is
/// a rare one. Files are read through a closure, so that this module does no I/O.
public struct MasterFileScanner: ~Copyable {
    /// Gives the octets of an included file, or throws why not.
    ///
    /// The path is relative to the directory of the zone's own file, without `..` in it.
    public typealias Reader = (_ path: String) throws(IncludeError) -> [UInt8]

    let settings: ScanSettings
    var report: ScanReport

    var origin: [UInt8]
    var isOriginStated = false
    /// `$TTL`, which holds until the next one, over the ends of included files too.
    var statedTTL: UInt32?
    /// The TTL of the last record that had one of its own (RFC 1035, 5.1).
    var lastTTL: UInt32?
    /// The last owner, and its length; 0 before the first one and behind one that was wrong.
    var owner = [UInt8](repeating: 0, count: 512)
    var ownerLength = 0
    var isOwnerSkipped = false
    var data = [UInt8](repeating: 0, count: 66_000)

    var includeDepth = 0
    var generatedCount = 0
    /// Parentheses and quotes that were never closed: each cost up to an entry's size to find.
    private var unclosedCount = 0
    /// The `$GENERATE` that the text being read comes from, if it does.
    var generator: ZoneFileError?

    init(file: String, settings: ScanSettings) {
        self.settings = settings
        report = ScanReport(file: file, limit: settings.maximumFindings)
        origin = settings.origin.octets
    }

    /// Reads a zone's text, gives its records to `sink`, and reports what was wrong.
    ///
    /// `file` is what findings call the text, and what `$INCLUDE` is relative to. Complexity:
    /// O(octets), those of included files and generated records too.
    public static func scan<Sink: RecordSink & ~Copyable>(
        _ text: Span<UInt8>,
        file: String,
        settings: ScanSettings,
        including reader: Reader,
        into sink: inout Sink
    ) -> ScanReport {
        var scanner = MasterFileScanner(file: file, settings: settings)
        scanner.scanFile(text, file: 0, including: reader, into: &sink)
        return scanner.report
    }

    /// Reads all entries of one file.
    mutating func scanFile<Sink: RecordSink & ~Copyable>(
        _ text: Span<UInt8>,
        file: UInt16,
        including reader: Reader,
        into sink: inout Sink
    ) {
        var scanner = TextScanner(text, at: text.startsWithByteOrderMark ? 3 : 0)
        while !scanner.isAtEnd {
            let entry = scanner
            do {
                try scanEntry(&scanner, from: entry, file: file, including: reader, into: &sink)
                scanner.endEntry()
            } catch {
                add(.presentation(error.kind), from: entry, file, at: error.offset, error.length)
                skip(&scanner, back: entry)
                guard unclosedCount < 100 else {
                    return add(.abandoned, from: scanner, file, at: scanner.position)
                }
            }
        }
    }

    /// Goes on behind an entry that is wrong: behind its end, or a line on where it has none.
    @_lifetime(scanner: copy entry)
    private mutating func skip(_ scanner: inout TextScanner, back entry: TextScanner) {
        scanner = entry
        do {
            while try scanner.next() != nil {}
            scanner.endEntry()
        } catch {
            if error.kind != .unopenedParenthesis { unclosedCount += 1 }
            scanner = entry
            scanner.skipLine()
        }
    }

    /// One entry: nothing, a directive or a record.
    mutating func scanEntry<Sink: RecordSink & ~Copyable>(
        _ scanner: inout TextScanner,
        from entry: TextScanner,
        file: UInt16,
        including reader: Reader,
        into sink: inout Sink
    ) throws(PresentationError) {
        let first = scanner.text[scanner.position]
        let hasOwner = first != UInt8(ascii: " ") && first != UInt8(ascii: "\t")
        guard try scanner.hasMore() else { return }
        if hasOwner, let token = try scanner.next() {
            if first == UInt8(ascii: "$") && generator == nil {
                try scanDirective(
                    token,
                    &scanner,
                    from: entry,
                    file: file,
                    including: reader,
                    into: &sink
                )
                return
            }
            try scanOwner(token, of: scanner, from: entry, file)
        }
        let fields = try scanFields(&scanner, from: entry, file)
        try scanData(fields, &scanner, from: entry, file: file, into: &sink)
    }

    /// What stands between a record's owner and its data: `[TTL] [class] type`, the first two in
    /// either order (RFC 1035, 5.1).
    private mutating func scanFields(
        _ scanner: inout TextScanner,
        from entry: TextScanner,
        _ file: UInt16
    ) throws(PresentationError) -> RecordFields {
        var ttl: UInt32?
        var recordClass: RecordClass?
        while true {
            let token = try scanner.requireField(.type)
            let text = scanner.octets(of: token)
            if token.isQuoted || text.isEmpty {
                throw PresentationError(.unknownType, about: token)
            }
            if text[0] &- 0x30 < 10, ttl == nil {
                guard let seconds = RData.scanTTL(text) else {
                    throw PresentationError(.malformed(.ttl), about: token)
                }
                ttl = seconds
                if seconds > 0x7FFF_FFFF {
                    ttl = 0x7FFF_FFFF
                    add(.ttlTooLarge, .warning, from: entry, file, at: token.start, text.count)
                }
            } else if recordClass == nil, text.isClassIN {
                recordClass = .in
            } else if let type = RecordType(scanning: text) {
                return RecordFields(ttl: ttl, recordClass: recordClass, type: type)
            } else if recordClass == nil, let found = RecordClass(scanning: text) {
                recordClass = found
            } else {
                throw PresentationError(.unknownType, about: token)
            }
        }
    }

    /// The rest of a record, behind its type.
    private mutating func scanData<Sink: RecordSink & ~Copyable>(
        _ fields: RecordFields,
        _ scanner: inout TextScanner,
        from entry: TextScanner,
        file: UInt16,
        into sink: inout Sink
    ) throws(PresentationError) {
        if let ttl = fields.ttl { lastTTL = ttl }
        guard ownerLength > 0 else {
            if !isOwnerSkipped { add(.noOwner, from: entry, file, at: entry.position) }
            while try scanner.next() != nil {}
            return
        }
        if let recordClass = fields.recordClass, recordClass != settings.recordClass {
            add(.wrongClass(recordClass), from: entry, file, at: entry.position)
            while try scanner.next() != nil {}
            return
        }
        let known = fields.ttl ?? statedTTL ?? lastTTL
        let count = try MasterFileScanner.scanData(
            fields.type,
            from: &scanner,
            origin: origin,
            into: &data
        )
        report.recordCount += 1
        sink.add(
            owner: owner.span.extracting(first: ownerLength),
            type: fields.type,
            class: settings.recordClass,
            ttl: known ?? settings.defaultTTL,
            explicitTTL: known != nil,
            rdata: data.span.extracting(first: count),
            line: generator?.line ?? entry.line,
            file: file
        )
    }

    /// How many octets of `data` a record's data take; apart, because a writer borrows all of `self`.
    private static func scanData(
        _ type: RecordType,
        from scanner: inout TextScanner,
        origin: [UInt8],
        into data: inout [UInt8]
    ) throws(PresentationError) -> Int {
        var writer = OctetWriter(data.mutableSpan)
        try RData.scan(type, from: &scanner, origin: origin.span, into: &writer)
        return writer.count
    }

    /// How many octets of `owner` a name takes.
    static func scanName(
        _ token: Token,
        of scanner: TextScanner,
        origin: [UInt8],
        into owner: inout [UInt8]
    ) throws(PresentationError) -> Int {
        var writer = OctetWriter(owner.mutableSpan)
        try Name.scan(token, of: scanner, origin: origin.span, into: &writer)
        return writer.count
    }

    /// The name at the start of an entry.
    private mutating func scanOwner(
        _ token: Token,
        of scanner: TextScanner,
        from entry: TextScanner,
        _ file: UInt16
    ) throws(PresentationError) {
        // Records without a name of their own belong to this one: with it wrong, they are left out.
        ownerLength = 0
        isOwnerSkipped = true
        let isAt = token.end - token.start == 1 && scanner.text[token.start] == UInt8(ascii: "@")
        if isAt && isOriginStated && origin.count == 1 && settings.kind != .authoritative
            || isAt && isOriginStated && origin.count == 1 && !settings.origin.isRoot
        {
            if settings.origin.isRoot {
                add(.ownerIsRoot, .warning, from: entry, file, at: token.start, 1)
                return
            }
            ownerLength = settings.origin.octets.count
            owner.replaceSubrange(0..<ownerLength, with: settings.origin.octets)
            add(.originIsRoot, .warning, from: entry, file, at: token.start, 1)
            return
        }
        ownerLength = try MasterFileScanner.scanName(
            token,
            of: scanner,
            origin: origin,
            into: &owner
        )
    }

    /// Reports something at an offset of the entry that starts at `entry`.
    mutating func add(
        _ kind: ZoneFileError.Kind,
        _ severity: ZoneFileError.Severity = .error,
        from entry: TextScanner,
        _ file: UInt16,
        at offset: Int,
        _ length: Int = 0
    ) {
        guard report.keeps(severity) else { return report.count(severity) }
        if let generator {
            return report.add(generator.with(kind, severity, text: entry.text, at: offset, length))
        }
        var line = entry.line
        var index = entry.position
        while index < min(offset, entry.text.count) {
            if entry.text[index] == UInt8(ascii: "\n") { line &+= 1 }
            index += 1
        }
        report.add(
            ZoneFileError(
                kind,
                severity,
                file: report.files[Int(file)],
                line: line,
                text: entry.text,
                at: offset,
                length: length
            )
        )
    }
}

/// Why a file that is to be included cannot be read.
public struct IncludeError: Error, Equatable {
    /// The reason, in words that follow a colon.
    public let reason: String

    /// A reason, in words that follow a colon.
    public init(reason: String) { self.reason = reason }
}

extension PresentationError {
    /// An error that a token shows.
    init(_ kind: Kind, about token: Token) {
        self.init(kind, at: token.start, length: token.end - token.start)
    }
}

extension TextScanner {
    /// The next token, which must be there for `field`.
    @_lifetime(self: copy self)
    mutating func requireField(_ field: RDataField) throws(PresentationError) -> Token {
        guard let token = try next() else {
            throw PresentationError(.missing(field), at: position)
        }
        return token
    }
}

extension Span where Element == UInt8 {
    /// Whether UTF-8's byte order mark is in front, which some editors write.
    var startsWithByteOrderMark: Bool {
        count >= 3 && self[0] == 0xEF && self[1] == 0xBB && self[2] == 0xBF
    }

    var isClassIN: Bool {
        count == 2 && self[0] | 0x20 == UInt8(ascii: "i") && self[1] | 0x20 == UInt8(ascii: "n")
    }
}

/// What stands between a record's owner and its data.
private struct RecordFields: BitwiseCopyable {
    var ttl: UInt32?
    var recordClass: RecordClass?
    var type: RecordType
}
