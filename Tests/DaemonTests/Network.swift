import Foundation
import Testing

/// A network of its own for one daemon, with nothing but loopback: there every port is free.
enum Network {
    /// Whether tests can make one, and become other users: they need root.
    static let canBeMade: Bool = {
        guard getuid() == 0, let unshare = try? Program.find("unshare") else { return false }
        let process = Process()
        process.executableURL = unshare
        process.arguments = ["--net", "ip", "link", "set", "lo", "up"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            print("SKIPPED: no network namespace can be made here; rights are not tested")
        }
        return process.terminationStatus == 0
    }()

    static let reason: Comment = "needs root and network namespaces"

    /// The programs where everybody can run them: the build may lie where others cannot go.
    static let programs: String = {
        let folder = (try? Scratch.shared.makeFolder()) ?? "/nonexistent"
        try? FileManager.default.copyItem(atPath: Daemon.path, toPath: "\(folder)/detourd")
        return folder
    }()

    /// Starts a command in a network of its own, which ends with it.
    static func start(_ command: [String]) throws -> Program {
        let words = ["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]
        return try Program("unshare", words + command)
    }

    /// Runs a command in the network of a program.
    static func run(in program: Program, _ command: [String]) async throws -> Program.Outcome {
        try await Program.run("nsenter", ["--net", "--target", "\(program.number)"] + command)
    }

    /// Asks port 53 of that network with dig.
    static func dig(in program: Program, _ question: String) async throws -> Reply {
        let words = question.split(separator: " ").map(String.init)
        let command = ["dig", "-r", "@127.0.0.1", "+tries=1", "+timeout=5", "+nocookie"]
        return Reply(try await run(in: program, command + words).output)
    }
}

/// What the kernel says of the rights of each thread of a process.
struct ThreadRights {
    let capabilities: Set<String>
    let users: Set<String>
    let groups: Set<String>
    let forbidsNew: Set<String>
    let threads: Int

    /// Reads `/proc`: the inheritable, permitted, effective and ambient sets, and the bounding set
    /// where it is asked for.
    init(of program: Program, withBoundingSet: Bool) throws {
        let folder = "/proc/\(program.number)/task"
        var lines: [String: Set<String>] = [:]
        let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
        for thread in threads {
            let status = try String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
            for line in status.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { continue }
                let words = parts[1].split { $0 == "\t" || $0 == " " }.joined(separator: " ")
                lines[String(parts[0]), default: []].insert(words)
            }
        }
        let sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"] + (withBoundingSet ? ["CapBnd"] : [])
        capabilities = sets.reduce(into: []) { $0.formUnion(lines[$1] ?? ["missing"]) }
        users = lines["Uid"] ?? []
        groups = (lines["Gid"] ?? []).union(lines["Groups"] ?? [])
        forbidsNew = lines["NoNewPrivs"] ?? []
        self.threads = threads.count
    }
}
