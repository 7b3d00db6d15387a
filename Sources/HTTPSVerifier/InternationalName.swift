/// Internationalised names: U-labels become A-labels (RFC 5890, RFC 3492).
///
/// Only lower-casing stands in for the mapping of UTS 46: an override is written by the person who
/// also writes the certificate, and a name that needs more is refused by the name check.
enum InternationalName {
    /// The name with each label in ASCII, or nil where a label does not fit.
    static func asciiForm(of name: String) -> String? {
        var labels: [String] = []
        let separators: Set<Character> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]
        for label in name.split(
            omittingEmptySubsequences: false,
            whereSeparator: separators.contains
        ) {
            if label.utf8.allSatisfy({ $0 < 0x80 }) {
                labels.append(String(label))
                continue
            }
            guard let encoded = punycode(label.lowercased().unicodeScalars.map(\.value)),
                encoded.utf8.count <= 59
            else { return nil }
            labels.append("xn--" + encoded)
        }
        return labels.joined(separator: ".")
    }

    /// RFC 3492, 6.3, with the parameters of its section 5.
    private static func punycode(_ scalars: [UInt32]) -> String? {
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        var handled = output.count
        let basic = handled
        if basic > 0 { output.append(0x2D) }
        var next: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < scalars.count {
            guard let least = scalars.filter({ $0 >= next }).min() else { return nil }
            let (step, overflow) = (least - next).multipliedReportingOverflow(
                by: UInt32(handled + 1)
            )
            let (sum, overflows) = delta.addingReportingOverflow(step)
            if overflow || overflows { return nil }
            delta = sum
            next = least
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                var rest = delta
                var position: UInt32 = 36
                while true {
                    let threshold =
                        position <= bias ? 1 : position >= bias + 26 ? 26 : position - bias
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
                    rest = (rest - threshold) / (36 - threshold)
                    position += 36
                }
                output.append(digit(rest))
                bias = adapted(delta, UInt32(handled + 1), isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias: UInt32 = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}
