import Control

/// `detour status`.
enum Status {
    static let command = ControlCommand(
        name: "status",
        help: """
            detour status tells how the daemon is: what it serves, what it has done, whom it asks.

            usage: detour status [OPTION]...

            """
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            let status = try connection.ask(Request(.status), for: StatusResult.self)
            if line.isJSON { Output.print(json: status) } else { Output.print(text(status)) }
            return 0
        }
    }

    static func text(_ status: StatusResult) -> String {
        var lines = [
            "detourd \(status.version), process \(status.process), for \(Int(status.uptime)) s",
            "serving      \(status.addresses.joined(separator: " ")), "
                + counted(status.workers, "worker"),
            "names        \(status.names) in \(counted(status.zones.count, "file")), generation "
                + "\(status.generation)",
        ]
        for zone in status.zones {
            let view = zone.view.map { ", view \($0)" } ?? ""
            lines.append("             \(zone.file) (\(zone.kind)\(view))")
        }
        lines.append(
            "set          \(status.overrides)"
                + (status.keepsOverrides ? "" : " (not kept over a restart: no state folder)")
        )
        let answers = status.answers.filter { $0.value > 0 }.sorted { $0.value > $1.value }
        lines.append(
            "queries      \(status.queries)"
                + (answers.isEmpty
                    ? "" : ": " + answers.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        )
        lines.append("cached       \(counted(status.cached, "answer"))")
        for upstream in status.upstreams {
            let rtt = upstream.rtt.map { ", \(Int($0 * 1000 + 0.5)) ms" } ?? ""
            lines.append(
                "upstream     \(upstream.address) \(upstream.isUp ? "up" : "DOWN")\(rtt), "
                    + "\(upstream.queries) queries, \(upstream.losses) lost"
            )
        }
        if let reload = status.reload {
            lines.append("last reload  \(reload.outcome.rawValue) at \(reload.at)")
        }
        return lines.joined(separator: "\n")
    }
}
