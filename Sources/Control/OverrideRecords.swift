import DNS

/// An override's records in wire format, ready for an index.
struct OverrideRecords: Sendable {
    let owner: Name
    let type: RecordType
    let data: [[UInt8]]

    /// What the texts of a name, a type and its data spell, read as zone text is: names without a
    /// dot at the end are complete, U-labels are converted, all types and RFC 3597 are known.
    init(name: String, type: String, records: [String]) throws(ControlError) {
        guard let recordType = RecordType(scanning: type), !recordType.isMeta else {
            throw ControlError(
                .invalid,
                "'\(type)' is not a record type such as A, AAAA, CNAME or TXT"
            )
        }
        guard !records.isEmpty else {
            throw ControlError(.invalid, "\(name) \(type) is to have no record at all")
        }
        owner = try OverrideRecords.name(name)
        self.type = recordType
        var data: [[UInt8]] = []
        for record in records {
            data.append(try OverrideRecords.data(record, recordType))
        }
        self.data = data
    }

    /// The name that text spells.
    static func name(_ text: String) throws(ControlError) -> Name {
        let origin = Name.root.octets
        let octets = try scan(text, what: "the name") {
            scanner,
            out throws(PresentationError) in
            guard let token = try scanner.next() else {
                throw PresentationError(.missing(.name), at: 0)
            }
            try Name.scan(token, of: scanner, origin: origin.span, into: &out)
            if let extra = try scanner.next() {
                throw PresentationError(.surplus, at: extra.start, length: extra.end - extra.start)
            }
        }
        guard let name = try? Name(parsing: octets.span) else {
            throw ControlError(.invalid, "'\(text)' is not a name")
        }
        return name
    }

    private static func data(_ text: String, _ type: RecordType) throws(ControlError) -> [UInt8] {
        let origin = Name.root.octets
        return try scan(text, what: "the data of \(type)") {
            scanner,
            out throws(PresentationError) in
            try RData.scan(type, from: &scanner, origin: origin.span, into: &out)
        }
    }

    private static func scan(
        _ text: String,
        what: String,
        _ body: (inout TextScanner, inout OctetWriter) throws(PresentationError) -> Void
    ) throws(ControlError) -> [UInt8] {
        // One entry is one line: what is behind it would not be looked at.
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw ControlError(.invalid, "\(what) has a control character")
        }
        let octets = Array(text.utf8)
        var store = OctetStore(count: 65_535 + 256)
        var count = 0
        do throws(PresentationError) {
            var scanner = TextScanner(octets.span)
            var out = OctetWriter(store.mutableSpan)
            try body(&scanner, &out)
            count = out.count
        } catch {
            let end = min(octets.count, error.offset + max(error.length, 0))
            let token = octets[min(error.offset, end)..<end]
            let spelled = String(decoding: token, as: UTF8.self)
            throw ControlError(.invalid, "\(what): " + error.kind.sentence(about: spelled))
        }
        let span = store.span
        return (0..<count).map { span[$0] }
    }

    /// The data as text, in one form whatever was given.
    var texts: [String] { data.map { RData.text($0.span, type: type) } }
}
