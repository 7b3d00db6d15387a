import Foundation
import FuzzProperties
import Testing

/// Every input that is kept in the corpora, seeds and former faults, holds what the fuzzers check.
@Suite("The fuzzers' corpora")
struct ReplayTests {
    private static func inputs(_ corpus: String) throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "corpus/\(corpus)").path
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map {
            Array(try Data(contentsOf: URL(filePath: "\(folder)/\($0)")))
        }
    }

    @Test("messages")
    func messages() throws {
        let inputs = try Self.inputs("message")
        #expect(inputs.count >= 20)
        for input in inputs {
            let fuzzer = MessageFuzzer()
            fuzzer.take(input.span)
        }
    }

    @Test("zone text")
    func zoneText() throws {
        let inputs = try Self.inputs("zonetext")
        #expect(inputs.count >= 10)
        for input in inputs {
            let fuzzer = ZoneTextFuzzer()
            fuzzer.take(input.span)
        }
    }
}
