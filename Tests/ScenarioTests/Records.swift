import DNS
import Zones

/// Records that lines of a master file spell, as they stand in a message and as text.
struct Records: RecordSink {
    private(set) var octets: [UInt8] = []
    private(set) var lines: [String] = []
    var count: Int { lines.count }

    init(_ text: [String]) throws(Scenario.Mistake) {
        // Zones are of class IN; what is of another is scanned as if it were.
        let chaos = text.map { $0.contains(" CH ") }
        let lines = text.map { $0.replacing(" CH ", with: " IN ", maxReplacements: 1) }
        let master = Array((lines.joined(separator: "\n") + "\n").utf8)
        let report = MasterFileScanner.scan(
            master.span,
            file: "scenario",
            settings: ScanSettings(kind: .override, defaultTTL: 3600),
            including: { (_) throws(IncludeError) in throw IncludeError(reason: "none") },
            into: &self
        )
        if let finding = report.findings.first {
            throw Scenario.Mistake(line: 0, sentence: "\(finding)")
        }
        for index in self.lines.indices where chaos[index] {
            self.lines[index].replace(" IN ", with: " CH ", maxReplacements: 1)
        }
    }

    mutating func add(
        owner: Span<UInt8>,
        type: RecordType,
        class recordClass: RecordClass,
        ttl: UInt32,
        explicitTTL: Bool,
        rdata: Span<UInt8>,
        line: UInt32,
        file: UInt16
    ) {
        let name = (try? Name(parsing: owner)) ?? .root
        octets += name.octets
        for value in [
            type.rawValue, recordClass.rawValue, UInt16(ttl >> 16), UInt16(ttl & 0xFFFF),
            UInt16(rdata.count),
        ] {
            octets += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        for index in rdata.indices { octets.append(rdata[index]) }
        lines.append("\(name) \(ttl) \(recordClass) \(type) \(RData.text(rdata, type: type))")
    }
}

/// A message as far as scenarios look at it.
struct Seen {
    var header: Header
    var question: [UInt8] = []
    /// The sections' records, each as `owner TTL IN TYPE data`.
    var sections: [[String]] = [[], [], []]
    var hasEDNS = false
    var wantsDNSSEC = false
    var code: UInt16
    /// Extended DNS Errors, as `4` and, where it has a text, `4(text)`.
    var errors: [String] = []

    init?(_ message: [UInt8]) {
        let span = message.span
        guard let header = Header(parsing: span) else { return nil }
        self.header = header
        code = header.flags.responseCode.rawValue
        var position = Header.size
        for _ in 0..<header.questionCount {
            guard let end = try? ResourceRecord.skipName(in: span, at: position) else { return nil }
            position = end + 4
        }
        guard position <= message.count else { return nil }
        question = Array(message[Header.size..<position])
        let counts = [header.answerCount, header.authorityCount, header.additionalCount]
        for (section, count) in counts.enumerated() {
            for _ in 0..<count {
                guard let record = try? ResourceRecord(parsing: span, at: position) else {
                    return nil
                }
                position = record.end
                guard record.type == .opt else {
                    let text = try? MessageText.text(of: record, in: span)
                    sections[section].append(
                        (text ?? "?").split(separator: "\t").joined(separator: " ")
                    )
                    continue
                }
                hasEDNS = true
                wantsDNSSEC = record.ttl & 0x8000 != 0
                code |= UInt16(record.ttl >> 24) << 4
                readErrors(message, record.rdata..<record.end)
            }
        }
        guard position == message.count else { return nil }
    }

    private mutating func readErrors(_ message: [UInt8], _ range: Range<Int>) {
        var position = range.lowerBound
        while position + 4 <= range.upperBound {
            let code = message.span.uint16(at: position)
            let end = position + 4 + Int(message.span.uint16(at: position + 2))
            if code == 15 {
                let number = message.span.uint16(at: position + 4)
                let text = String(decoding: message[(position + 6)..<end], as: UTF8.self)
                errors.append("\(number)")
                if !text.isEmpty { errors.append("\(number)(\(text))") }
            }
            position = end
        }
    }

    /// The flags that are set, as scenarios spell them.
    var flags: Set<String> {
        let flags = header.flags
        let all: [(String, Bool)] = [
            ("QR", flags.isResponse), ("AA", flags.isAuthoritative), ("TC", flags.isTruncated),
            ("RD", flags.wantsRecursion), ("RA", flags.offersRecursion),
            ("AD", flags.isAuthenticData), ("CD", flags.isCheckingDisabled), ("DO", wantsDNSSEC),
            ("EDNS", hasEDNS),
        ]
        return Set(all.filter(\.1).map(\.0))
    }

    static let flagNames: Set<String> = [
        "QR", "AA", "TC", "RD", "RA", "AD", "CD", "DO", "EDNS",
    ]

    static let codes: [String: UInt16] = [
        "NOERROR": 0, "FORMERR": 1, "SERVFAIL": 2, "NXDOMAIN": 3, "NOTIMPL": 4, "REFUSED": 5,
        "YXDOMAIN": 6, "BADVERS": 16,
    ]
}
