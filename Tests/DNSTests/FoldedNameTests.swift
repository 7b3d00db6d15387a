import DNS
import Testing

@Suite("Folded names")
struct FoldedNameTests {
    private static func wire(_ labels: [[UInt8]]) -> [UInt8] {
        labels.flatMap { [UInt8($0.count)] + $0 } + [0]
    }

    /// All octets as labels of all lengths, so that words end everywhere.
    private static let names: [[[UInt8]]] = [
        [],
        [Array("WWW".utf8), Array("Example".utf8), Array("TEST".utf8)],
        [Array(0x00...0x3E), Array(0x3F...0x7D), Array(0x7E...0xBC)],
        [Array(0xBD...0xFB), Array(0xFC...0xFF) + Array("@AZ[`az{".utf8)],
        Array(repeating: [UInt8(ascii: "Q")], count: 127),
    ]

    @Test("ASCII capitals become small, and nothing else", arguments: names)
    func folds(labels: [[UInt8]]) throws {
        let folded = labels.map { $0.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
        for prefix in [0, 12] {
            for suffix in [0, 3, 4, 9] {
                let wire = Self.wire(labels)
                let message =
                    Array(repeating: 0x58, count: prefix) + wire
                    + Array(repeating: 0x58, count: suffix)
                var name = FoldedName()
                let end = try name.read(from: message.span, at: prefix)
                #expect(end == prefix + wire.count)
                var compressed = FoldedName()
                let compressedEnd = try compressed.readCompressed(from: message.span, at: prefix)
                #expect(compressedEnd == end)
                var octets: [UInt8] = []
                name.appendSuffix(fromLabel: 0, to: &octets)
                #expect(octets == Self.wire(folded))
                octets = []
                compressed.appendSuffix(fromLabel: 0, to: &octets)
                #expect(octets == Self.wire(folded))
                for label in labels.indices {
                    octets = []
                    compressed.appendSuffix(fromLabel: label, to: &octets)
                    #expect(octets == Self.wire(Array(folded[label...])))
                }
                let (count, labelCount) = (compressed.count, compressed.labelCount)
                #expect(count == wire.count && labelCount == labels.count)
                // Two names that are the same have the same hash, whatever was there before.
                let hash = name.hash(fromLabel: 0, seed: 7)
                name.assign(compressed)
                let again = name.hash(fromLabel: 0, seed: 7)
                #expect(hash == again)
            }
        }
    }
}

@Suite("Words of octets")
struct WordTests {
    @Test("octets behind the end count as zeros")
    func padding() {
        let octets: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        for offset in 0...12 {
            let word = octets.span.paddedWord(at: offset)
            for index in 0..<8 {
                let octet = UInt8(truncatingIfNeeded: UInt64(littleEndian: word) >> (8 * index))
                #expect(octet == (offset + index < 9 ? octets[offset + index] : 0))
            }
        }
    }

    @Test("octets of a range are told from all others, beside any neighbours")
    func ranges() {
        for octet in UInt8.min...UInt8.max {
            for place in 0..<8 {
                for fill in [0, 0x7F, 0x80, 0xFF] as [UInt64] {
                    var word = fill &* 0x0101_0101_0101_0101
                    word &= ~(0xFF << UInt64(8 * place))
                    word |= UInt64(octet) << UInt64(8 * place)
                    let isSmall = word.octets(from: UInt8(ascii: "a"), through: UInt8(ascii: "z"))
                    let expected: UInt64 = (0x61...0x7A).contains(octet) ? 0x80 : 0
                    #expect(isSmall == expected << UInt64(8 * place))
                }
            }
        }
    }
}
