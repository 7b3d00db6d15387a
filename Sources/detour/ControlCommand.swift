import Control

/// The command line of a subcommand that speaks with the daemon, and its way to an exit status.
struct ControlCommand {
    /// What stands before the options: the subcommand's name and usage, for messages and `--help`.
    let name: String
    let help: String
    /// The options that take a value, beside `--control`.
    var valued: Set<String> = []
    /// The options that take none, beside `--json` and `--help`.
    var flags: Set<String> = []
    /// How many words there may be that are no options.
    var words: ClosedRange<Int> = 0...0
    /// What these words are, as the usage names them.
    var operands = ""

    /// A command line that was understood.
    struct Line {
        var words: [String] = []
        var values: [String: String] = [:]
        var flags: Set<String> = []

        var isJSON: Bool { flags.contains("--json") }
    }

    /// What is wrong with a command line.
    struct Mistake: Error {
        let text: String
    }

    /// Reads the command line, connects, and runs `body`; what goes wrong is told on standard error.
    func run(
        _ arguments: [String],
        _ body: (Line, inout ControlConnection) throws(ControlError) -> Int32
    ) -> Int32 {
        let line: Line
        do throws(Mistake) {
            line = try read(arguments)
        } catch {
            Output.error("detour \(name): \(error.text)\nTry detour \(name) --help.")
            return ExitStatus.usage
        }
        if line.flags.contains("--help") {
            Output.print(help + ControlCommand.commonHelp)
            return 0
        }
        do throws(ControlError) {
            var connection = try ControlConnection(
                to: line.values["--control"] ?? ControlConnection.usualPath
            )
            return try body(line, &connection)
        } catch {
            for finding in error.findings ?? [] { Output.error(finding) }
            Output.error("detour \(name): \(error.sentence)")
            return ControlCommand.status(of: error)
        }
    }

    static func status(of error: ControlError) -> Int32 {
        switch error.kind {
        case .malformed: ExitStatus.usage
        case .invalid, .notFound: ExitStatus.refused
        case .notPermitted: ExitStatus.notPermitted
        case .storage: ExitStatus.storage
        case .unavailable: ExitStatus.unavailable
        }
    }

    private static let commonHelp = """

          --control PATH   the daemon's control socket; default: \(ControlConnection.usualPath)
          --json           print the daemon's own JSON
          --help

        Exit status: 0 done, 1 refused, 64 usage, 69 no daemon, 74 nothing can be written, 77 not
        permitted.
        """

    private func read(_ arguments: [String]) throws(Mistake) -> Line {
        var line = Line()
        var rest = arguments[...]
        var takesOptions = true
        while let argument = rest.popFirst() {
            guard takesOptions, argument.hasPrefix("-"), argument.count > 1 else {
                line.words.append(argument)
                continue
            }
            if argument == "--" {
                takesOptions = false
                continue
            }
            var option = argument == "-h" ? "--help" : argument
            var attached: String?
            if let equals = argument.firstIndex(of: "=") {
                option = String(argument[..<equals])
                attached = String(argument[argument.index(after: equals)...])
            }
            if flags.contains(option) || ["--json", "--help"].contains(option) {
                guard attached == nil else { throw Mistake(text: "\(option) takes no value") }
                line.flags.insert(option)
            } else if valued.contains(option) || option == "--control" {
                guard let value = attached ?? rest.popFirst() else {
                    throw Mistake(text: "\(option) needs a value")
                }
                line.values[option] = value
            } else {
                throw Mistake(
                    text: "there is no option \(argument); a word that begins with a dash goes "
                        + "behind --"
                )
            }
        }
        if line.flags.contains("--help") { return line }
        guard words.contains(line.words.count) else {
            let given = line.words.map { "'\($0)'" }.joined(separator: " ")
            let wanted = operands.isEmpty ? "takes no words" : "takes \(operands)"
            throw Mistake(text: "it \(wanted), but \(given.isEmpty ? "nothing" : given) is given")
        }
        return line
    }
}

extension Output {
    /// A result as the daemon's own JSON.
    static func print(json result: some Encodable) {
        print(String(decoding: ControlLine.octets(result), as: UTF8.self), terminator: "")
    }
}
