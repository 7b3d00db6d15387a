// Certificates and responses hold whatever their makers like: terminal sequences, bidirectional
// controls, ten thousand names. Everything of theirs passes through here before it is shown.

/// Text on one line without control characters, at most `limit` characters long.
///
/// Controls, line separators, bidirectional controls and noncharacters appear as `\u{1B}`. What is
/// longer ends in `… (truncated)`.
public func shown(_ text: String, limit: Int = 400) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == limit { return result + "… (truncated)" }
        count += 1
        if isHarmless(scalar) {
            result.unicodeScalars.append(scalar)
        } else {
            result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }
    return result
}

private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: false
    case 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: false
    case 0xFFF9...0xFFFF: scalar.value == 0xFFFD
    case let value: value & 0xFFFE != 0xFFFE
    }
}

/// Text for XML and HTML, in elements and in attributes.
func markup(_ text: String, limit: Int = 400) -> String {
    var result = ""
    for character in shown(text, limit: limit).unicodeScalars {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "'": result += "&#39;"
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}

/// A number of seconds with three decimals and a point, whatever the locale.
func decimalSeconds(_ seconds: Double) -> String {
    let thousandths = Int((max(0, seconds) * 1_000).rounded())
    let rest = String(thousandths % 1_000)
    return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
}
