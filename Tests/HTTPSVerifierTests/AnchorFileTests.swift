import Certificates
import FoundationEssentials
import HTTPSVerifier
import Testing

/// Anchors out of files: by content, tolerant around PEM blocks, strict inside, never silently none.
@Suite(.serialized) struct AnchorFileTests {
    let one: Identity
    let two: Identity

    init() throws {
        one = try FleetTests.root.get()
        two = try Draft.authority("Second Root").selfSigned()
    }

    private func load(_ text: String) throws(AnchorFileError) -> Anchors {
        var anchors = Anchors()
        try anchors.add(contents: Array(text.utf8), of: "a.pem")
        return anchors
    }

    private func der(_ identity: Identity) throws -> [UInt8] {
        try #require(PEM.blocks(in: Array(identity.certificate.utf8)).first?.content)
    }

    @Test func `comments, a byte order mark, CR, spaces, keys and headers around do no harm`()
        throws
    {
        let text =
            "\u{FEFF}Subject: root\r\n" + one.certificate.replacing("\n", with: "\r\n")
            + "\r\n # x\n"
            + one.key + "  " + two.certificate.replacing("\n", with: " \n") + "trailing"
        let anchors = try load(text)
        #expect(anchors.all.count == 2)
        #expect(anchors.warnings.isEmpty)
        let lines =
            one.certificate.split(separator: "\n").count + one.key.split(separator: "\n").count
        #expect(anchors.all.map(\.line) == [2, 2 + lines + 2])
    }

    @Test func `DER and PKCS#7 are told by their content`() throws {
        var anchors = Anchors()
        try anchors.add(contents: try der(one), of: "odd.name")
        #expect(anchors.all.map(\.place) == ["odd.name:1"])
        guard ReportTests.run(["openssl", "version"]) == 0 else {
            print("SKIPPED: the openssl command is absent")
            return
        }
        let pem = try ReportTests.write(one.certificate + two.certificate, "both.pem")
        for form in ["PEM", "DER"] {
            let path = pem + "." + form
            let status = ReportTests.run([
                "openssl", "crl2pkcs7", "-nocrl", "-certfile", pem, "-outform", form, "-out", path,
            ])
            try #require(status == 0)
            #expect(try Anchors(paths: [path]).all.count == 2)
        }
    }

    static let useless: [(String, String)] = [
        ("", "the file is empty"), ("\n\n", "neither PEM"), ("hello", "neither PEM"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "a certificate"),
        ("-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n", "its base64"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", "it has no END"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END X-----\n", "its END names X"),
        (
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "there is no certificate"
        ),
        (
            "-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
            "TRUSTED"
        ),
    ]

    @Test(arguments: useless)
    func `a file without a certificate is an error with its reason`(text: String, reason: String) {
        let error = #expect(throws: AnchorFileError.self) { try load(text) }
        #expect(error?.reason.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func `one odd block in a bundle is a warning, and so is a duplicate`() throws {
        let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let anchors = try load(odd + one.certificate + one.certificate)
        #expect(anchors.all.count == 1)
        #expect(anchors.warnings.count == 2)
        #expect(anchors.warnings.contains { $0.reason.contains("a.pem:4") })
    }

    @Test func `a folder is read whole, and an unreadable or empty file in it is an error`() throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "detour-anchors")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        #expect(throws: AnchorFileError.self) { try Anchors(paths: [folder.path]) }
        try write(one.certificate, "one.crt")
        try write(two.certificate, "two")
        try write("notes", "README")
        let anchors = try Anchors(paths: [folder.path])
        #expect(anchors.all.map(\.place) == ["one.crt:1", "two:1"].map { folder.path + "/" + $0 })
        try write("", "empty.pem")
        let error = #expect(throws: AnchorFileError.self) { try Anchors(paths: [folder.path]) }
        #expect(error?.file.hasSuffix("empty.pem") == true)
        #expect(throws: AnchorFileError.self) { try Anchors(paths: [folder.path + "/nothing"]) }
    }
}
