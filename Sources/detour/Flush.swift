import Control

/// `detour flush [NAME [--tree]]`.
enum Flush {
    static let command = ControlCommand(
        name: "flush",
        help: """
            detour flush lets the daemon forget what upstreams answered: everything, or what they
            said about a name. Overrides need no flush: they are looked up before.

            usage: detour flush [NAME] [OPTION]...

              --tree           also all names below NAME

            """,
        flags: ["--tree"],
        words: 0...1,
        operands: "[NAME]"
    )

    static func run(_ arguments: [String]) -> Int32 {
        command.run(arguments) { line, connection throws(ControlError) in
            var request = Request(.flush)
            request.name = line.words.first
            request.tree = line.flags.contains("--tree") ? true : nil
            if request.tree == true, request.name == nil {
                throw ControlError(.malformed, "--tree goes with a name")
            }
            let result = try connection.ask(request, for: FlushResult.self)
            if line.isJSON {
                Output.print(json: result)
            } else {
                Output.print("\(counted(result.answers, "answer")) forgotten")
            }
            return 0
        }
    }
}
