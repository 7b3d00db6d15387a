/// The words behind a subcommand's name, taken one by one.
struct OptionWords {
    /// What is wrong with a command line, in one sentence.
    struct Mistake: Error {
        let sentence: String
    }

    private var rest: ArraySlice<String>
    private var attached: String?
    private(set) var option = ""

    init(_ words: [String]) { rest = words[...] }

    /// The next option, without a value that `=` attaches to it, or the next operand.
    mutating func next() throws(Mistake) -> String? {
        if let attached {
            throw Mistake(sentence: "\(option) takes no value, but '\(attached)' was given")
        }
        guard let word = rest.popFirst() else { return nil }
        option = word
        if word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
            option = String(word[..<equals])
            attached = String(word[word.index(after: equals)...])
        }
        return option
    }

    /// The value of the option that was taken last.
    mutating func value() throws(Mistake) -> String {
        if let value = attached {
            attached = nil
            return value
        }
        guard let value = rest.popFirst() else {
            throw Mistake(sentence: "\(option) needs a value")
        }
        return value
    }
}
