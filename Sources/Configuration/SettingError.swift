/// What is wrong with one setting: its place in the file, its path in the document, and a sentence.
public struct SettingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The configuration file, as it was given.
    public let file: String
    /// The line, from 1; 0 where the file as a whole is meant.
    public let line: Int
    /// The column, from 1, in characters; 0 where the file as a whole is meant.
    public let column: Int
    /// The setting, as in `views[0].clients[1]`; empty for the document itself.
    public let path: String
    /// What was found and what is allowed.
    public let sentence: String

    /// An error about a setting; without line and column it is about the file as a whole.
    public init(file: String, line: Int = 0, column: Int = 0, path: String = "", sentence: String) {
        self.file = file
        self.line = line
        self.column = column
        self.path = path
        self.sentence = sentence
    }

    /// `detour.json5:4:12: error: views[0].clients[1]: …`.
    public var description: String {
        let place = line > 0 ? "\(file):\(line):\(column)" : file
        return path.isEmpty
            ? "\(place): error: \(sentence)" : "\(place): error: \(path): \(sentence)"
    }
}

/// A configuration that cannot be taken, with all that is wrong with it.
public struct RejectedConfiguration: Error, Equatable, Sendable {
    /// At least one, in the order of the file.
    public let errors: [SettingError]

    /// A rejection for reasons.
    public init(errors: [SettingError]) { self.errors = errors }
}
