import Glibc

/// The lines of a golden file that are neither empty nor a comment.
public func goldenLines(_ name: String, file: String = #filePath) -> [String] {
    var parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    parts.append("Golden")
    parts.append(name[...])
    guard let text = readFile(parts.joined(separator: "/")) else { return [] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        .filter { !$0.hasPrefix("#") }
}

/// The octets of a file, or nil where it cannot be read.
public func readFile(_ path: String) -> [UInt8]? {
    // Safe: the string outlives the call.
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var octets: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        // Safe: the call fills no more than the buffer's own count.
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe read(descriptor, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return count == 0 ? octets : nil }
        octets += buffer[..<count]
    }
}

/// The octets that hexadecimal digits spell, blanks apart.
public func octets(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}

/// Hexadecimal digits in lower case.
public func hex(_ octets: [UInt8]) -> String {
    octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
