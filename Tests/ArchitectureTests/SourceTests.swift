import Testing

@Suite("The source files")
struct SourceTests {
    let tree: SourceTree

    init() throws { tree = try SourceTree() }

    @Test("no file is longer than 400 lines")
    func length() {
        for file in tree.files {
            // The last line ends with a newline, behind which nothing is left.
            let count = file.lines.count - 1
            #expect(count <= 400, "\(file.path)")
        }
    }

    @Test("every 'unsafe' is explained by the invariant that makes it safe")
    func explanations() {
        for file in tree.files {
            let missing = file.lines.indices.filter {
                isUnsafe(file.lines[$0]) && !isExplained($0, in: file.lines)
            }
            let lines = missing.map { "\(file.path):\($0 + 1)" }
            #expect(lines == [], "\(file.path)")
        }
    }

    private func isUnsafe(_ line: String) -> Bool {
        let code = line.split(separator: "//", omittingEmptySubsequences: false)[0]
        return code.split { " ([{!".contains($0) }.contains("unsafe")
    }

    /// Whether a comment that says what is safe stands at the line or above it in its member, or
    /// above the type's first function: there, the storage's invariant is for all members.
    private func isExplained(_ index: Int, in lines: [String]) -> Bool {
        var line = index
        while line >= 0 {
            if saysWhy(lines[line]) { return true }
            if line < index, startsMember(lines[line]) { break }
            line -= 1
        }
        // The comment of the member itself.
        line -= 1
        while line >= 0, isComment(lines[line]) || lines[line].contains("@") {
            // A member that is unsafe to call says in its documentation what its caller owes.
            if saysWhy(lines[line]) || lines[line].contains("@unsafe") { return true }
            line -= 1
        }
        let firstMember = lines.firstIndex { startsFunction($0) } ?? lines.count
        return lines[..<firstMember].contains { saysWhy($0) }
    }

    private func isComment(_ line: String) -> Bool {
        line.drop { $0 == " " }.hasPrefix("//")
    }

    private func saysWhy(_ line: String) -> Bool {
        guard let comment = line.firstRange(of: "// ") else { return false }
        let text = line[comment.upperBound...]
        return text.contains("Safe") || text.contains("for as long as self lives")
    }

    /// A declaration that is a member of a type, or stands by itself.
    private func startsMember(_ line: String) -> Bool {
        let indent = line.prefix { $0 == " " }.count
        guard indent <= 4, let last = line.last, !isComment(line) else { return false }
        return last == "{" && !line.drop { $0 == " " }.hasPrefix(")")
    }

    private func startsFunction(_ line: String) -> Bool {
        !isComment(line)
            && ["func ", "init(", "init?(", "init<"].contains { line.contains($0) }
    }
}
