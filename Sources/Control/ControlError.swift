/// Why a request was not done: a sentence for people, and what sort of thing for programs.
public struct ControlError: Error, Codable, Equatable, Sendable {
    /// What sort of thing went wrong.
    public enum Kind: String, Codable, Sendable {
        /// The request cannot be understood.
        case malformed
        /// The request can be understood, and what it asks for makes no sense.
        case invalid
        /// Whoever asks may not.
        case notPermitted
        /// What it is about is not there.
        case notFound
        /// The journal cannot be written; nothing was changed.
        case storage
        /// The daemon cannot be reached, or has too much to do.
        case unavailable
    }

    /// What sort of thing went wrong.
    public var kind: Kind
    /// What went wrong and what to do about it, without a dot at the end.
    public var sentence: String
    /// What was found in files, each as `file:line:column: error: …`.
    public var findings: [String]?

    /// An error.
    public init(_ kind: Kind, _ sentence: String, findings: [String]? = nil) {
        self.kind = kind
        self.sentence = sentence
        self.findings = findings
    }
}
