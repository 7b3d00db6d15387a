import Control
import HTTPSVerifier

/// `detour list`.
enum List {
    static let command = ControlCommand(
        name: "list",
        help: """
            detour list shows what was set while the daemon ran: who, when, until when. An answer
            that an override made says "runtime" and the override's number.

            usage: detour list [OPTION]...

            """
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            let result = try connection.ask(Request(.list), for: ListResult.self)
            if line.isJSON {
                Output.print(json: result)
                return 0
            }
            for (index, override) in result.overrides.enumerated() {
                Output.print("\(index + 1)  " + text(override))
            }
            return 0
        }
    }

    /// `api.example.com. 5 A 192.0.2.1  set by ana at …, until …, view phones: note`.
    static func text(_ override: Override) -> String {
        "\(override.name) \(override.ttl) \(override.type) "
            + override.records.joined(separator: ", ") + "  \(override.story)"
    }
}

extension Override {
    /// `set by ana at …, until …, view phones: note`.
    var story: String {
        var text = "set by \(user) at \(setAt)"
        if let end = expiresAt { text += ", until \(end)" }
        if let view { text += ", view \(view)" }
        // Somebody else may have written it.
        if let note { text += ": \(shown(note, limit: 1024))" }
        return text
    }
}
