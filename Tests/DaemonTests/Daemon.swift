import Foundation
import Testing

/// The suites that run the built detourd, one test after the other: each has two processors at most.
@Suite("The daemon", .serialized)
struct TheDaemon {}

/// A detourd that serves on a port of 127.0.0.1.
struct Daemon {
    let program: Program
    let port: UInt16

    /// The program as it was built: `DETOURD` names it, or else it stands beside the tests.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["DETOURD"] { return path }
        let bundle = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let beside = bundle.appending(path: "detourd").path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return root.appending(path: ".build/debug/detourd").path
    }()

    /// The root of the package that this test stands in.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The upstream's part of the options: none, so that nothing leaves the machine.
    static let alone = ["--no-upstream"]

    /// Starts a daemon, waits until it is ready, and ends it behind `body`.
    static func with<Result>(
        _ options: [String],
        workers: Int = 2,
        _ body: (Daemon) async throws -> Result
    ) async throws -> Result {
        let daemon = try await start(options + ["--workers", "\(workers)"])
        let result: Result
        do {
            result = try await body(daemon)
        } catch {
            daemon.program.signal(SIGKILL)
            throw error
        }
        daemon.program.signal(SIGTERM)
        let status = await daemon.program.end(within: 5)
        #expect(status == 0, "\(daemon.program.complaints)")
        return result
    }

    /// Starts a daemon, and waits until it is ready; whoever calls it ends it.
    static func start(_ options: [String]) async throws -> Daemon {
        for _ in 0..<10 {
            let port = UInt16.random(in: 20_000..<30_000)
            let program = try Program(path, ["--listen", "127.0.0.1:\(port)"] + options)
            let daemon = Daemon(program: program, port: port)
            if await daemon.says("ready on") { return daemon }
            program.signal(SIGKILL)
            // Another program may have the port; anything else is a fault.
            guard await program.end() == 69 else { throw NotReady(said: program.complaints) }
        }
        throw NotReady(said: "no port is free")
    }

    struct NotReady: Error {
        let said: String
    }

    /// Waits until standard error has a text.
    func says(_ text: String, times: Int = 1, seconds: Double = 10) async -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            if program.complaints.components(separatedBy: text).count > times { return true }
            guard program.isRunning else { break }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return program.complaints.components(separatedBy: text).count > times
    }

    /// Asks with dig; `question` is what stands on its command line.
    func dig(_ question: String) async throws -> Reply {
        try await Reply.dig(port, question)
    }
}
