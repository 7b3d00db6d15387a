import DNS
import Zones

/// Takes arbitrary octets as the text of a zone, and traps where what must hold does not.
///
/// The first octet of an input chooses the kind of the zone; an included file is the text `x A 192.0.2.9`.
public final class ZoneTextFuzzer {
    private var name = FoldedName()

    /// A fuzzer; it keeps nothing from one input to the next.
    public init() {}

    /// Takes one input.
    public func take(_ input: Span<UInt8>) {
        guard input.count > 0 else { return }
        let kind = ZoneKind.allCases[Int(input[0]) % ZoneKind.allCases.count]
        let text = (1..<input.count).map { input[$0] }
        let origin = (try? Name(scanning: kind == .override ? "." : "zone.example.")) ?? .root
        let source = ZoneSource(kind: kind, label: "f.zone", origin: origin)
        let layer = ZoneCompiler.compile([ZoneFile(path: "f.zone", source: source)], seed: 3) {
            $0 == "f.zone" ? text : Array("x A 192.0.2.9\n".utf8)
        }
        for finding in layer.findings {
            precondition(!finding.description.isEmpty && finding.line <= 1 + text.count)
        }
        guard kind != .hosts else { return }
        var records = RecordCollection()
        var settings = ScanSettings(kind: kind, origin: origin)
        settings.maximumGenerated = 1000
        var report = MasterFileScanner.scan(
            text.span,
            file: "f.zone",
            settings: settings,
            including: { _ throws(IncludeError) in Array("x A 192.0.2.9\n".utf8) },
            into: &records
        )
        records.check(as: kind, origin: origin, into: &report)
        for index in 0..<min(records.count, 50) {
            let line = records.text(at: index)
            checkRoundTrip(line, kind)
            look(up: line, in: layer.index)
        }
    }

    /// A record that is printed is the same record when it is read.
    private func checkRoundTrip(_ line: String, _ kind: ZoneKind) {
        var again = RecordCollection()
        let report = MasterFileScanner.scan(
            Array((line + "\n").utf8).span,
            file: "again",
            settings: ScanSettings(kind: .override),
            including: { _ throws(IncludeError) in throw IncludeError(reason: "none") },
            into: &again
        )
        precondition(again.count == 1, "'\(line)' does not read back: \(report.findings)")
        precondition(again.text(at: 0) == line, "'\(line)' reads back as '\(again.text(at: 0))'")
    }

    /// Every owner, and names above and below it, can be looked up for every type.
    private func look(up line: String, in index: borrowing ZoneIndex) {
        guard let owner = try? Name(scanning: String(line.prefix { $0 != " " })) else { return }
        let below = (try? Name(scanning: "_x.y."))?.appending(owner)
        for wire in [owner.octets, owner.parent.octets, below?.octets ?? [0]] {
            guard (try? name.read(from: wire.span, at: 0)) != nil else { continue }
            for type in [RecordType.a, .aaaa, .https, .any, .ds, .ptr, .cname, .soa] {
                let lookup = index.lookup(name, type: type)
                guard lookup.kind == .answer, let node = lookup.node else { continue }
                precondition(type == .any || index.rrset(type, at: node) != nil)
            }
            _ = index.hasNames(below: name)
        }
    }
}
