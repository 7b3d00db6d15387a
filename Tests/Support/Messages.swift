/// Messages as tests write and read them: whole, in arrays, without compression.
package enum Messages {
    /// A query for an address of `name`, which has no dot at its end.
    package static func query(_ name: String, id: UInt16, type: UInt16 = 1) -> [UInt8] {
        var octets: [UInt8] = [UInt8(id >> 8), UInt8(id & 0xFF), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in name.split(separator: ".") {
            octets.append(UInt8(label.utf8.count))
            octets += label.utf8
        }
        return octets + [0, UInt8(type >> 8), UInt8(type & 0xFF), 0, 1]
    }

    /// A message behind its length in 16 bits.
    package static func framed(_ message: [UInt8]) -> [UInt8] {
        [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
    }

    package static func id(_ message: [UInt8]) -> UInt16 {
        UInt16(message[0]) << 8 | UInt16(message[1])
    }

    /// The question's name, in lower case.
    package static func name(_ message: [UInt8]) -> String {
        var labels: [String] = []
        var position = 12
        while position < message.count, message[position] > 0 {
            let end = position + 1 + Int(message[position])
            guard end < message.count else { return "" }
            labels.append(String(decoding: message[(position + 1)..<end], as: UTF8.self))
            position = end
        }
        return labels.joined(separator: ".").lowercased()
    }

    /// The last four octets as an address: the RDATA of a response with one A record and no OPT.
    package static func address(_ message: [UInt8]) -> String {
        message.suffix(4).map { String($0) }.joined(separator: ".")
    }

    package static func responseCode(_ message: [UInt8]) -> UInt8 { message[3] & 0x0F }

    /// What a query's upstream answers: its own question and one address.
    package static func answer(to query: [UInt8], address: [UInt8], isTruncated: Bool = false)
        -> [UInt8]
    {
        var end = 12
        while query[end] > 0 { end += 1 + Int(query[end]) }
        end += 5
        var octets = Array(query[..<end])
        octets[2] = isTruncated ? 0x83 : 0x81
        octets[3] = 0x80
        octets[6] = 0
        octets[7] = isTruncated ? 0 : 1
        for index in 8..<12 { octets[index] = 0 }
        return isTruncated
            ? octets : octets + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + address
    }
}
