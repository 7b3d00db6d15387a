import Configuration
import Platform

/// Messages about the daemon's life, on standard error: a line each.
struct Log {
    /// How much a message matters.
    enum Level: String {
        case info
        case warning
        case error
    }

    let format: Configuration.Log.Format

    init(format: Configuration.Log.Format?) {
        self.format = format ?? (StandardStream.error.isTerminal ? .text : .logfmt)
    }

    /// Writes one message, with facts that a program may want to read.
    func write(_ level: Level, _ message: String, _ facts: [(key: String, value: String)] = []) {
        var line: String
        switch format {
        case .text:
            line = level == .info ? "detourd: \(message)" : "detourd: \(level.rawValue): \(message)"
        case .logfmt:
            line = "level=\(level.rawValue) msg=\(Log.quoted(message))"
            for (key, value) in facts {
                let isPlain = value.utf8.allSatisfy {
                    $0 > 0x20 && $0 != 0x22 && $0 != 0x3D && $0 < 0x7F
                }
                line += " \(key)=\(isPlain && !value.isEmpty ? value : Log.quoted(value))"
            }
        case .json:
            line = "{\"level\":\"\(level.rawValue)\",\"msg\":\(Log.quoted(message))"
            for (key, value) in facts { line += ",\"\(key)\":\(Log.quoted(value))" }
            line += "}"
        }
        StandardStream.error.write(line + "\n")
    }

    /// A JSON string; logfmt takes the same.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case let scalar where scalar.value < 0x20 || scalar.value == 0x7F:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
