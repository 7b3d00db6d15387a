// U-labels to A-labels: IDNA 2008 (RFC 5890 to 5892) behind the mapping of RFC 5895.
//
// Mapped first: upper case to lower, full-width forms to ASCII, ideographic full stops to dots,
// then NFC. Checked: the derived property of each code point (RFC 5892, 2 and 3) with its
// contextual rules, hyphens, a leading combining mark, and the Bidi rule (RFC 5893) of labels that
// are written from right to left; not that of the others beside them. An underscore is let through,
// for service labels.

extension Name {
    /// Labels with octets outside ASCII, as UTF-8, among others; escapes are resolved.
    @_lifetime(out: copy out)
    static func scanInternational(
        _ octets: Span<UInt8>,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        let base = out.count
        var label: [UInt8] = []
        var isInternational = false
        var start = 0
        var position = 0
        while position <= octets.count {
            let dot = position < octets.count ? dotSize(octets, at: position) : 1
            if dot > 0 {
                if position < octets.count || !label.isEmpty {
                    if isInternational {
                        guard String(validating: label, as: UTF8.self) != nil else {
                            throw PresentationError(.notUTF8, at: start, length: position - start)
                        }
                        guard let converted = aLabel(of: label) else {
                            throw PresentationError(.notIDNA, at: start, length: position - start)
                        }
                        label = converted
                    }
                    try checkLabel(label.count, from: start, to: position)
                    out.append(UInt8(label.count))
                    out.append(label.span)
                }
                guard out.count - base <= 255 else {
                    throw PresentationError(.nameTooLong, at: 0, length: octets.count)
                }
                position += dot
                (start, isInternational) = (position, false)
                label.removeAll(keepingCapacity: true)
                continue
            }
            let escape = position
            if octets[position] >= 0x80 { isInternational = true }
            guard let octet = unescape(octets, &position) else {
                throw PresentationError(.badEscape, at: escape, length: position - escape)
            }
            label.append(octet)
        }
    }

    /// How many octets the dot at `position` takes: a full stop, or U+3002, U+FF0E or U+FF61.
    static func dotSize(_ octets: Span<UInt8>, at position: Int) -> Int {
        if octets[position] == UInt8(ascii: ".") { return 1 }
        guard octets[position] >= 0xE3 && position + 2 < octets.count else { return 0 }
        switch (octets[position], octets[position + 1], octets[position + 2]) {
        case (0xE3, 0x80, 0x82), (0xEF, 0xBC, 0x8E), (0xEF, 0xBD, 0xA1): return 3
        default: return 0
        }
    }

    /// The A-label of a label in UTF-8, or nil where IDNA 2008 does not allow it.
    static func aLabel(of label: [UInt8]) -> [UInt8]? {
        // A label of 63 octets has no more code points than that.
        guard label.count <= 252 else { return nil }
        var mapped: [Unicode.Scalar] = []
        for scalar in String(decoding: label, as: UTF8.self).unicodeScalars {
            if let narrow = Unicode.Scalar(scalar.value &- 0xFEE0),
                scalar.value >= 0xFF01 && scalar.value <= 0xFF5E
            {
                mapped += narrow.properties.lowercaseMapping.unicodeScalars
            } else {
                mapped += scalar.properties.lowercaseMapping.unicodeScalars
            }
        }
        let scalars = canonicallyComposed(mapped)
        if scalars.allSatisfy(\.isASCII) { return scalars.map { UInt8($0.value) } }
        guard isULabel(scalars), let encoded = punycode(scalars) else { return nil }
        return Array("xn--".utf8) + encoded
    }

