import Control
import Foundation
import Testing

extension TheDaemon {
    /// What a service manager does, done by a script.
    @Suite("Under a service manager", .enabled(if: Network.canBeMade, Network.reason))
    struct SupervisorTests {
        /// Binds sockets, hands them over as sd_listen_fds(3) says, and becomes the daemon.
        private static let manager = """
            import os, socket, sys
            words = sys.argv[1:]
            split = words.index("--")
            opened, names = [], []
            for word in words[:split]:
                name, kind, place = word.split(",")
                if kind == "unix":
                    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    s.bind(place)
                    s.listen()
                elif kind == "pipe":
                    s = os.fdopen(os.pipe()[0])
                else:
                    s = socket.socket(
                        socket.AF_INET,
                        socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
                    s.bind(("127.0.0.1", int(place)))
                opened.append(os.dup(s.fileno()))
                names.append(name)
            high = [os.dup2(fd, 100 + i) for i, fd in enumerate(opened)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i, inheritable=True)
            os.environ["LISTEN_PID"] = os.environ.get("WRONG_PID") or str(os.getpid())
            os.environ["LISTEN_FDS"] = str(len(high))
            os.environ["LISTEN_FDNAMES"] = ":".join(names)
            os.execvp(words[split + 1], words[split + 1:])

            """

        /// Prints what comes to NOTIFY_SOCKET, a line each.
        private static let listener = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(sys.argv[1])
            os.chmod(sys.argv[1], 0o777)
            print("bound", flush=True)
            while True:
                print(repr(s.recv(4096).decode()), flush=True)

            """

        /// Lets one thread of another process stand still until the script ends.
        private static let freezer = """
            import ctypes, sys, time
            libc = ctypes.CDLL(None, use_errno=True)
            libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
            for request in (0x4206, 0x4207):
                if libc.ptrace(request, int(sys.argv[1]), None, None) != 0:
                    sys.exit("ptrace: %d" % ctypes.get_errno())
            print("frozen", flush=True)
            while True:
                time.sleep(1)

