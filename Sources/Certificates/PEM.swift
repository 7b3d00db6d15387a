/// Textual encodings (RFC 7468): tolerant outside of blocks, strict inside.
public enum PEM {
    /// One block between BEGIN and END.
    public struct Block: Sendable {
        /// What BEGIN names.
        public let label: String
        /// The line of BEGIN, from 1.
        public let line: Int
        /// The octets, or nil where the block is broken.
        public let content: [UInt8]?
        /// Why it is broken; empty where it is not.
        public let fault: String
    }

    /// Whether there is a line that begins a block.
    public static func isPEM(_ text: [UInt8]) -> Bool {
        lines(of: text).contains { label(of: $0, after: "-----BEGIN ") != nil }
    }

    /// All blocks in their order. A byte order mark, CR, comments and headers do no harm.
    public static func blocks(in text: [UInt8]) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, line: Int)?
        var body: [UInt8] = []
        var inHeaders = false
        func close(_ fault: String) {
            guard let begun = open else { return }
            let content = fault.isEmpty ? octets(base64: body) : nil
            let isBroken = content == nil || content?.isEmpty == true
            blocks.append(
                Block(
                    label: begun.label,
                    line: begun.line,
                    content: isBroken ? nil : content,
                    fault: isBroken ? (fault.isEmpty ? "its base64 is not valid" : fault) : ""
                )
            )
            open = nil
            body = []
        }
        for (index, line) in lines(of: text).enumerated() {
            if let begun = label(of: line, after: "-----BEGIN ") {
                close("another block begins before its end")
                open = (begun, index + 1)
                inHeaders = false
            } else if let ended = label(of: line, after: "-----END ") {
                close(ended == open?.label ? "" : "its END names \(ended)")
            } else if open != nil {
                // RFC 1421 headers: `Proc-Type: 4,ENCRYPTED`, continued by indented lines.
                if body.isEmpty, line.contains(0x3A) { inHeaders = true }
                if inHeaders, !line.isEmpty { continue }
                inHeaders = false
                body += line.filter { $0 != 0x20 && $0 != 0x09 }
            }
        }
        close("it has no END")
        return blocks
    }

    /// A block of a label around octets, lines of 64 characters.
    public static func text(_ octets: [UInt8], label: String = "CERTIFICATE") -> String {
        let body = Array(base64(octets).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: body.count, by: 64) {
            text +=
                String(decoding: body[start..<min(start + 64, body.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }

    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        let start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        // CR LF, LF and CR alone all end a line.
        var lines: [ArraySlice<UInt8>] = []
        var lineStart = start
        var index = start
        while index < text.count {
            if text[index] == 0x0A || text[index] == 0x0D {
                lines.append(text[lineStart..<index])
                if text[index] == 0x0D, index + 1 < text.count, text[index + 1] == 0x0A {
                    index += 1
                }
                lineStart = index + 1
            }
            index += 1
        }
        if lineStart < text.count { lines.append(text[lineStart...]) }
        return lines
    }

    private static func label(of line: ArraySlice<UInt8>, after prefix: String) -> String? {
        var trimmed = line.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = trimmed.last, last == 0x20 || last == 0x09 { trimmed.removeLast() }
        let dashes = Array("-----".utf8)
        guard trimmed.starts(with: Array(prefix.utf8)), trimmed.suffix(5).elementsEqual(dashes),
            trimmed.count > prefix.utf8.count + 5
        else { return nil }
        return String(
            decoding: trimmed.dropFirst(prefix.utf8.count).dropLast(5),
            as: UTF8.self
        )
    }
}