    /// Whether code points may be a U-label: RFC 5891, 4.2, an underscore allowed.
    private static func isULabel(_ label: [Unicode.Scalar]) -> Bool {
        guard let first = label.first, let last = label.last, first != "-", last != "-",
            !(label.count >= 4 && label[2] == "-" && label[3] == "-")
        else { return false }
        switch first.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return false
        default: break
        }
        return label.indices.allSatisfy { isAllowed(at: $0, in: label) } && keepsDirection(label)
    }

    /// The Bidi rule (RFC 5893, 2, conditions 1 to 4) where a label has letters or digits that are
    /// written from right to left.
    private static func keepsDirection(_ label: [Unicode.Scalar]) -> Bool {
        let directions = label.map(direction)
        guard directions.contains(where: { $0 == .rightToLeft || $0 == .arabicNumber }) else {
            return true
        }
        let hasBothNumbers = directions.contains(.number) && directions.contains(.arabicNumber)
        let end = directions.last { $0 != .mark }
        return directions.first == .rightToLeft && !directions.contains(.leftToRight)
            && !hasBothNumbers && end != .neutral
    }

    /// Bidirectional classes, as far as the Bidi rule tells them apart in what a label may have.
    private enum Direction {
        case leftToRight, rightToLeft, number, arabicNumber, mark, neutral
    }

    private static func direction(of scalar: Unicode.Scalar) -> Direction {
        switch scalar.value {
        case 0x2D, 0x5F: return .neutral
        case 0x30...0x39, 0x6F0...0x6F9: return .number
        case 0x660...0x669, 0x10D30...0x10D39: return .arabicNumber
        default: break
        }
        if scalar.properties.generalCategory == .nonspacingMark { return .mark }
        switch scalar.value {
        // Hebrew to Arabic Extended-A, their presentation forms, and the planes' blocks for such.
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF,
            0x1E800...0x1EFFF:
            return .rightToLeft
        default: return .leftToRight
        }
    }

    /// The derived property of RFC 5892: PVALID, or CONTEXTJ and CONTEXTO where their rule holds.
    private static func isAllowed(at index: Int, in label: [Unicode.Scalar]) -> Bool {
        let scalar = label[index]
        let before = index > 0 ? label[index - 1] : nil
        let behind = index + 1 < label.count ? label[index + 1] : nil
        switch scalar.value {
        case 0x2D, 0x30...0x39, 0x5F, 0x61...0x7A: return true
        case 0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007: return true
        case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: return false
        case 0x200C, 0x200D:  // Joiners: behind a virama.
            return before?.properties.canonicalCombiningClass == .virama
        case 0xB7: return before == "l" && behind == "l"
        case 0x375: return behind.map { (0x370...0x3FF).contains($0.value) } ?? false
        case 0x5F3, 0x5F4: return before.map { (0x590...0x5FF).contains($0.value) } ?? false
        case 0x30FB:  // The Katakana middle dot needs a kana or a Han character in the label.
            return label.contains {
                (0x3041...0x3096).contains($0.value) || (0x30A1...0x30FA).contains($0.value)
                    || $0.properties.isIdeographic
            }
        case 0x660...0x669: return !label.contains { (0x6F0...0x6F9).contains($0.value) }
        case 0x6F0...0x6F9: return !label.contains { (0x660...0x669).contains($0.value) }
        case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: return false  // Old Hangul.
        default: break
        }
        let properties = scalar.properties
        guard scalar.value >= 0x80, !properties.changesWhenNFKCCaseFolded,
            !properties.isDefaultIgnorableCodePoint, !properties.isNoncharacterCodePoint
        else { return false }
        switch properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .otherLetter, .modifierLetter, .decimalNumber,
            .nonspacingMark, .spacingMark:
            return true
        default: return false
        }
    }

    /// Normalization Form C of letters and the combining marks behind them.
    ///
    /// The standard library compares by canonical equivalence but does not give the normal form, so
    /// a letter and a mark are looked up as a string: the key that is equal is the composed letter.
    /// Covers Latin, Greek, Cyrillic, Kana and Hangul; letters that NFC takes apart (U+0958 and its
    /// like) stay, and are refused later.
    private static func canonicallyComposed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var composed: [Unicode.Scalar] = []
        // The last letter, and the class of the last mark behind it that stays.
        var starter: Int?
        var blocking: UInt8 = 0
        for scalar in canonicallyOrdered(scalars) {
            let rank = scalar.properties.canonicalCombiningClass.rawValue
            if let place = starter, blocking == 0 || blocking < rank,
                let pair = composition(of: composed[place], scalar)
            {
                composed[place] = pair
                continue
            }
            if rank == 0 { starter = composed.count }
            blocking = rank
            composed.append(scalar)
        }
        return composed
    }

    /// Marks behind a letter sorted by their class.
    private static func canonicallyOrdered(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var ordered: [Unicode.Scalar] = []
        for scalar in scalars {
            let rank = scalar.properties.canonicalCombiningClass.rawValue
            var place = ordered.count
            while rank > 0, place > 0,
                ordered[place - 1].properties.canonicalCombiningClass.rawValue > rank
            {
                place -= 1
            }
            // Greek letters with oxia are the ones with tonos.
            let isGreek = (0x1F71...0x1FFD).contains(scalar.value)
            let same = isGreek ? letters[String(Character(scalar))] : nil
            ordered.insert(same ?? scalar, at: place)
        }
        return ordered
    }

    private static func composition(
        of first: Unicode.Scalar,
        _ second: Unicode.Scalar
    ) -> Unicode.Scalar? {
        // Hangul is arithmetic (Unicode, 3.12): a leading consonant and a vowel, then a trailing one.
        if (0x1100...0x1112).contains(first.value) && (0x1161...0x1175).contains(second.value) {
            let index = (first.value - 0x1100) * 21 + second.value - 0x1161
            return Unicode.Scalar(0xAC00 + index * 28)
        }
        if (0xAC00...0xD7A3).contains(first.value) && (first.value - 0xAC00).isMultiple(of: 28)
            && (0x11A8...0x11C2).contains(second.value)
        {
            return Unicode.Scalar(first.value + second.value - 0x11A7)
        }
        guard second.properties.canonicalCombiningClass != .notReordered else { return nil }
        return letters[String(String.UnicodeScalarView([first, second]))]
    }

    /// Composed letters by themselves: the keys' equality is canonical equivalence.
    private static let letters: [String: Unicode.Scalar] = {
        let blocks: [ClosedRange<UInt32>] = [
            0xC0...0x233, 0x386...0x3D4, 0x400...0x4F9, 0x304C...0x30FE, 0x1E00...0x1FFC,
        ]
        var letters: [String: Unicode.Scalar] = [:]
        for scalar in blocks.joined().lazy.compactMap(Unicode.Scalar.init) {
            let key = String(Character(scalar))
            // Of equal letters the first one is the normal form: tonos comes before oxia.
            if letters[key] == nil { letters[key] = scalar }
        }
        return letters
    }()
}

