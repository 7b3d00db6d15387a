import Foundation
import Testing

/// What a program takes is said in four places: by `--help`, in its manual page, and by the completions
/// of three shells. All of them say the same, about every command and every option.
@Suite("Help, manual pages and completions") struct DocumentationTests {
    static let commands = [
        "verify", "check", "explain", "status", "reload", "list", "set", "unset", "flush", "log",
    ]
    /// A command line that an option can stand behind; `detourd` has no commands.
    static let places = commands.map { "detour " + $0 } + ["detourd"]

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test("name the options that are taken, and no others", arguments: places)
    func options(place: String) throws {
        let words = place.split(separator: " ").map(String.init)
        let taken = try optionsTaken(words)
        #expect(taken.count >= 3)
        #expect(try optionsInHelp(words) == taken, "--help")
        #expect(try optionsInManual(words) == taken, "the manual page")
        #expect(try optionsInBash(words) == taken, "bash")
        #expect(try optionsInZsh(words) == taken, "zsh")
        #expect(try optionsInFish(words) == taken, "fish")
    }

    @Test("name the commands that there are, and no others")
    func commandNames() throws {
        let commands = Set(Self.commands)
        let help = try Outcome.of("detour", ["--help"]).output.split(separator: "\n")
        let listed = help.dropFirst(2).filter { $0.hasPrefix("  ") }.compactMap {
            $0.split(separator: " ").first
        }
        #expect(Set(listed.map(String.init)) == commands)
        #expect(Set(try sections("detour.1").keys.filter { !$0.isEmpty }) == commands)
        let bash = try text("packaging/completions/bash/detour")
        #expect(try #require(firstWords(in: bash)) == commands)
        let script = try text("packaging/completions/zsh/_detour")
        let zsh = script.components(separatedBy: "commands=(\n")[1].split(separator: "\n")
        let described = zsh.prefix { $0.hasPrefix("        '") }.compactMap {
            $0.dropFirst(9).split(separator: ":").first.map(String.init)
        }
        #expect(Set(described.filter { !$0.hasPrefix("-") }) == commands)
        let fish = try text("packaging/completions/fish/detour.fish").split(separator: "\n")
        let added = fish.compactMap { line -> String? in
            guard let at = line.range(of: "__fish_use_subcommand -a ") else { return nil }
            return line[at.upperBound...].split(separator: " ").first.map(String.init)
        }
        #expect(Set(added) == commands)
    }

    @Test("every program tells its version, and the same one")
    func version() throws {
        let daemon = try Outcome.of("detourd", ["--version"]).output
        let command = try Outcome.of("detour", ["--version"]).output
        #expect(daemon.hasPrefix("detourd ") && command.hasPrefix("detour "))
        #expect(daemon.split(separator: " ").last == command.split(separator: " ").last)
    }

    // MARK: What is taken

    /// Tries every option that occurs anywhere in the programs' sources.
    private func optionsTaken(_ place: [String]) throws -> Set<String> {
        var candidates: Set<String> = []
        for folder in ["Sources/detour", "Sources/detourd"] {
            let path = Self.root.appending(path: folder).path
            for file in try FileManager.default.contentsOfDirectory(atPath: path) {
                candidates.formUnion(optionWords(in: try text("\(folder)/\(file)")))
            }
        }
        #expect(candidates.count > 40)
        return try candidates.filter { option in
            // Help comes last and ends the command line; an option that is not there comes first.
            let outcome = try Outcome.of(place[0], place.dropFirst() + [option, "x", "--help"])
            let refusal = outcome.errors.split(separator: "\n").first ?? ""
            return ![
                "no option \(option)", "unknown option \(option)", "\(option) is not supported",
            ]
            .contains { refusal.contains($0) }
        }
    }

