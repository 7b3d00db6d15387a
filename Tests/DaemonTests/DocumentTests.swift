import Foundation
import Testing

extension TheDaemon {
    /// README and FORMAT show commands with what comes of them: they must stay true.
    @Suite("The documents")
    struct DocumentTests {
        private func document(_ path: String) throws -> String {
            try String(contentsOf: Daemon.root.appending(path: path), encoding: .utf8)
        }

        /// The text between fences, and the indented blocks, in their order.
        private func blocks(_ text: String) -> [String] {
            text.components(separatedBy: "\n```").enumerated().compactMap { index, part in
                guard index % 2 == 1, let end = part.firstIndex(of: "\n") else { return nil }
                return String(part[part.index(after: end)...])
            }
        }

        @Test("the dig transcript of README is what dig shows")
        func transcript() async throws {
            let block = try #require(
                blocks(document("README.md")).first { $0.hasPrefix("$ dig @127.0.0.1 -p 5300") }
            )
            let zone = Daemon.root.appending(path: "zones/example.zone").path
            try await Daemon.with(["--zone", zone] + Daemon.alone) { daemon in
                var command = ""
                var shown: [String: [Substring]] = [:]
                for line in block.split(separator: "\n") {
                    if line.hasPrefix("$ ") {
                        command = String(line.dropFirst(2))
                    } else {
                        shown[command, default: []].append(line)
                    }
                }
                #expect(shown.count >= 2)
                for (command, lines) in shown {
                    var words = command.split(separator: " ").map(String.init)
                    let port = try #require(words.firstIndex(of: "5300"))
                    words[port] = "\(daemon.port)"
                    let outcome = try await Program.run(words[0], Array(words.dropFirst()))
                    // The transcript leaves out lines, and changes none but for the blanks.
                    var real = outcome.output.split(separator: "\n").map(fields)[...]
                    for line in lines {
                        let place = real.firstIndex(of: fields(line))
                        #expect(place != nil, "\(command): \(line)\n\(outcome.output)")
                        if let place { real = real[(place + 1)...] }
                    }
                }
            }
        }

        @Test("every file that README and FORMAT name is there")
        func files() throws {
            for name in ["README.md", "zones/FORMAT.md"] {
                let folder = Daemon.root.appending(path: name).deletingLastPathComponent()
                for part in try document(name).components(separatedBy: "](").dropFirst() {
                    let target = String(part.prefix { $0 != ")" && $0 != "#" })
                    guard !target.isEmpty, !target.hasPrefix("http") else { continue }
                    let path = folder.appending(path: target).path
                    #expect(FileManager.default.fileExists(atPath: path), "\(name): \(target)")
                }
            }
            let readme = try document("README.md")
            for word in readme.split(whereSeparator: { " `\n(),".contains($0) })
            where word.hasSuffix(".swift") || word.hasPrefix("packaging/") {
                let path = Daemon.root.appending(path: String(word)).path
                let inSources = Daemon.root.appending(path: "Sources/\(word)").path
                let exists = [path, inSources].contains(where: FileManager.default.fileExists)
                #expect(exists, "\(word)")
            }
        }

        @Test("the error that FORMAT shows is the one that is printed")
        func error() async throws {
            let text = try document("zones/FORMAT.md")
            let start = try #require(text.firstRange(of: "    office.zone:7:25: error"))
            let shown = text[start.lowerBound...].split(separator: "\n").prefix(3)
                .map { $0.dropFirst(4) }
            let lines = Array(repeating: "; a comment", count: 6) + [String(shown[1])]
            let file = try Scratch.shared.file("office.zone", lines.joined(separator: "\n"))
            let outcome = try await Program.run(Daemon.path, ["--check", "--zone", file])
            let folder = file.dropLast("office.zone".count)
            let expected = folder + shown.joined(separator: "\n") + "\n"
            #expect(outcome.errors == expected)
        }

        @Test("README shows the options of --help, and no others")
        func options() async throws {
            let help = try await Program.run(Daemon.path, ["--help"])
            // The last two are of the swift command.
            var known = Set(options(in: help.output) + ["--sanitize", "--product"])
            for command in [
                "verify", "status", "reload", "list", "set", "unset", "flush", "log",
            ] {
                let help = try await Program.run(Controlled.command, [command, "--help"])
                #expect(help.status == 0 && help.output.contains("usage: detour \(command)"))
                known.formUnion(options(in: help.output))
            }
            for option in options(in: try document("README.md")) {
                #expect(known.contains(option), "\(option)")
            }
        }

        private func options(in text: String) -> [String] {
            text.split { !($0.isLetter || $0 == "-") }.map(String.init)
                .filter { $0.hasPrefix("--") && $0.count > 2 }
        }

        private func fields(_ line: Substring) -> String {
            line.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
        }
    }
}
