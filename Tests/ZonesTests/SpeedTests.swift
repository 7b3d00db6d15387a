import DNS
import FoundationEssentials
import Testing
import Zones

/// Measurements, made where `DETOUR_SPEED` is set: they mean something in a release build only.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["DETOUR_SPEED"] != nil))
struct SpeedTests {
    private struct Count: RecordSink, ~Copyable {
        var records = 0

        mutating func add(
            owner: Span<UInt8>,
            type: RecordType,
            class: RecordClass,
            ttl: UInt32,
            explicitTTL: Bool,
            rdata: Span<UInt8>,
            line: UInt32,
            file: UInt16
        ) {
            records += 1
        }
    }

    @Test func `two million records are scanned in well under a second`() throws {
        var text = Array("$ORIGIN ovr.bench.\n$TTL 300\n".utf8)
        for index in 0..<1_000_000 {
            let (high, middle, low) = (index >> 16 & 255, index >> 8 & 255, index & 255)
            let name = "h\(String(10_000_000 + index).dropFirst()).d\(index % 997)"
            text += "\(name) 300 IN A 10.\(high).\(middle).\(low)\n".utf8
            text += "\(name) 300 IN AAAA fd00:db8::\(String(high, radix: 16)):\(low)\n".utf8
        }
        let origin = try Name(scanning: "ovr.bench.")
        let settings = ScanSettings(kind: .override, origin: origin)
        var best = Duration.seconds(1000)
        for _ in 0..<5 {
            var count = Count()
            let clock = ContinuousClock()
            let start = clock.now
            _ = MasterFileScanner.scan(
                text.span,
                file: "speed.zone",
                settings: settings,
                including: { (_) throws(IncludeError) in throw IncludeError(reason: "none") },
                into: &count
            )
            best = min(best, clock.now - start)
            #expect(count.records == 2_000_000)
        }
        print("scanned \(text.count / 1_000_000) MB, 2 000 000 records, in \(best)")
        #expect(best < .milliseconds(600))
    }
}
