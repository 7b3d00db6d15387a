import Control

/// A JSON document to print: members keep their order, so that reports can be compared.
indirect enum JSONText {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSONText])
    case object([(String, JSONText)])

    /// The document over several lines.
    var text: String { text(indent: "") }

    private func text(indent: String) -> String {
        let deeper = indent + "  "
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let value): return String(value)
        case .string(let text): return Log.quoted(text)
        case .array(let elements):
            guard !elements.isEmpty else { return "[]" }
            let lines = elements.map { deeper + $0.text(indent: deeper) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            let lines = members.map {
                deeper + Log.quoted($0.0) + ": " + $0.1.text(indent: deeper)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }
}
