import Foundation
import Testing

/// A folder with an authority, a certificate for `api.example.test`, `shop.example.test` and
/// `a.apps.example.test`, and what a run of the command needs.
struct Laboratory {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "detour-verify-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for authority in ["office", "other"] {
            try openssl(
                "req -x509 -newkey rsa:2048 -nodes -days 3000 -subj /CN=\(authority)"
                    + " -keyout \(authority).key -out \(authority).pem"
                    + " -addext keyUsage=critical,keyCertSign,cRLSign"
            )
        }
        let names = "DNS:api.example.test,DNS:shop.example.test,DNS:a.apps.example.test"
        try write(
            """
            subjectAltName = \(names)
            basicConstraints = CA:FALSE
            keyUsage = critical, digitalSignature
            extendedKeyUsage = serverAuth
            subjectKeyIdentifier = hash
            authorityKeyIdentifier = keyid
            """,
            to: "leaf.ext"
        )
        try openssl("req -newkey rsa:2048 -nodes -subj /CN=api -keyout leaf.key -out leaf.csr")
        try openssl(
            "x509 -req -in leaf.csr -CA office.pem -CAkey office.key -CAcreateserial -days 90"
                + " -extfile leaf.ext -out leaf.pem"
        )
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data((text + "\n").utf8).write(to: folder.appending(path: name))
        return name
    }

    func text(of name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private func openssl(_ words: String) throws {
        let process = try start("/usr/bin/openssl", words.split(separator: " ").map(String.init))
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(words)")
    }

    /// Starts a program in the folder; what it says goes to the file `log`.
    func start(_ path: String, _ words: [String], log: String = "log") throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = words
        process.currentDirectoryURL = folder
        try Data().write(to: folder.appending(path: log))
        let said = try FileHandle(forWritingTo: folder.appending(path: log))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = said
        process.standardError = said
        try process.run()
        return process
    }

    /// The program that was built beside the tests, started.
    func detour(_ words: [String], log: String) throws -> Process {
        try start(Bundle.main.bundleURL.appending(path: "detour").path, words, log: log)
    }

    /// Ends a program at once. What a thread of the tests starts has inherited that most signals
    /// are blocked, and would never see SIGTERM.
    func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// What a run of `detour verify` came to.
    struct Run {
        let status: Int32
        let text: String
    }

    func verify(_ words: String...) throws -> Run {
        let log = "run-\(UUID().uuidString)"
        let process = try detour(["verify"] + words, log: log)
        process.waitUntilExit()
        return Run(status: process.terminationStatus, text: try text(of: log))
    }

    /// The text behind `mark` in a file that a program still writes; nil after ten seconds.
    func wait(for mark: String, in log: String) throws -> Substring? {
        for _ in 0..<500 {
            let text = try text(of: log)
            if let place = text.range(of: mark), text[place.upperBound...].contains("\n") {
                return text[place.upperBound...].prefix { $0 != "\n" }
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return nil
    }

    /// A TLS server with the certificate on a free port of 127.0.0.1, for the length of a call.
    func serving(_ body: (_ port: String) throws -> Void) throws {
        let words = "s_server -accept 127.0.0.1:0 -cert leaf.pem -key leaf.key -www -naccept 1000"
        let server = try start(
            "/usr/bin/openssl",
            words.split(separator: " ").map(String.init),
            log: "server"
        )
        defer { end(server) }
        let address = try #require(try wait(for: "ACCEPT 127.0.0.1:", in: "server"))
        try body(String(address))
    }
}
