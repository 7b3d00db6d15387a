/// A value of a JSON5 document, and where it stands: what is wrong with it can be shown in its place.
struct JSONNode {
    /// From 1.
    let line: Int
    /// From 1, in characters.
    let column: Int
    let value: Value

    enum Value {
        case null
        case bool(Bool)
        /// The number, and how it was written.
        case number(Double, String)
        case string(String)
        case array([JSONNode])
        case object([Member])
    }

    /// A key of an object with its value; keys may not stand twice, which the decoder checks.
    struct Member {
        let key: String
        let line: Int
        let column: Int
        let value: JSONNode
    }

    /// How a message calls the value.
    var summary: String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(_, let text): text
        case .string(let text):
            text.unicodeScalars.count > 60 ? "\"\(text.prefix(60))…\"" : "\"\(text)\""
        case .array: "a list"
        case .object: "an object"
        }
    }
}
