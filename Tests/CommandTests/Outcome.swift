import Foundation

/// What became of a program that was run to its end.
struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    /// Runs a program of the build by its name, or another by its path.
    static func of(_ program: String, _ arguments: [String], in folder: URL? = nil) throws
        -> Outcome
    {
        let process = Process()
        process.executableURL =
            program.hasPrefix("/")
            ? URL(filePath: program) : Bundle.main.bundleURL.appending(path: program)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder }
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "detour-outcome-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let (output, errors) = (scratch.appending(path: "1"), scratch.appending(path: "2"))
        for file in [output, errors] { try Data().write(to: file) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8)
        )
    }
}