            """

        private static let asNobody = [
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            "\(Network.programs)/detourd",
        ]

        private func file() throws -> String {
            try Scratch.shared.file("a.zone", "$ORIGIN example.test.\napi A 192.0.2.1\n")
        }

        private func supervised(
            _ sockets: [String],
            _ options: [String],
            environment: [String] = []
        ) throws -> Program {
            let manager = try Scratch.shared.file("manager.py", Self.manager)
            let words = ["env"] + environment + ["python3", manager] + sockets + ["--"]
            return try Network.start(words + Self.asNobody + options)
        }

        private func says(_ program: Program, _ text: String) async -> Bool {
            await Daemon(program: program, port: 53).says(text)
        }

        @Test("nobody serves sockets that were bound for it: UDP, TCP, control and metrics")
        func activation() async throws {
            let control = try Controlled()
            let program = try supervised(
                [
                    "dns,udp,53", "dns,tcp,53", "control,unix,\(control.socket)",
                    "metrics,tcp,80",
                ],
                ["--zone", try file(), "--workers", "2"] + Daemon.alone
            )
            #expect(await says(program, "ready on 127.0.0.1:53: 1 name"), "\(program.complaints)")
            for transport in ["+notcp", "+tcp"] {
                for _ in 0..<10 {
                    let reply = try await Network.dig(in: program, "api.example.test \(transport)")
                    #expect(reply.data("A") == ["192.0.2.1"])
                }
            }
            let status = try await control.detour("status")
            #expect(status.output.contains("serving      127.0.0.1:53, 2 workers"))
            let ready = try await Network.run(in: program, ["curl", "-sS", "127.0.0.1/readyz"])
            #expect(ready.output == "ready\n")
            let rights = try ThreadRights(of: program, withBoundingSet: false)
            #expect(rights.capabilities == ["0000000000000000"])
            program.signal(SIGTERM)
            #expect(await program.end() == 0)
            // The manager's own, for the next start.
            #expect(FileManager.default.fileExists(atPath: control.socket))
        }

        @Test("sockets for another process are left alone; what is of no use is said")
        func misuse() async throws {
            let zone = ["--zone", try file()] + Daemon.alone
            let others = try supervised(
                ["dns,udp,53"],
                zone + ["--listen", "127.0.0.1:5353"],
                environment: ["WRONG_PID=1"]
            )
            #expect(await says(others, "ready on 127.0.0.1:5353"), "\(others.complaints)")
            others.signal(SIGTERM)
            #expect(await others.end() == 0)

            let half = try supervised(["dns,udp,53", "x,pipe,0"], zone)
            #expect(await says(half, "ready on 127.0.0.1:53"), "\(half.complaints)")
            #expect(half.complaints.contains("served over UDP alone"))
            #expect(half.complaints.contains("socket 2 of the service manager is of no use"))
            half.signal(SIGTERM)
            #expect(await half.end() == 0)

            let nothing = try supervised(["metrics,tcp,80"], zone)
            #expect(await nothing.end() == 78)
            #expect(nothing.complaints.contains("none of the service manager's sockets"))
        }

        /// A program that prints what a daemon tells, and the daemon's environment for it.
        private func notified(
            _ environment: [String],
            _ options: [String]
        ) async throws -> (listener: Program, daemon: Daemon) {
            let socket = try Scratch.shared.makeFolder() + "/n"
            let script = try Scratch.shared.file("listener.py", Self.listener)
            let listener = try Program("env", ["python3", script, socket])
            while !listener.text.contains("bound") { try await Task.sleep(for: .milliseconds(10)) }
            let port = UInt16.random(in: 32_000..<32_500)
            let command =
                ["NOTIFY_SOCKET=\(socket)"] + environment + [Daemon.path]
                + ["--listen", "127.0.0.1:\(port)", "--zone", try file()] + Daemon.alone
            let program = try Program("env", command + options)
            let daemon = Daemon(program: program, port: port)
            #expect(await daemon.says("ready on"), "\(program.complaints)")
            return (listener, daemon)
        }

        private func messages(_ listener: Program, until text: String) async -> [String] {
            for _ in 0..<500 where !listener.text.contains(text) {
                try? await Task.sleep(for: .milliseconds(10))
            }
            return listener.text.split(separator: "\n").dropFirst().map(String.init)
        }

        @Test("it tells READY, RELOADING with the time, READY again and STOPPING")
        func notification() async throws {
            let (listener, daemon) = try await notified([], ["--user", "nobody"])
            daemon.program.signal(SIGHUP)
            _ = await messages(listener, until: "RELOADING")
            #expect(await daemon.says("nothing has changed"))
            daemon.program.signal(SIGTERM)
            #expect(await daemon.program.end() == 0)
            let told = await messages(listener, until: "STOPPING")
            listener.signal(SIGKILL)
            #expect(told.count == 4, "\(told)")
            try #require(told.count == 4)
            #expect(told[0] == "'READY=1\\nSTATUS=1 name'")
            let time = told[1].replacing("'RELOADING=1\\nMONOTONIC_USEC=", with: "").dropLast()
            #expect(UInt64(time) != nil, "\(told[1])")
            #expect(told[2] == "'READY=1\\nSTATUS=1 name'" && told[3] == "'STOPPING=1'")
        }

        @Test("the watchdog is told only while every worker answers")
        func watchdog() async throws {
            let (listener, daemon) = try await notified(
                ["WATCHDOG_USEC=200000"],
                ["--workers", "2"]
            )
            try await Task.sleep(for: .milliseconds(1000))
            #expect(signs(listener) >= 5)
            let freezer = try Scratch.shared.file("freezer.py", Self.freezer)
            let worker = try thread("worker 1", of: daemon.program)
            let frozen = try Program("env", ["python3", freezer, worker])
            for _ in 0..<500 where !frozen.text.contains("frozen") && frozen.isRunning {
                try await Task.sleep(for: .milliseconds(10))
            }
            try #require(frozen.text.contains("frozen"), "\(frozen.complaints)")
            let before = signs(listener)
            try await Task.sleep(for: .milliseconds(1500))
            // One may have been on its way.
            #expect(signs(listener) <= before + 1)
            frozen.signal(SIGKILL)
            _ = await frozen.end()
            try await Task.sleep(for: .milliseconds(2000))
            #expect(signs(listener) > before + 4)
            daemon.program.signal(SIGTERM)
            #expect(await daemon.program.end() == 0)
            listener.signal(SIGKILL)
        }

        private func signs(_ listener: Program) -> Int {
            listener.text.components(separatedBy: "WATCHDOG=1").count - 1
        }

        private func thread(_ name: String, of program: Program) throws -> String {
            let folder = "/proc/\(program.number)/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
            return try #require(
                threads.first {
                    (try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8))
                        == name + "\n"
                }
            )
        }
    }
}
