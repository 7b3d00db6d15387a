import Foundation
import Testing

extension TheDaemon {
    @Suite("Its configuration file")
    struct ConfigurationFileTests {
        private func configuration(ttl: Int, clients: String) -> String {
            """
            {
              zones: ["base.zone"], ttl: \(ttl), upstreams: [],
              views: [{ name: "v", clients: ["\(clients)"], zones: ["view.zone"] }],
              chaos: { version: "lab" },
            }
            """
        }

        private func folder() throws -> String {
            let base = try Scratch.shared.file("base.zone", "a.test. A 192.0.2.1\n")
            let folder = String(base.dropLast("/base.zone".count))
            try Scratch.shared.write("a.test. A 192.0.2.2\n", to: folder + "/view.zone")
            return folder
        }

        @Test("views, TTLs and paths come from it, and SIGHUP reads it again")
        func reload() async throws {
            let file = try folder() + "/detour.json5"
            try Scratch.shared.write(configuration(ttl: 7, clients: "127.0.0.0/8"), to: file)
            try await Daemon.with(["--config", file]) { daemon in
                #expect(try await daemon.dig("a.test").data("A") == ["192.0.2.2"])
                try Scratch.shared.write(configuration(ttl: 8, clients: "10.0.0.0/8"), to: file)
                daemon.program.signal(SIGHUP)
                #expect(await daemon.says("reloaded: "))
                #expect(try await daemon.dig("a.test").data("A") == ["192.0.2.1"])
                try Scratch.shared.write("{ zonez: [] }", to: file)
                daemon.program.signal(SIGHUP)
                #expect(await daemon.says("did you mean zones?"))
                #expect(try await daemon.dig("a.test").data("A") == ["192.0.2.1"])
            }
        }

        @Test("what is wrong with it is said with its place; status 78")
        func wrong() async throws {
            let file = try Scratch.shared.file("detour.json5", "{\n  zonez: [],\n  ttl: 'x',\n}")
            let outcome = try await Program.run(Daemon.path, ["--config", file])
            #expect(outcome.status == 78)
            #expect(outcome.errors.hasPrefix("\(file):2:3: error: zonez: there is no such key"))
            #expect(outcome.errors.contains("\(file):3:8: error: ttl: found \"x\"; write "))
        }

        @Test("flags add to its lists and win over its values")
        func flags() async throws {
            let folder = try folder()
            let file = folder + "/detour.json5"
            try Scratch.shared.write(
                "{ zones: [\"base.zone\"], upstreams: [\"192.0.2.9\"] }",
                to: file
            )
            let options = ["--config", file, "--zone", folder + "/view.zone", "--no-upstream"]
            let outcome = try await Program.run(Daemon.path, options + ["--check"])
            #expect(outcome.status == 0)
            #expect(outcome.errors.contains("a.test. is owned by base.zone:1"))
            #expect(outcome.output == "1 name, no errors\n")
        }
    }
}
