import DNS

// $GENERATE start-stop[/step] owner [ttl] [class] type data, with `$` and `${offset,width,base}`.

extension MasterFileScanner {
    /// Reads the records that a range makes out of a template: the rest of the line.
    mutating func generate<Sink: RecordSink & ~Copyable>(
        _ scanner: inout TextScanner,
        from entry: TextScanner,
        file: UInt16,
        including reader: Reader,
        into sink: inout Sink
    ) throws(PresentationError) {
        guard let first = try scanner.next() else {
            return add(.incompleteDirective, from: entry, file, at: scanner.position)
        }
        guard let range = GeneratorRange(scanner.octets(of: first)) else {
            let length = first.end - first.start
            add(.badRange, from: entry, file, at: first.start, length)
            while try scanner.next() != nil {}
            return
        }
        var template: [UInt8] = []
        var start: Int?
        while let token = try scanner.next() {
            start = start ?? token.start
            if !template.isEmpty { template.append(UInt8(ascii: " ")) }
            // Data of several fields stand between quotes here; a string keeps its quotes.
            let isString = token.isQuoted && scanner.isStringField(behind: template)
            if isString { template.append(UInt8(ascii: "\"")) }
            template += scanner.octets(of: token).array
            if isString { template.append(UInt8(ascii: "\"")) }
        }
        guard let start else {
            return add(.incompleteDirective, from: entry, file, at: scanner.position)
        }
        // Bounded in octets too: a long template would make gigabytes.
        guard range.count <= settings.maximumGenerated - generatedCount,
            range.count * template.count <= 1 << 28
        else {
            return add(.tooManyGenerated, from: entry, file, at: first.start)
        }
        generatedCount += range.count
        let place = ZoneFileError(
            .badModifier,
            file: report.files[Int(file)],
            line: entry.line,
            text: entry.text,
            at: start,
            length: 0
        )
        var line: [UInt8] = []
        for value in stride(from: range.start, through: range.stop, by: range.step) {
            line.removeAll(keepingCapacity: true)
            guard appendGenerated(template, value, to: &line) else {
                return add(.badModifier, from: entry, file, at: start, scanner.position - start)
            }
            generator = place
            var generated = TextScanner(line.span)
            do {
                try scanEntry(
                    &generated,
                    from: TextScanner(line.span),
                    file: file,
                    including: reader,
                    into: &sink
                )
            } catch {
                add(
                    .presentation(error.kind),
                    from: TextScanner(line.span),
                    file,
                    at: error.offset,
                    error.length
                )
            }
            generator = nil
        }
    }
}

/// `start-stop` or `start-stop/step`.
struct GeneratorRange: Equatable {
    let start: Int
    let stop: Int
    let step: Int

    /// How many numbers there are.
    var count: Int { (stop - start) / step + 1 }

    /// The range that `text` spells; nil where it is none or runs downwards.
    init?(_ text: Span<UInt8>) {
        var octets = text.array[...]
        var step = 1
        if let slash = octets.firstIndex(of: UInt8(ascii: "/")) {
            guard let number = GeneratorRange.number(octets[(slash + 1)...]), number > 0 else {
                return nil
            }
            step = number
            octets = octets[..<slash]
        }
        guard let hyphen = octets.firstIndex(of: UInt8(ascii: "-")),
            let start = GeneratorRange.number(octets[..<hyphen]),
            let stop = GeneratorRange.number(octets[(hyphen + 1)...]), start <= stop
        else { return nil }
        (self.start, self.stop, self.step) = (start, stop, step)
    }

    /// A number up to 2^31 - 1.
    static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty && digits.count <= 10 else { return nil }
        var value = 0
        for digit in digits {
            guard digit &- 0x30 < 10 else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        return value <= 0x7FFF_FFFF ? value : nil
    }
}

