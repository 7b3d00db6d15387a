import Control
import Foundation
import Platform
import Support
import Testing

extension TheDaemon {
    @Suite("Its rights", .enabled(if: Network.canBeMade, Network.reason))
    struct RightsTests {
        private let none: Set<String> = ["0000000000000000"]
        private let zone = "$ORIGIN example.test.\napi A 192.0.2.1\n"
        private var daemon: String { "\(Network.programs)/detourd" }

        private func says(_ program: Program, _ text: String) async -> Bool {
            await Daemon(program: program, port: 53).says(text)
        }

        @Test("nobody with CAP_NET_BIND_SERVICE alone binds port 53, and then has no capability")
        func capability() async throws {
            let file = try Scratch.shared.file("a.zone", zone)
            let program = try Network.start([
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                "--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service", daemon,
                "--listen", "127.0.0.1:53", "--zone", file, "--no-upstream", "--workers", "3",
            ])
            #expect(await says(program, "ready on 127.0.0.1:53"), "\(program.complaints)")
            let rights = try ThreadRights(of: program, withBoundingSet: false)
            #expect(rights.threads >= 4 && rights.capabilities == none)
            #expect(rights.users == ["65534 65534 65534 65534"] && rights.forbidsNew == ["1"])
            for transport in ["+notcp", "+tcp"] {
                let reply = try await Network.dig(in: program, "api.example.test \(transport)")
                #expect(reply.data("A") == ["192.0.2.1"])
            }
            program.signal(SIGTERM)
            #expect(await program.end() == 0)
        }

        @Test(
            "root becomes the configured user for good; all that it does then works, and a restart"
        )
        func user() async throws {
            let control = try Controlled()
            let run = "\(control.folder)/run"
            let controlled = Controlled(folder: control.folder, socket: "\(run)/c")
            let file = "\(control.folder)/a.zone"
            try Scratch.shared.write(zone, to: file)
            try Scratch.shared.write(
                """
                {
                  listen: ["127.0.0.1:53"], zones: ["a.zone"], upstreams: [], workers: 2,
                  user: "nobody", control: "run/c", state: "state", metrics: "127.0.0.1:80",
                }
                """,
                to: "\(control.folder)/detour.json5"
            )
            let command = [daemon, "--config", "\(control.folder)/detour.json5"]
            for round in 1...2 {
                let program = try Network.start(command)
                #expect(await says(program, "ready on 127.0.0.1:53"), "\(program.complaints)")
                let rights = try ThreadRights(of: program, withBoundingSet: true)
                #expect(rights.threads >= 3 && rights.capabilities == none)
                #expect(rights.users == ["65534 65534 65534 65534"] && rights.forbidsNew == ["1"])
                // The machine may list the group as the user's own.
                #expect(rights.groups.isSubset(of: ["65534 65534 65534 65534", "65534", ""]))
                #expect(try owner(run) == 65534 && owner(controlled.socket) == 65534)
                #expect(try mode(controlled.socket) == 0o660)
                #expect(try owner(controlled.state) == 65534)
                if round == 2 {
                    let kept = try await Network.dig(in: program, "kept.test")
                    #expect(kept.data("A") == ["198.51.100.7"])
                }
                try await use(controlled, program, round)
                try Scratch.shared.write(zone + "new\(round) A 192.0.2.3\n", to: file)
                let reload = try await controlled.detour("reload")
                #expect(reload.status == 0, "\(reload.errors)")
                let new = try await Network.dig(in: program, "new\(round).example.test")
                #expect(new.data("A") == ["192.0.2.3"])
                let metrics = try await Network.run(
                    in: program,
                    ["curl", "-sS", "http://127.0.0.1/readyz"]
                )
                #expect(metrics.output == "ready\n")
                program.signal(SIGTERM)
                #expect(await program.end() == 0)
                #expect(!FileManager.default.fileExists(atPath: controlled.socket))
            }
        }

