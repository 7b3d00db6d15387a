public import Configuration
import Platform
import Synchronization

/// Messages about the daemon's life, on standard error: a line each. The last ones are kept.
public final class Log: Sendable {
    /// How much a message matters.
    public enum Level: String, Sendable {
        /// It is good to know.
        case info
        /// Something is not as it should be.
        case warning
        /// Something was not done.
        case error
    }

    /// How a line looks.
    public let format: Configuration.Log.Format
    private let kept = Mutex<(lines: [String], count: Int)>(([], 0))
    private static let mostKept = 200

    /// A log in a format; nil: text on a terminal, logfmt elsewhere.
    public init(format: Configuration.Log.Format?) {
        self.format = format ?? (StandardStream.error.isTerminal ? .text : .logfmt)
    }

    /// Writes one message, with facts that a program may want to read.
    public func write(
        _ level: Level,
        _ message: String,
        _ facts: [(key: String, value: String)] = []
    ) {
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
        writeLine(line)
    }

    /// Writes a line that is complete as it is.
    public func writeLine(_ line: String) {
        StandardStream.error.write(line + "\n")
        kept.withLock { kept in
            kept.lines.append(line)
            kept.count += 1
            if kept.lines.count > Log.mostKept { kept.lines.removeFirst() }
        }
    }

    /// The lines from number `first` on, as far as they are kept, and the number of the next one.
    func lines(from first: Int) -> (lines: [String], next: Int) {
        kept.withLock { kept in
            (Array(kept.lines.suffix(max(0, kept.count - first))), kept.count)
        }
    }

    /// A JSON string; logfmt takes the same.
    public static func quoted(_ text: String) -> String {
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
