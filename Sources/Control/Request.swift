import FoundationEssentials

/// What is asked of the daemon: one JSON object a line.
public struct Request: Codable, Equatable, Sendable {
    /// What to do.
    public enum Command: String, Codable, CaseIterable, Sendable {
        /// Tell how things are.
        case status
        /// Read configuration and zones again.
        case reload
        /// Tell what was set at run time.
        case list
        /// Set an override.
        case set
        /// Take overrides away.
        case unset
        /// Forget cached answers.
        case flush
        /// Tell what the daemon has logged, and what it logs.
        case log
        /// Tell why a name is answered as it is.
        case explain
    }

    /// What to do.
    public var command: Command
    /// `set`, `unset`, `flush`, `explain`: the name that it is about.
    public var name: String?
    /// `set`, `unset`, `explain`: the type.
    public var type: String?
    /// `set`: the records' data, in presentation format.
    public var records: [String]?
    /// `set`: the TTL, in seconds.
    public var ttl: UInt32?
    /// `set`: after how many seconds it ends by itself.
    public var lifetime: UInt32?
    /// `set`, `unset`: the view; nil: the base. `explain`: a view whose client asks.
    public var view: String?
    /// `set`: what `list` shows beside it.
    public var note: String?
    /// `flush`: also all names below the name.
    public var tree: Bool?
    /// `log`: go on until the connection is closed, with queries.
    public var follow: Bool?
    /// `explain`: the address of who asks; nil: loopback, or one of the view's.
    public var client: String?
    /// `explain`: the address of ours that is asked; nil: loopback, or one of the view's.
    public var server: String?
    /// `explain`: over TCP.
    public var stream: Bool?

    /// A request without particulars.
    public init(_ command: Command) { self.command = command }

    /// The longest line that is read, in octets: the data of one record fit with escapes.
    public static let longestLine = 1 << 18

    /// The request of a line without its newline; throws a sentence about what is wrong.
    public init(parsing line: [UInt8]) throws(ControlError) {
        do {
            self = try JSONDecoder().decode(Request.self, from: Data(line))
        } catch DecodingError.keyNotFound(let key, _) {
            throw ControlError(.malformed, "the key \(key.stringValue) is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(
            _,
            let context
        )
        {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw ControlError(
                .malformed,
                path.isEmpty ? "a request is a JSON object" : "\(path) has a value of another type"
            )
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            let commands = Command.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.malformed, "there is no such command; there are \(commands)")
        } catch {
            throw ControlError(.malformed, "the line is not a JSON object")
        }
        if let note, note.utf8.count > 1024 {
            throw ControlError(.malformed, "the note is longer than 1024 octets")
        }
    }
}

/// What the daemon says to a request: what was asked for, or why not. One JSON object a line.
public struct Reply<Result: Codable & Sendable>: Codable, Sendable {
    /// What was asked for.
    public var result: Result?
    /// Why it was not done.
    public var error: ControlError?

    /// A reply with what was asked for.
    public init(_ result: Result) { self.result = result }
    /// A reply that says why it was not done.
    public init(_ error: ControlError) { self.error = error }
}

/// Lines of the protocol.
public enum ControlLine {
    /// A value as one line with its newline.
    public static func octets(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(value) else { return Array("{}\n".utf8) }
        return Array(json) + [UInt8(ascii: "\n")]
    }

    /// The value that a line says; nil where it says something else.
    public static func value<Value: Decodable>(_ type: Value.Type, of line: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(line))
    }
}
