import Control
import Foundation
import Platform
import Support
import Testing

extension TheDaemon {
    @Suite("Under control")
    struct ControlTests {
        private let zone = "$ORIGIN example.test.\napi A 192.0.2.1\nwww A 192.0.2.2\n"

        @Test(
            "a name that is set is answered within 50 ms, and given back when it is unset or ends"
        )
        func setAndUnset() async throws {
            let control = try Controlled()
            let file = try Scratch.shared.file("a.zone", zone)
            try await Daemon.with(["--zone", file] + control.options + Daemon.alone) { daemon in
                var times: [Double] = []
                for number in 1...20 {
                    let address = "198.51.100.\(number)"
                    let name = "n\(number % 3).set.test"
                    times.append(try await control.timeToSet(name, address, port: daemon.port))
                }
                #expect(times.sorted()[10] < 50, "\(times)")
                let missing = try await daemon.dig("n1.set.test AAAA")
                #expect(missing.isNoData && missing.error == "4 (Forged Answer): (runtime:2)")

                let over = try await control.detour("set", "api.example.test", "A", "192.0.2.9")
                #expect(over.status == 0, "\(over.errors)")
                #expect(try await daemon.dig("api.example.test").data("A") == ["192.0.2.9"])
                let gone = try await control.detour("unset", "api.example.test")
                #expect(gone.status == 0)
                #expect(try await daemon.dig("api.example.test").data("A") == ["192.0.2.1"])
                let again = try await control.detour("unset", "api.example.test")
                #expect(again.status == 1 && again.errors.contains("nothing is set at"))

                for (slip, name) in [
                    ("https://api.example.test/", "api.example.test"),
                    ("api.example.test:443", "api.example.test"),
                    ("192.0.2.1", "1.2.0.192.in-addr.arpa PTR"),
                ] {
                    let refused = try await control.detour("set", slip, "A", "192.0.2.9")
                    #expect(refused.status == 64 && refused.errors.contains("\(name)?"), "\(slip)")
                }

                let short = try await control.detour(
                    "set",
                    "short.test",
                    "A",
                    "192.0.2.9",
                    "--for",
                    "1s",
                    "--note",
                    "a note\u{1B}[31m\nof two lines"
                )
                #expect(short.output.contains("until"))
                #expect(short.output.contains(": a note\\u{1B}[31m\\u{A}of two lines"))
                #expect(try await daemon.dig("short.test").status == "NOERROR")
                try await Task.sleep(for: .milliseconds(1100))
                #expect(try await daemon.dig("short.test").status == "REFUSED")
                let list = try await control.ask(Request(.list), for: ListResult.self)
                #expect(list.overrides.map(\.name).sorted() == (0..<3).map { "n\($0).set.test." })
                #expect(list.overrides.allSatisfy { $0.uid == getuid() && !$0.user.isEmpty })
            }
        }

        @Test("garbage, long lines and many clients are answered with an error; it serves on")
        func garbage() async throws {
            let control = try Controlled()
            let file = try Scratch.shared.file("a.zone", zone)
            try await Daemon.with(["--zone", file] + control.options + Daemon.alone) { daemon in
                let socket = control.socket
                try await withTaskExecutorPreference(WaitingThread.shared) {
                    for garbage in ["{\"command\":\"dance\"}\n", "\u{0}\u{1}\n", "[[[[\n", "{}\n"] {
                        var connection = try ControlConnection(to: socket)
                        try connection.send(Array(garbage.utf8))
                        let line = try connection.nextLine(milliseconds: 5000)
                        #expect(String(decoding: line, as: UTF8.self).contains("\"malformed\""))
                        // The connection is good for the next request.
                        _ = try connection.ask(Request(.list), for: ListResult.self)
                    }
                    var long = try ControlConnection(to: socket)
                    try long.send([UInt8](repeating: 0x61, count: 400_000))
                    let line = try long.nextLine(milliseconds: 5000)
                    #expect(String(decoding: line, as: UTF8.self).contains("longer than"))
                    let streams = FixedArray<LocalStream>(count: 100) { _ in
                        (try? LocalStream(connectingTo: socket)) ?? .none
                    }
                    #expect(streams.count == 100)
                }
                #expect(try await daemon.dig("api.example.test").data("A") == ["192.0.2.1"])
                let status = try await control.detour("status", "--json")
                #expect(status.status == 0 && status.output.contains("\"names\":2"))
            }
            let nobody = try await control.detour("status")
            #expect(nobody.status == 69 && nobody.errors.contains("no detourd serves"))
        }

        @Test("two daemons do not share a state folder, nor a control socket")
        func lock() async throws {
            let control = try Controlled()
            let other = try Controlled()
            let file = try Scratch.shared.file("a.zone", zone)
            let options = ["--zone", file] + Daemon.alone
            try await Daemon.with(options + control.options) { _ in
                for second in [
                    ["--state", control.state],
                    ["--control", control.socket, "--state", other.state],
                ] {
                    let outcome = try await Program.run(
                        Daemon.path,
                        ["--listen", "127.0.0.1:0"] + options + second
                    )
                    #expect(outcome.status == 69, "\(outcome.errors)")
                    #expect(outcome.errors.contains("another"), "\(outcome.errors)")
                }
            }
        }

        @Test("a full disk refuses what is set, and all is served as before")
        func fullDisk() async throws {
            // Only root can make a small disk.
            guard getuid() == 0 else { return }
            let control = try Controlled()
            let disk = try Scratch.shared.makeFolder()
            let mounted = try await Program.run(
                "mount",
                ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]
            )
            guard mounted.status == 0 else { return }
            let file = try Scratch.shared.file("a.zone", zone)
            let options = ["--zone", file, "--control", control.socket, "--state", "\(disk)/s"]
            try await Daemon.with(options + Daemon.alone) { daemon in
                var request = Request(.set)
                request.type = "A"
                request.records = ["192.0.2.1"]
                request.note = String(repeating: "x", count: 500)
                var done = 0
                var refusal: ControlError?
                for number in 0..<100 where refusal == nil {
                    request.name = "n\(number).test."
                    do {
                        _ = try await control.ask(request, for: SetResult.self)
                        done += 1
                    } catch {
                        refusal = error as? ControlError
                    }
                }
                #expect(refusal?.kind == .storage, "\(done)")
                #expect(refusal?.sentence.contains("the disk is full") == true)
                #expect(try await daemon.dig("api.example.test").data("A") == ["192.0.2.1"])
                #expect(try await daemon.dig("n\(done).test").status == "REFUSED")
                let list = try await control.ask(Request(.list), for: ListResult.self)
                #expect(list.overrides.count == done)
            }
            _ = try await Program.run("umount", [disk])
        }
    }
}
