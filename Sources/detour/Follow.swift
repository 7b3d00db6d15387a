import Control

/// `detour log [--follow]`.
enum Follow {
    static let command = ControlCommand(
        name: "log",
        help: """
            detour log shows the last messages of the daemon; with --follow it goes on, and shows
            every query too. Where queries come faster than they are read, some are left out and
            counted: the daemon never waits.

            usage: detour log [OPTION]...

              --follow         go on until interrupted

            """,
        flags: ["--follow"]
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            var request = Request(.log)
            request.follow = line.flags.contains("--follow")
            try connection.send(ControlLine.octets(request))
            while true {
                let result: LogResult
                do throws(ControlError) {
                    result = try connection.receive(LogResult.self)
                } catch {
                    // Without --follow, the daemon has said all when it closes the connection.
                    if request.follow == false, error.kind == .unavailable { return 0 }
                    throw error
                }
                if line.isJSON {
                    Output.print(json: result)
                } else if let text = result.message ?? result.query {
                    Output.print(text)
                } else if let missing = result.missing {
                    Output.error("detour log: \(missing) queries are missing here")
                }
            }
        }
    }
}
