import DNS
import Support
import Testing

/// One line of `Golden/records.txt`.
struct GoldenRecord: CustomTestStringConvertible {
    let type: RecordType
    let text: String
    let octets: [UInt8]
    let printed: String

    var testDescription: String { "\(type) \(text)" }

    static let all: [GoldenRecord] = goldenLines("records.txt").compactMap { line in
        let fields = line.split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }
        guard fields.count == 4, let type = RecordType(scanning: fields[0].trimmed) else {
            return nil
        }
        return GoldenRecord(
            type: type,
            text: fields[1].trimmed,
            octets: Support.octets(fields[2].trimmed),
            printed: String(fields[3])
        )
    }
}

extension Substring {
    var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

/// The octets of a record's data, origin `example.`.
func scan(_ type: RecordType, _ text: String) throws(PresentationError) -> [UInt8] {
    var data = [UInt8](repeating: 0, count: 66_000)
    let count = try scan(type, text, into: &data)
    return Array(data[..<count])
}

private func scan(
    _ type: RecordType,
    _ text: String,
    into data: inout [UInt8]
) throws(PresentationError) -> Int {
    let octets = Array(text.utf8)
    var scanner = TextScanner(octets.span)
    var writer = OctetWriter(data.mutableSpan)
    let origin: [UInt8] = [7, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0]
    try RData.scan(type, from: &scanner, origin: origin.span, into: &writer)
    return writer.count
}

/// What is wrong with a text, as `kind at offset, length`.
func failure(_ type: RecordType, _ text: String) -> PresentationError? {
    do {
        _ = try scan(type, text)
        return nil
    } catch {
        return error
    }
}

@Suite struct RDataTests {
    @Test func `the golden file is there`() { #expect(GoldenRecord.all.count > 100) }

    @Test(arguments: GoldenRecord.all)
    func `text becomes the octets of its type's format`(record: GoldenRecord) throws {
        #expect(hex(try scan(record.type, record.text)) == hex(record.octets))
    }

    private func printed(_ octets: [UInt8], _ type: RecordType) -> String {
        RData.text(octets.span, type: type)
    }

    @Test(arguments: GoldenRecord.all)
    func `octets are printed as dig prints them`(record: GoldenRecord) {
        #expect(printed(record.octets, record.type) == record.printed)
    }

    @Test(arguments: GoldenRecord.all)
    func `what is printed reads back the same`(record: GoldenRecord) throws {
        #expect(try scan(record.type, record.printed) == record.octets)
    }

    @Test(arguments: GoldenRecord.all)
    func `the generic form is taken for each type`(record: GoldenRecord) throws {
        let generic = RData.genericText(record.octets.span)
        #expect(try scan(record.type, generic) == record.octets)
    }

    @Test(arguments: GoldenRecord.all)
    func `octets cut short or with a rest do not have the format`(record: GoldenRecord) {
        let isValid = RData.isValid(record.octets.span, as: record.type)
        #expect(isValid)
        for size in 0..<record.octets.count {
            // A trap is what must not happen: some types end anywhere.
            _ = RData.isValid(record.octets.span.extracting(first: size), as: record.type)
            _ = printed(Array(record.octets[..<size]), record.type)
        }
    }

    @Test(arguments: ["00======", "CPNG====", "CPNMU===", "CPNMUOG=", "cpnmuoj1e8======"])
    func `a hash with the padding of Base32 is the one without it`(hash: String) throws {
        let bare = hash.filter { $0 != "=" }
        #expect(try scan(.nsec3, "1 0 0 - \(hash)") == scan(.nsec3, "1 0 0 - \(bare)"))
        #expect(failure(.nsec3, "1 0 0 - \(hash)=")?.kind == .malformed(.hash))
    }

    @Test func `data of unknown types are printed in the generic form`() {
        #expect(printed([0xAB, 1], RecordType(rawValue: 65280)) == "\\# 2 AB01")
        #expect(printed([], RecordType(rawValue: 65280)) == "\\# 0")
    }

    @Test func `data without their type's format are printed in the generic form`() {
        #expect(printed([1, 2, 3], .a) == "\\# 3 010203")
        #expect(printed([0, 10, 0xC0, 12], .mx) == "\\# 4 000AC00C")
    }

    @Test(arguments: [
        ("0", 0), ("1w", 604_800), ("1W2D3h4M5s", 788_645), ("1h1h", 7200),
        ("4294967295", 4_294_967_295),
    ])
    func `times have units`(pair: (String, UInt32)) {
        let seconds = RData.scanTTL(Array(pair.0.utf8).span)
        #expect(seconds == pair.1)
    }

    @Test(arguments: ["", "h", "1x", "1h2", "4294967296", "7102w", "-1", "1 h", "99999999999999w"])
    func `what is not a time is refused`(text: String) {
        let seconds = RData.scanTTL(Array(text.utf8).span)
        #expect(seconds == nil)
    }
}
