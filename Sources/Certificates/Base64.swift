// Base64 (RFC 4648, 4), strict inside: what is not its alphabet or its length is refused.

private let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
)

private let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
}()

/// Octets as base64 with padding.
public func base64(_ octets: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((octets.count + 2) / 3 * 4)
    for start in stride(from: 0, to: octets.count, by: 3) {
        let group = octets[start..<min(start + 3, octets.count)]
        let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32((3 - group.count) * 8)
        for index in 0..<4 {
            text.append(
                index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)] : 0x3D
            )
        }
    }
    return String(decoding: text, as: UTF8.self)
}

/// The octets that base64 stands for; nil where it is not base64. White space is not skipped.
public func octets(base64 text: some Collection<UInt8>) -> [UInt8]? {
    octets(Array(text))
}

private func octets(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    var octets: [UInt8] = []
    octets.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var digits = 0
    var padding = 0
    for character in text {
        if character == 0x3D {
            padding += 1
        } else {
            let value = values[Int(character)]
            guard value < 64, padding == 0 else { return nil }
            bits |= UInt32(value) << UInt32(18 - 6 * digits)
        }
        digits += 1
        if digits == 4 {
            octets += [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
            bits = 0
            digits = 0
        }
    }
    guard padding <= 2 else { return nil }
    octets.removeLast(padding)
    return octets
}
