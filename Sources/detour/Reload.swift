import Control

/// `detour reload`.
enum Reload {
    static let command = ControlCommand(
        name: "reload",
        help: """
            detour reload lets the daemon read its configuration and zones again, and waits for what
            comes of it: all of it is served, or, where a file has an error, nothing is changed.

            usage: detour reload [OPTION]...

            """
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            let result = try connection.ask(Request(.reload), for: ReloadResult.self)
            if line.isJSON {
                Output.print(json: result)
                return 0
            }
            for finding in result.findings { Output.error(finding) }
            Output.print(text(result))
            return 0
        }
    }

    private static func text(_ result: ReloadResult) -> String {
        guard result.outcome == .loaded else {
            return "nothing has changed: \(counted(result.names, "name")), generation "
                + "\(result.generation)"
        }
        var changes = ""
        if let added = result.added, let removed = result.removed, let changed = result.changed {
            changes = " (\(added) added, \(removed) removed, \(changed) changed)"
        }
        return
            "\(counted(result.names, "name"))\(changes) in \(result.milliseconds) ms, generation "
            + "\(result.generation)"
    }
}