    private func optionsInHelp(_ place: [String]) throws -> Set<String> {
        let outcome = try Outcome.of(place[0], place.dropFirst() + ["--help"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        // Where an option is described, rather than mentioned.
        var found: Set<String> = []
        for line in outcome.output.split(separator: "\n") where line.hasPrefix("  --") {
            let named = line.split(separator: "  ").first.map { optionWords(in: String($0)) } ?? []
            found.formUnion(named)
        }
        return found
    }

    // MARK: Manual pages

    private func optionsInManual(_ place: [String]) throws -> Set<String> {
        guard place.count == 2 else {
            return Set(try sections("detourd.8").values.flatMap(\.self))
        }
        let sections = try sections("detour.1")
        let own = try #require(sections[place[1]], "there is a section for it")
        let readsItself = ["verify", "check", "explain"].contains(place[1])
        return own.union(readsItself ? [] : try #require(sections[""]))
    }

    /// The options that are items of a manual page, by the command whose section they are in.
    private func sections(_ page: String) throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        var command = ""
        for line in try text("packaging/man/\(page)").split(separator: "\n") {
            if line.hasPrefix(".Sh ") { command = "" }
            if line.hasPrefix(".Ss detour ") {
                command = String(line.dropFirst(11))
                found[command] = []
            }
            guard line.hasPrefix(".It Fl ") else { continue }
            let words = line.split(separator: " ")
            for index in words.indices where words[index] == "Fl" {
                found[command, default: []].insert("-" + words[index + 1])
            }
        }
        return found
    }

    // MARK: Completions

    /// Asks bash itself.
    private func optionsInBash(_ place: [String]) throws -> Set<String> {
        let file = Self.root.appending(path: "packaging/completions/bash/\(place[0])").path
        let script = """
            . \(file); COMP_WORDS=(\(place.joined(separator: " ")) --); COMP_CWORD=\(place.count)
            _\(place[0]); printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try Outcome.of("/bin/bash", ["-c", script])
        #expect(outcome.errors.isEmpty)
        return Set(outcome.output.split(separator: "\n").map(String.init))
    }

    /// The words that are completed first: `compgen -W '…'` behind the first test of COMP_CWORD.
    private func firstWords(in bash: String) -> Set<String>? {
        guard let start = bash.range(of: "compgen -W '") else { return nil }
        let list = bash[start.upperBound...].prefix { $0 != "'" }
        let words = list.split { $0 == " " || $0 == "\n" }.map(String.init)
        return Set(words.filter { !$0.hasPrefix("-") })
    }

    private func optionsInZsh(_ place: [String]) throws -> Set<String> {
        let script = try text("packaging/completions/zsh/_detour")
        func array(_ name: String) throws -> Set<String> {
            let start = try #require(script.range(of: "\n\(name)=(\n"))
            let end = try #require(script[start.upperBound...].range(of: "\n)\n"))
            return zshOptions(script[start.upperBound..<end.lowerBound])
        }
        let block: Substring
        if place.count == 2 {
            let cases = script.components(separatedBy: "case $command in\n")[1]
            // `status | reload | list) … ;;`
            let found = cases.components(separatedBy: ";;\n").first { part in
                let label = part.drop { $0 == " " }.prefix { $0 != ")" }
                return label.split(separator: " ").contains(Substring(place[1]))
            }
            block = try #require(found)[...]
        } else {
            let start = try #require(script.range(of: "$service == detourd"))
            let end = try #require(script[start.upperBound...].range(of: "\nfi\n"))
            block = script[start.upperBound..<end.lowerBound]
        }
        var found = zshOptions(block)
        if block.contains("$zones") { found.formUnion(try array("zones")) }
        if block.contains("$server") { found.formUnion(try array("server")) }
        return found
    }

    /// `'*--zone[…]…'` and its kin.
    private func zshOptions(_ text: Substring) -> Set<String> {
        var found: Set<String> = []
        for part in text.components(separatedBy: "[").dropLast() {
            let word = part.split { " '\"\n*)".contains($0) }.last ?? ""
            if word.hasPrefix("--") { found.insert(String(word)) }
        }
        return found
    }

    private func optionsInFish(_ place: [String]) throws -> Set<String> {
        var isOurs = place.count == 1
        var found: Set<String> = []
        for line in try text("packaging/completions/fish/\(place[0]).fish").split(separator: "\n") {
            if line.hasPrefix("set -l in ") {
                isOurs = line == "set -l in '__fish_seen_subcommand_from \(place.last ?? "")'"
            }
            guard isOurs, let option = line.range(of: " -l ") else { continue }
            guard line.hasPrefix("complete ") else { continue }
            let name = line[option.upperBound...].prefix { $0 != " " }
            found.insert("--" + name)
        }
        return found
    }

    // MARK: Support

    private func optionWords(in text: String) -> Set<String> {
        let words = text.split { !($0.isASCII && ($0.isLetter || $0 == "-")) }
        return Set(
            words.filter { $0.hasPrefix("--") && $0.count > 2 && $0.dropFirst(2).first != "-" }
                .map(String.init)
        )
    }
}
