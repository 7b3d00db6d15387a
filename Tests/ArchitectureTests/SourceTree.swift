import Foundation

/// The Swift files under Sources/, as lines.
struct SourceTree {
    /// One file of a module.
    struct File {
        let module: String
        let name: String
        let lines: [String]

        var path: String { "Sources/\(module)/\(name)" }
    }

    let files: [File]

    /// The root of the package that this test stands in.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Reads every Swift file that is under Sources/ now.
    init() throws {
        let sources = SourceTree.root.appending(path: "Sources").path
        let paths = FileManager.default.subpaths(atPath: sources) ?? []
        files = try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let text = try String(contentsOfFile: "\(sources)/\(path)", encoding: .utf8)
            let parts = path.split(separator: "/", maxSplits: 1)
            return File(
                module: String(parts[0]),
                name: String(parts[parts.count - 1]),
                lines: text.split(separator: "\n", omittingEmptySubsequences: false)
                    .map(String.init)
            )
        }
    }

    var modules: [String] { Set(files.map(\.module)).sorted() }

    /// The modules that the files of a module import.
    func imports(of module: String) -> Set<String> {
        var imports: Set<String> = []
        for file in files where file.module == module {
            for line in file.lines {
                let words = line.split(separator: " ")
                guard let keyword = words.firstIndex(of: "import"),
                    words[..<keyword].allSatisfy({ SourceTree.isModifier($0) })
                else { continue }
                // `import struct Module.Type` names the kind in front of the module.
                let name = words[words.count > keyword + 2 ? keyword + 2 : keyword + 1]
                imports.insert(String(name.prefix { $0 != "." }))
            }
        }
        return imports
    }

    private static func isModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@")
            || ["public", "package", "internal", "private", "fileprivate"].contains(word)
    }
}