/// The digits and hyphens that stand for a label (RFC 3492), or nil over 59 octets.
func punycode(_ label: [Unicode.Scalar]) -> [UInt8]? {
    // RFC 3492, 5: base 36, tmin 1, tmax 26, skew 38, damp 700, initial bias 72 and n 128.
    var output = label.filter(\.isASCII).map { UInt8($0.value) }
    let basic = output.count
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    var handled = basic
    var n: UInt32 = 128
    var delta: UInt32 = 0
    var bias: UInt32 = 72
    while handled < label.count {
        let next = label.lazy.map(\.value).filter { $0 >= n }.min() ?? n
        let (step, overflow) = (next - n).multipliedReportingOverflow(by: UInt32(handled + 1))
        guard !overflow, step <= UInt32.max / 2 - delta else { return nil }
        delta += step
        n = next
        for scalar in label {
            if scalar.value < n { delta += 1 }
            guard scalar.value == n else { continue }
            var q = delta
            var k: UInt32 = 36
            while true {
                let threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias
                guard q >= threshold else { break }
                output.append(digit(threshold + (q - threshold) % (36 - threshold)))
                q = (q - threshold) / (36 - threshold)
                k += 36
            }
            output.append(digit(q))
            bias = adapted(delta, points: UInt32(handled + 1), isFirst: handled == basic)
            delta = 0
            handled += 1
            guard output.count <= 59 else { return nil }
        }
        delta += 1
        n += 1
    }
    return output
}

private func digit(_ value: UInt32) -> UInt8 {
    UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
}

private func adapted(_ delta: UInt32, points: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / points
    var k: UInt32 = 0
    while delta > 455 {
        delta /= 35
        k += 36
    }
    return k + 36 * delta / (delta + 38)
}
