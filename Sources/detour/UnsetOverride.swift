import Control

/// `detour unset NAME [TYPE]`.
enum UnsetOverride {
    static let command = ControlCommand(
        name: "unset",
        help: """
            detour unset takes away what was set at a name: one type, or all of them. The name is
            answered from the zone files again, or from upstream, when the command ends.

            usage: detour unset NAME [TYPE] [OPTION]...

              --view VIEW      what was set for that view

            """,
        valued: ["--view"],
        words: 1...2,
        operands: "NAME [TYPE]"
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            var request = Request(.unset)
            request.name = line.words[0]
            if line.words.count > 1 { request.type = line.words[1] }
            request.view = line.values["--view"]
            let result = try connection.ask(request, for: UnsetResult.self)
            if line.isJSON {
                Output.print(json: result)
                return 0
            }
            for override in result.overrides { Output.print("taken away: " + List.text(override)) }
            return 0
        }
    }
}
