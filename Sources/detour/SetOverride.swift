import Configuration
import Control

/// `detour set NAME TYPE RDATA…`.
enum SetOverride {
    static let command = ControlCommand(
        name: "set",
        help: """
            detour set overrides a name while the daemon runs, over all zone files. It is in force,
            and on the disk, when the command ends; it replaces what was set at that name and type.
            The name is owned whole: types that are not set are "no such data".

            usage: detour set NAME TYPE DATA... [OPTION]...

              detour set api.example.com A 192.0.2.1
              detour set api.example.com A 192.0.2.1 192.0.2.2 --for 45m --note "load test"
              detour set example.com MX 10 a.example.com. , 20 b.example.com.
              detour set ads.example.com CNAME .                         it does not exist

            NAME may begin with "*." and is complete without a dot at its end. Several addresses are
            several records; for other types, a comma with blanks around it stands between records.

              --ttl N          the records' TTL in seconds; default: the configuration's
              --for DURATION   end it by itself, after 30s, 45m, 12h, 1h30m, 1d
              --view VIEW      for the clients of a view alone
              --note TEXT      what detour list shows beside it

            """,
        valued: ["--ttl", "--for", "--view", "--note"],
        words: 3...512,
        operands: "NAME TYPE DATA..."
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            let result = try connection.ask(try request(line), for: SetResult.self)
            if line.isJSON {
                Output.print(json: result)
                return 0
            }
            Output.print(List.text(result.override))
            if !result.isKept {
                Output.error(
                    "detour set: it is not kept over a restart: the daemon has no state folder"
                )
            }
            return 0
        }
    }

    private static func request(
        _ line: ControlCommand.Line
    ) throws(ControlError) -> Request {
        var request = Request(.set)
        request.name = line.words[0]
        if let mistake = NameOperand.mistake(in: line.words[0]) {
            throw ControlError(.malformed, mistake)
        }
        request.type = line.words[1]
        request.records = records(Array(line.words[2...]), type: line.words[1])
        if let text = line.values["--ttl"] {
            guard let ttl = Quantity.seconds(text) else {
                throw ControlError(.malformed, "--ttl \(text): write a number of seconds")
            }
            request.ttl = ttl
        }
        if let text = line.values["--for"] {
            guard let lifetime = Quantity.seconds(text) else {
                throw ControlError(.malformed, "--for \(text): write a duration such as 45m or 12h")
            }
            request.lifetime = lifetime
        }
        request.view = line.values["--view"]
        request.note = line.values["--note"]
        return request
    }

    /// The records that words say. The shell has taken quotes away: a word with blanks had some.
    static func records(_ words: [String], type: String) -> [String] {
        let quoted = words.map { word in
            let hasBlank = word.contains { $0 == " " || $0 == "\t" || $0 == ";" }
            guard word.isEmpty || hasBlank, !word.hasPrefix("\"") else { return word }
            let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\"\(escaped)\""
        }
        if ["A", "AAAA"].contains(type.uppercased()) { return quoted.filter { $0 != "," } }
        return quoted.split(separator: ",").map { $0.joined(separator: " ") }
    }
}
