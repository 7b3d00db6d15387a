import Control
import Foundation
import Platform
import Support

/// A daemon with a control socket and a state folder, and how to ask it.
struct Controlled {
    let folder: String
    let socket: String

    init() throws {
        folder = try Scratch.shared.makeFolder()
        socket = "\(folder)/c"
    }

    init(folder: String, socket: String) {
        self.folder = folder
        self.socket = socket
    }

    var state: String { "\(folder)/state" }
    var options: [String] { ["--control", socket, "--state", state] }

    /// The command `detour` as it was built, beside the daemon.
    static let command = URL(filePath: Daemon.path).deletingLastPathComponent()
        .appending(path: "detour").path

    /// Runs `detour`, with the socket at the end of its command line.
    func detour(_ arguments: String...) async throws -> Program.Outcome {
        try await Program.run(Controlled.command, arguments + ["--control", socket])
    }

    /// Asks over a connection of its own.
    func ask<Result: Codable & Sendable>(
        _ request: Request,
        for type: Result.Type
    ) async throws -> Result {
        let socket = socket
        return try await withTaskExecutorPreference(WaitingThread.shared) {
            var connection = try ControlConnection(to: socket)
            return try connection.ask(request, for: type, milliseconds: 20_000)
        }
    }

    /// Sets an address, and gives how many milliseconds passed until a query saw it.
    func timeToSet(_ name: String, _ address: String, port: UInt16) async throws -> Double {
        var request = Request(.set)
        request.name = name
        request.type = "A"
        request.records = [address]
        let socket = socket
        return try await withTaskExecutorPreference(WaitingThread.shared) { [request] in
            var connection = try ControlConnection(to: socket)
            let client = try DatagramClient(to: SocketAddress(ipv4: 0x7F00_0001, port: port))
            let start = Clock.monotonic
            _ = try connection.ask(request, for: SetResult.self, milliseconds: 20_000)
            let reply = client.ask(Messages.query(name, id: 7))
            let end = Clock.monotonic
            guard let reply, Messages.address(reply) == address else { return .infinity }
            return Double(end - start) / 1_000_000
        }
    }
}
