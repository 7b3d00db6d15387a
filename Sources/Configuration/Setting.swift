/// The names that an object of the configuration may have: what is decoded, and what is described.
protocol SettingKey: RawRepresentable<String>, CaseIterable, Hashable {}

/// What is gathered while a document is decoded: all that is wrong with it, not only the first.
struct Decoding {
    let file: String
    var errors: [SettingError] = []

    /// A path as it is meant: relative to the configuration file.
    func resolved(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return String(file[...slash]) + path
    }

    mutating func reject(_ setting: Setting, _ sentence: String) {
        errors.append(
            SettingError(
                file: file,
                line: setting.node.line,
                column: setting.node.column,
                path: setting.path,
                sentence: sentence
            )
        )
    }

    /// Says what was found and what is allowed.
    mutating func reject(_ setting: Setting, allowing allowed: String) {
        reject(setting, "found \(setting.node.summary); write \(allowed)")
    }
}

/// A value of the document with its path.
struct Setting {
    let path: String
    let node: JSONNode

    func text(_ decoding: inout Decoding, allowing allowed: String = "a text") -> String? {
        if case .string(let text) = node.value, !text.isEmpty { return text }
        decoding.reject(self, allowing: allowed)
        return nil
    }

    func bool(_ decoding: inout Decoding) -> Bool? {
        if case .bool(let value) = node.value { return value }
        decoding.reject(self, allowing: "true or false")
        return nil
    }

    func integer(_ range: ClosedRange<Int>, _ decoding: inout Decoding) -> Int? {
        if case .number(let number, _) = node.value, let value = Int(exactly: number),
            range.contains(value)
        {
            return value
        }
        decoding.reject(self, allowing: "a number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// One of a closed set of words.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ type: Choice.Type,
        _ decoding: inout Decoding
    ) -> Choice? {
        let words = Choice.allCases.map(\.rawValue)
        if case .string(let text) = node.value {
            if let choice = Choice(rawValue: text) { return choice }
            if let nearest = Spelling.nearest(to: text, among: words) {
                decoding.reject(
                    self,
                    "found \"\(text)\"; did you mean \"\(nearest)\"? Allowed are "
                        + words.joined(separator: ", ")
                )
                return nil
            }
        }
        decoding.reject(self, allowing: "one of " + words.joined(separator: ", "))
        return nil
    }

    /// What text spells, as `scan` reads it.
    func scanned<Value>(
        _ decoding: inout Decoding,
        allowing allowed: String,
        _ scan: (String) -> Value?
    ) -> Value? {
        if case .string(let text) = node.value, let value = scan(text) { return value }
        decoding.reject(self, allowing: allowed)
        return nil
    }

    func elements(_ decoding: inout Decoding, of allowed: String) -> [Setting]? {
        guard case .array(let nodes) = node.value else {
            decoding.reject(self, allowing: "a list of \(allowed)")
            return nil
        }
        return nodes.enumerated().map { Setting(path: "\(path)[\($0)]", node: $1) }
    }

    /// A list, each element of which `decode` reads; those that are wrong are left out.
    func list<Value>(
        _ decoding: inout Decoding,
        of allowed: String,
        _ decode: (Setting, inout Decoding) -> Value?
    ) -> [Value]? {
        guard let elements = elements(&decoding, of: allowed) else { return nil }
        var values: [Value] = []
        for element in elements {
            if let value = decode(element, &decoding) { values.append(value) }
        }
        return values
    }

    /// The members of an object with keys of any kind.
    func members(_ decoding: inout Decoding, allowing allowed: String) -> [(String, Setting)]? {
        guard case .object(let members) = node.value else {
            decoding.reject(self, allowing: allowed)
            return nil
        }
        return members.map { ($0.key, Setting(path: "\(path)[\"\($0.key)\"]", node: $0.value)) }
    }

    /// The members of an object with known keys; others are errors, and so are keys that stand twice.
    func section<Key: SettingKey>(
        _ type: Key.Type,
        _ decoding: inout Decoding,
        allowing allowed: String = "an object"
    ) -> [Key: Setting]? {
        guard case .object(let members) = node.value else {
            decoding.reject(self, allowing: allowed)
            return nil
        }
        var section: [Key: Setting] = [:]
        for member in members {
            let path = path.isEmpty ? member.key : "\(path).\(member.key)"
            let sentence: String
            if let key = Key(rawValue: member.key) {
                let setting = Setting(path: path, node: member.value)
                if section.updateValue(setting, forKey: key) == nil { continue }
                sentence = "the key stands twice"
            } else {
                let keys = Key.allCases.map(\.rawValue)
                let hint = Spelling.nearest(to: member.key, among: keys).map {
                    "did you mean \($0)?"
                }
                sentence =
                    "there is no such key; " + (hint ?? "there are " + keys.joined(separator: ", "))
            }
            decoding.errors.append(
                SettingError(
                    file: decoding.file,
                    line: member.line,
                    column: member.column,
                    path: path,
                    sentence: sentence
                )
            )
        }
        return section
    }
}
