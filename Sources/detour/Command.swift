import Configuration
import Control
import Platform

/// The subcommands: each has a file of its own, and takes what stands behind its name.
enum Command {
    private static let all: [(name: String, summary: String, run: @Sendable ([String]) -> Int32)] =
        [
            (
                "verify", "verify overridden endpoints, a chain, stored evidence or a suite",
                Verify.run
            ),
            ("check", "check a configuration and its zones", Check.run),
            ("explain", "say why a name is answered as it is", Explain.run),
            ("status", "how the daemon is", Status.run),
            ("reload", "let the daemon read its files again", Reload.run),
            ("list", "what was set while the daemon ran", List.run),
            ("set", "override a name while the daemon runs", SetOverride.run),
            ("unset", "take an override away that was set", UnsetOverride.run),
            ("flush", "let the daemon forget what upstreams answered", Flush.run),
            ("log", "what the daemon logs, with the queries if wanted", Follow.run),
        ]

    static func run(_ arguments: [String]) -> Int32 {
        guard let name = arguments.first else {
            Output.error(usage)
            return ExitStatus.usage
        }
        if ["--help", "-h", "help"].contains(name) {
            Output.print(usage)
            return 0
        }
        if name == "--version" {
            Output.print("detour \(Version.text)")
            return 0
        }
        guard let command = all.first(where: { $0.name == name }) else {
            let nearest = Spelling.nearest(to: name, among: all.map(\.name))
            let hint = nearest.map { "; did you mean \($0)?" } ?? ""
            Output.error("detour: there is no command \(name)\(hint)\n" + usage)
            return ExitStatus.usage
        }
        return command.run(Array(arguments.dropFirst()))
    }

    private static var usage: String {
        "usage: detour COMMAND …\n       detour --version | --help\n\n"
            + all.map {
                "  \($0.name)" + String(repeating: " ", count: 9 - $0.name.utf8.count)
                    + "\($0.summary)\n"
            }.joined()
            + "\ndetour COMMAND --help says more."
    }
}

/// Statuses to exit with that are not a verdict (sysexits.h).
enum ExitStatus {
    static let refused: Int32 = 1
    static let usage: Int32 = 64
    static let unavailable: Int32 = 69
    static let storage: Int32 = 74
    static let notPermitted: Int32 = 77
    static let configuration: Int32 = 78
}

/// The two streams.
enum Output {
    static func print(_ text: String, terminator: String = "\n") {
        StandardStream.output.write(text + terminator)
    }

    static func error(_ text: String, terminator: String = "\n") {
        StandardStream.error.write(text + terminator)
    }

    static func isTerminal(_ descriptor: Int32) -> Bool {
        StandardStream(rawValue: descriptor)?.isTerminal ?? false
    }
}
