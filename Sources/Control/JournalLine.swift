import FoundationEssentials

/// One change to the runtime overrides, as a line of the journal: the CRC-32 of the JSON as eight
/// hexadecimal digits, a blank, the JSON.
///
/// The checksum (ISO 3309, as in Ethernet and zip) tells a line that was torn by a crash; it is no
/// protection against somebody who may write the file.
struct JournalLine: Codable, Equatable {
    /// What was set.
    var set: Override?
    /// What is no more.
    var unset: Override.Key?

    init(set override: Override) { set = override }
    init(unset key: Override.Key) { unset = key }

    /// The change that a line without its newline says; nil where it is damaged.
    init?(parsing line: ArraySlice<UInt8>) {
        guard line.count > 9, line[line.startIndex + 8] == UInt8(ascii: " "),
            let sum = UInt32(String(decoding: line.prefix(8), as: UTF8.self), radix: 16)
        else { return nil }
        let json = line.dropFirst(9)
        guard JournalLine.checksum(json) == sum,
            let line = try? JSONDecoder().decode(JournalLine.self, from: Data(json)),
            (line.set == nil) != (line.unset == nil)
        else { return nil }
        self = line
    }

    /// The line with its newline.
    var octets: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers: there is nothing that JSON cannot say.
        let json = (try? encoder.encode(self)).map { Array($0) } ?? []
        let sum = String(JournalLine.checksum(json[...]), radix: 16)
        let digits = String(repeating: "0", count: 8 - sum.count) + sum
        return Array(digits.utf8) + [UInt8(ascii: " ")] + json + [UInt8(ascii: "\n")]
    }

    /// The CRC-32 with the polynomial 0x04C11DB7, reflected.
    static func checksum(_ octets: ArraySlice<UInt8>) -> UInt32 {
        var sum = UInt32.max
        for octet in octets { sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ octet)] }
        return ~sum
    }

    private static let table: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { sum, _ in sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
}
