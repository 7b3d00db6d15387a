import Foundation
import Synchronization

/// A program that a test has started. Whatever becomes of the test, the process ends, by its number.
final class Program: Sendable {
    /// What has become of a program that has ended.
    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    private let process: Process
    private let output: URL
    private let errors: URL
    private let ending = Mutex(Ending())

    private struct Ending {
        var status: Int32?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Starts a program that is found on the usual paths, or named by one.
    init(_ name: String, _ arguments: [String], in folder: String? = nil) throws {
        let folder = URL(filePath: try folder ?? Scratch.shared.makeFolder())
        process = Process()
        process.executableURL = try Program.find(name)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let number = Scratch.shared.nextNumber()
        output = folder.appending(path: "output-\(number)")
        errors = folder.appending(path: "errors-\(number)")
        for file in [output, errors] {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.terminationHandler = { [weak self] process in
            self?.ended(process.terminationStatus)
        }
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Runs a program to its end, or for so long; gives what it said.
    static func run(
        _ name: String,
        _ arguments: [String],
        seconds: Int = 20
    ) async throws -> Outcome {
        let program = try Program(name, arguments)
        let status = await program.end(within: seconds)
        return Outcome(status: status, output: program.text, errors: program.complaints)
    }

    /// What it has written to standard output.
    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// How much memory it has, in octets (proc(5), statm).
    var residentOctets: Int {
        get throws {
            let path = "/proc/\(process.processIdentifier)/statm"
            let numbers = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
            return Int(numbers[1]).map { $0 * Int(getpagesize()) } ?? 0
        }
    }

    /// What it has written to standard error.
    var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Its process.
    var number: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end, and gives the exit status; after so long the program is ended.
    func end(within seconds: Int = 10) async -> Int32 {
        let limit = Task { [process] in
            try await Task.sleep(for: .seconds(seconds))
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        defer { limit.cancel() }
        await withCheckedContinuation { continuation in
            let hasEnded = ending.withLock { ending in
                if ending.status == nil { ending.waiting.append(continuation) }
                return ending.status != nil
            }
            if hasEnded { continuation.resume() }
        }
        return ending.withLock { $0.status ?? -1 }
    }

    private func ended(_ status: Int32) {
        let waiting = ending.withLock { ending in
            ending.status = status
            defer { ending.waiting = [] }
            return ending.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Where a program is.
    static func find(_ name: String) throws -> URL {
        if name.contains("/") { return URL(filePath: name) }
        for folder in ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin"] {
            let path = "\(folder)/\(name)"
            if FileManager.default.isExecutableFile(atPath: path) { return URL(filePath: path) }
        }
        throw Missing(name: name)
    }

    struct Missing: Error, CustomStringConvertible {
        let name: String
        var description: String { "\(name) is not installed; packaging/test installs it" }
    }
}

/// The folder that these tests write to, taken away at the end.
final class Scratch: Sendable {
    static let shared = Scratch()

    private let folder: URL
    private let count = Mutex(0)

    private init() {
        let name = "detour-tests-\(ProcessInfo.processInfo.processIdentifier)"
        folder = FileManager.default.temporaryDirectory.appending(path: name)
        // Readable for everybody: one test runs the daemon as another user.
        try? FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        atexit { Scratch.shared.remove() }
    }

    func nextNumber() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    /// The path of a new folder.
    func makeFolder() throws -> String {
        let new = folder.appending(path: "\(nextNumber())")
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        return new.path
    }

    /// The path of a new file with a text.
    func file(_ name: String, _ text: String) throws -> String {
        let path = try makeFolder() + "/" + name
        try write(text, to: path)
        return path
    }

    /// Puts another text in a file's place, at once.
    func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }

    private func remove() { try? FileManager.default.removeItem(at: folder) }
}
