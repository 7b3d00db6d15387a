import Foundation
import Testing

extension TheDaemon {
    @Suite("What can go wrong when it starts")
    struct StartTests {
        private func start(_ options: [String]) async throws -> Program.Outcome {
            try await Program.run(Daemon.path, options)
        }

        /// The one line that was said, in the format for programs, without its level.
        private func sentence(_ outcome: Program.Outcome) -> String {
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count == 1, "one sentence: \(outcome.errors)")
            return lines.first.map(String.init) ?? ""
        }

        @Test("an error at line 7 is said with its place and the line; status 78")
        func badZone() async throws {
            let text =
                "$ORIGIN office.test.\na A 192.0.2.1\nb A 192.0.2.2\nc A 192.0.2.3\n"
                + "d A 192.0.2.4\ne A 192.0.2.5\nprinter A 192.0.2.300\n"
            let file = try Scratch.shared.file("office.zone", text)
            let options = ["--zone", file, "--listen", "127.0.0.1:29999", "--no-upstream"]
            let place = "\(file):7:11: error: '192.0.2.300' is not an IPv4 address"
            let outcome = try await start(options + ["--log-format", "text"])
            #expect(outcome.status == 78)
            #expect(outcome.errors.hasPrefix("\(place)\nprinter A 192.0.2.300\n          ^\n"))
            let check = try await start(["--check", "--zone", file])
            #expect(check.status == 78)
            #expect(check.errors.hasPrefix(place))
        }

        @Test("a file that cannot be read is named, with the reason; status 78")
        func unreadable() async throws {
            let missing = "/nonexistent/office.zone"
            let options = ["--zone", missing, "--listen", "127.0.0.1:29999", "--no-upstream"]
            let outcome = try await start(options)
            #expect(outcome.status == 78)
            let sentence = sentence(outcome)
            #expect(sentence.contains("\(missing): error: ") && sentence.contains("cannot be read"))
        }

        @Test("a port in use is said with who has it and what to do; status 69")
        func portInUse() async throws {
            try await Daemon.with(Daemon.alone) { daemon in
                let outcome = try await start(["--listen", "127.0.0.1:\(daemon.port)"])
                #expect(outcome.status == 69)
                let sentence = sentence(outcome)
                #expect(sentence.contains("127.0.0.1:\(daemon.port) is in use by detourd (process"))
                #expect(sentence.contains("--listen"))
            }
        }

        @Test("a missing right for port 53 is said with the ways to get it; status 77")
        func notPermitted() async throws {
            guard getuid() == 0 else { return }
            // The build may lie where others cannot go.
            let copy = try Scratch.shared.makeFolder() + "/detourd"
            try FileManager.default.copyItem(atPath: Daemon.path, toPath: copy)
            let outcome = try await Program.run(
                "setpriv",
                [
                    "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--bounding-set=-all",
                    copy, "--listen", "127.0.0.1:53", "--no-upstream",
                ]
            )
            #expect(outcome.status == 77)
            let sentence = sentence(outcome)
            #expect(sentence.contains("not permitted to serve 127.0.0.1:53"))
            #expect(sentence.contains("CAP_NET_BIND_SERVICE") && sentence.contains("--listen"))
        }

        @Test(
            "a command line that cannot be taken is one sentence with the way out; status 64",
            arguments: [
                ("--zoen x", "did you mean --zone?"),
                ("--frobnicate", "see 'detourd --help'"),
                ("--zone", "--zone needs a value"),
                ("zones/a.zone", "'--zone zones/a.zone'"),
                ("--listen 300.1.1.1", "not an address"),
                ("--workers many", "a number from 1 to 256"),
                ("--rpz file.rpz", "write the zone's name, '=' and its file"),
                ("--allow 10.0.0.0/40", "not a network"),
                ("--no-upstream=1", "takes no value"),
                ("--log-format xml", "text, logfmt or json"),
            ]
        )
        func usage(line: String, hint: String) async throws {
            let outcome = try await start(line.split(separator: " ").map(String.init))
            #expect(outcome.status == 64)
            let sentence = sentence(outcome)
            #expect(sentence.hasPrefix("detourd: ") && sentence.contains(hint))
        }

        @Test("--help and --version answer on standard output, and end well")
        func help() async throws {
            let help = try await start(["--help"])
            #expect(help.status == 0 && help.errors.isEmpty)
            #expect(help.output.contains("usage: detourd"))
            #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
            let version = try await start(["--version"])
            #expect(version.status == 0 && version.output.hasPrefix("detourd 0."))
        }
    }
}