/// Appends a template with a number in place of each `$`; `\$` and `$$` stay a dollar sign.
private func appendGenerated(_ template: [UInt8], _ value: Int, to line: inout [UInt8]) -> Bool {
    var position = 0
    while position < template.count {
        let octet = template[position]
        let next = position + 1 < template.count ? template[position + 1] : 0
        position += 1
        if octet == UInt8(ascii: "\\") {
            if next == UInt8(ascii: "$") {
                // A dollar sign in front of a record would be a directive; its code is not.
                line += "\\036".utf8
            } else {
                line.append(octet)
                if position < template.count { line.append(next) }
            }
            position += 1
        } else if octet != UInt8(ascii: "$") {
            line.append(octet)
        } else if next == UInt8(ascii: "$") {
            line += "\\036".utf8
            position += 1
        } else if next == UInt8(ascii: "{") {
            guard let end = template[position...].firstIndex(of: UInt8(ascii: "}")),
                let modifier = GeneratorModifier(template[(position + 1)..<end])
            else { return false }
            modifier.append(value, to: &line)
            position = end + 1
        } else {
            line += String(value).utf8
        }
        guard line.count <= 65_536 else { return false }
    }
    return true
}

/// `offset[,width[,base]]`: what is added, the least number of digits, and d, o, x, X, n or N.
private struct GeneratorModifier {
    var offset = 0
    var width = 0
    var base = UInt8(ascii: "d")

    init?(_ text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count >= 1 && parts.count <= 3 else { return nil }
        let isNegative = parts[0].first == UInt8(ascii: "-")
        guard let number = GeneratorRange.number(isNegative ? parts[0].dropFirst() : parts[0])
        else { return nil }
        offset = isNegative ? -number : number
        if parts.count > 1 {
            guard let number = GeneratorRange.number(parts[1]), number <= 255 else { return nil }
            width = number
        }
        if parts.count > 2 {
            guard parts[2].count == 1, let letter = parts[2].first, "doxXnN".utf8.contains(letter)
            else { return nil }
            base = letter
        }
    }

    func append(_ value: Int, to line: inout [UInt8]) {
        let value = value + offset
        let isUpper = base == UInt8(ascii: "X") || base == UInt8(ascii: "N")
        if base | 0x20 == UInt8(ascii: "n") {
            // Hexadecimal digits from the last to the first, each a label: the width counts the dots.
            var rest = UInt32(truncatingIfNeeded: value)
            var room = width
            repeat {
                line += String(rest & 15, radix: 16, uppercase: isUpper).utf8
                rest >>= 4
                room -= 1
                if rest != 0 || room > 0 {
                    line.append(UInt8(ascii: "."))
                    room -= 1
                }
            } while rest != 0 || room > 0
            return
        }
        let radix = base == UInt8(ascii: "d") ? 10 : base == UInt8(ascii: "o") ? 8 : 16
        let digits = String(value.magnitude, radix: radix, uppercase: isUpper)
        if value < 0 { line.append(UInt8(ascii: "-")) }
        let room = width - digits.utf8.count - (value < 0 ? 1 : 0)
        for _ in 0..<max(room, 0) { line.append(UInt8(ascii: "0")) }
        line += digits.utf8
    }
}

extension TextScanner {
    /// Whether a template that was read so far names a type whose data are strings.
    fileprivate func isStringField(behind template: [UInt8]) -> Bool {
        for word in template.split(separator: UInt8(ascii: " ")).dropFirst() {
            if let type = RecordType(scanning: Array(word).span), RData.startsWithString(type) {
                return true
            }
        }
        return false
    }
}

extension ZoneFileError {
    /// The same place with what is wrong in a line that was generated there.
    func with(
        _ kind: Kind,
        _ severity: Severity,
        text: Span<UInt8>,
        at offset: Int,
        _ length: Int
    ) -> ZoneFileError {
        let generated = ZoneFileError(
            kind,
            severity,
            file: file,
            line: line,
            text: text,
            at: offset,
            length: length
        )
        return ZoneFileError(self, kind, severity, token: generated.token)
    }
}