        /// Sets so often that the journal is written anew.
        private func use(_ control: Controlled, _ program: Program, _ round: Int) async throws {
            let set = try await control.detour("set", "kept.test", "A", "198.51.100.7")
            #expect(set.status == 0, "\(set.errors)")
            var request = Request(.set)
            request.name = "often.test"
            request.type = "A"
            request.records = ["198.51.100.8"]
            let socket = control.socket
            try await withTaskExecutorPreference(WaitingThread.shared) { [request] in
                var connection = try ControlConnection(to: socket)
                for _ in 0..<1100 { _ = try connection.ask(request, for: SetResult.self) }
            }
            let journal = "\(control.state)/overrides.journal"
            let lines = try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n")
            #expect(lines.count < 1000, "it was written anew")
            #expect(try owner(journal) == 65534)
            let often = try await Network.dig(in: program, "often.test")
            #expect(often.data("A") == ["198.51.100.8"])
            #expect(try await control.detour("unset", "often.test").status == 0)
            let gone = try await Network.dig(in: program, "often.test")
            #expect(gone.status == "REFUSED")
            let list = try await control.ask(Request(.list), for: ListResult.self)
            #expect(list.overrides.map(\.name) == ["kept.test."])
        }

        private func attribute(_ path: String, _ key: FileAttributeKey) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return (attributes[key] as? NSNumber)?.intValue ?? -1
        }

        private func owner(_ path: String) throws -> Int {
            try attribute(path, .ownerAccountID)
        }

        private func mode(_ path: String) throws -> Int { try attribute(path, .posixPermissions) }

        @Test("root without a user keeps no capability either")
        func root() async throws {
            let file = try Scratch.shared.file("a.zone", zone)
            try await Daemon.with(["--zone", file] + Daemon.alone) { daemon in
                let rights = try ThreadRights(of: daemon.program, withBoundingSet: true)
                #expect(rights.capabilities == none && rights.forbidsNew == ["1"])
                #expect(rights.users == ["0 0 0 0"])
            }
        }

        @Test(
            "a user that cannot be become is an error before anything is bound",
            arguments: [
                (["--user", "ghost-of-detour"], 78, "there is no user 'ghost-of-detour'"),
                (["--user", "nobody:ghosts"], 78, "there is no group 'ghosts'"),
                (["--user", "54321"], 78, "no group of its own; write 54321:GROUP"),
                (["--user", ""], 78, "write NAME, or NAME:GROUP"),
            ]
        )
        func unknown(_ options: [String], _ status: Int, _ text: String) async throws {
            // The port is taken: it would be complained about.
            try await Daemon.with(Daemon.alone) { other in
                let outcome = try await Program.run(
                    Daemon.path,
                    ["--listen", "127.0.0.1:\(other.port)"] + Daemon.alone + options
                )
                #expect(outcome.status == status && outcome.errors.contains(text))
                #expect(!outcome.errors.contains("in use"), "\(outcome.errors)")
            }
            let file = try Scratch.shared.file("a.zone", zone)
            let check = try await Program.run(Daemon.path, ["--check", "--zone", file] + options)
            #expect(check.status == status && check.errors.contains(text))
        }

        @Test("who is not root becomes nobody else, and may name itself; numbers are users too")
        func unprivileged() async throws {
            let asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", daemon]
            let free = ["--listen", "127.0.0.1:0"] + Daemon.alone
            let other = try await Program.run("setpriv", asNobody + free + ["--user", "daemon"])
            #expect(other.status == 77 && other.errors.contains("nobody cannot become daemon"))
            for (prefix, user) in [
                (["setpriv"] + asNobody, "nobody"), (["setpriv"] + asNobody, "65534:65534"),
                (["env", daemon], "54321:54321"),
            ] {
                let program = try Program(prefix[0], prefix.dropFirst() + free + ["--user", user])
                #expect(await says(program, "ready on"), "\(user): \(program.complaints)")
                let rights = try ThreadRights(of: program, withBoundingSet: false)
                let number = user == "54321:54321" ? "54321" : "65534"
                #expect(rights.users == ["\(number) \(number) \(number) \(number)"])
                #expect(rights.capabilities == none)
                program.signal(SIGTERM)
                #expect(await program.end() == 0)
            }
        }

        /// Forbids capset(2), as a service's SystemCallFilter does, and becomes a program.
        private static let filter = """
            import ctypes, os, struct, sys
            libc = ctypes.CDLL(None, use_errno=True)
            class Program(ctypes.Structure):
                _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
            capset = {"x86_64": 126, "aarch64": 91}[os.uname().machine]
            steps = ctypes.create_string_buffer(b"".join(
                struct.pack("HBBI", *step) for step in [
                    (0x20, 0, 0, 0), (0x15, 0, 1, capset), (0x06, 0, 0, 0x00050001),
                    (0x06, 0, 0, 0x7fff0000)]))
            program = Program(4, ctypes.cast(steps, ctypes.c_void_p))
            assert libc.prctl(38, 1, 0, 0, 0) == 0
            assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
            os.execvp(sys.argv[1], sys.argv[1:])

            """

        @Test(
            "where capset is forbidden: nothing to give up is well, port 53's right a warning, more an end",
            arguments: [("", 5353), ("net_bind_service", 53), ("net_bind_service,net_raw", 53)]
        )
        func filter(_ names: String, _ port: Int) async throws {
            let script = try Scratch.shared.file("filter.py", Self.filter)
            let file = try Scratch.shared.file("a.zone", zone)
            let sets = names.isEmpty ? "" : "+" + names.replacing(",", with: ",+")
            let capabilities =
                names.isEmpty ? [] : ["--inh-caps=\(sets)", "--ambient-caps=\(sets)"]
            let program = try Network.start(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + capabilities
                    + ["env", "python3", script, daemon, "--listen", "127.0.0.1:\(port)"]
                    + ["--zone", file] + Daemon.alone
            )
            guard !names.contains(",") else {
                #expect(await program.end() == 77)
                #expect(
                    program.complaints.contains("cannot give up cap_net_bind_service, cap_net_raw")
                )
                return
            }
            #expect(await says(program, "ready on"), "\(program.complaints)")
            let isWarned = program.complaints.contains("keeps cap_net_bind_service: capset(2)")
            #expect(isWarned == !names.isEmpty)
            program.signal(SIGTERM)
            #expect(await program.end() == 0)
        }

        @Test("what the user cannot read again, or write, is an error at the start")
        func files() async throws {
            let folder = try Scratch.shared.makeFolder()
            let file = "\(folder)/a.zone"
            let settings = "\(folder)/detour.json5"
            try Scratch.shared.write(zone, to: file)
            try Scratch.shared.write("{ zones: [\"a.zone\"], upstreams: [] }", to: settings)
            func outcome(_ options: [String]) async throws -> Program.Outcome {
                try await Program.run(
                    daemon,
                    ["--config", settings, "--listen", "127.0.0.1:0", "--user", "nobody"] + options
                )
            }
            func allow(_ mode: Int, _ path: String) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            try allow(0o600, file)
            let unreadable = try await outcome([])
            #expect(unreadable.status == 78 && unreadable.errors.contains("for the user nobody"))
            #expect(unreadable.errors.contains(file))
            // Root is no more than its owner either, once its rights are gone.
            try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: file)
            let foreign = try await Program.run(
                daemon,
                ["--zone", file, "--listen", "127.0.0.1:0"] + Daemon.alone
            )
            #expect(foreign.status == 78)
            #expect(foreign.errors.contains("root without its capabilities"), "\(foreign.errors)")
            try allow(0o644, file)

            try allow(0o600, settings)
            let secret = try await outcome([])
            #expect(secret.status == 78)
            #expect(secret.errors.contains("\(settings): the user nobody may not read it"))
            try allow(0o644, settings)

            // Its files can be read; what is in the folder cannot be watched.
            try allow(0o711, folder)
            let closed = try Program(
                daemon,
                ["--config", settings, "--listen", "127.0.0.1:0", "--user", "nobody"]
            )
            #expect(await says(closed, "the user nobody may not read the folder \(folder)"))
            closed.signal(SIGTERM)
            #expect(await closed.end() == 0)
            try allow(0o755, folder)

            let state = "\(folder)/state"
            try FileManager.default.createDirectory(
                atPath: state,
                withIntermediateDirectories: false
            )
            let unwritable = try await outcome(["--state", state])
            #expect(unwritable.status == 77)
            #expect(unwritable.errors.contains("chown -R nobody: \(state)"))
            // Its own now, but not the journal of a former run as root.
            try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: state)
            try Scratch.shared.write("", to: "\(state)/overrides.journal")
            try allow(0o600, "\(state)/overrides.journal")
            let former = try await outcome(["--state", state])
            #expect(former.status == 77, "\(former.errors)")
            #expect(former.errors.contains("chown -R nobody: \(state)"))
        }
    }
}
