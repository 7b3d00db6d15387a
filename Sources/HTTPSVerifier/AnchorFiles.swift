// Anchors, chains and revocation lists out of files and folders.

public import Certificates
internal import FoundationEssentials

extension Anchors {
    /// Where Debian, Fedora and Alpine keep the system's store. Only ever read where it is asked for.
    public static let systemStores = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ]

    /// The anchors in the files that paths name; a folder stands for the files in it.
    ///
    /// Every file that is named must give at least one. In a folder, files without a certificate
    /// are warned about, and one file at least must have some.
    public init(paths: [String]) throws(AnchorFileError) {
        self.init()
        for path in paths { try add(path: path) }
    }

    private mutating func add(path: String) throws(AnchorFileError) {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw AnchorFileError(file: path, reason: "no such file or folder")
        }
        guard isFolder else {
            try add(contents: contents(of: path), of: path)
            return
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw AnchorFileError(file: path, reason: "the folder cannot be read")
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        var firstFault: AnchorFileError?
        var found = Anchors()
        for name in names where !name.hasPrefix(".") {
            var isInner = false
            let file = folder + name
            guard FileManager.default.fileExists(atPath: file, isDirectory: &isInner), !isInner
            else { continue }
            do throws(AnchorFileError) {
                try found.add(contents: contents(of: file), of: file)
            } catch {
                // A private key or a note beside the anchors does no harm; an unreadable or empty
                // one may have been an anchor.
                guard error.isAboutForeignContent else { throw error }
                firstFault = firstFault ?? error
            }
        }
        guard !found.isEmpty else {
            throw firstFault
                ?? AnchorFileError(file: path, reason: "there is no certificate in the folder")
        }
        add(found)
    }

    private func contents(of path: String) throws(AnchorFileError) -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw AnchorFileError(file: path, reason: "the file cannot be read")
        }
    }

    /// The anchors of the system's store, which nothing uses unasked.
    public static func system() throws(AnchorFileError) -> Anchors {
        guard
            let path = systemStores.first(where: { FileManager.default.fileExists(atPath: $0) })
        else { throw AnchorFileError(file: systemStores[0], reason: "there is no system store") }
        return try Anchors(paths: [path])
    }
}

extension AnchorFileError {
    fileprivate var isAboutForeignContent: Bool {
        reason == "neither PEM, DER nor PKCS#7 certificates"
            || reason == "there is no certificate in it"
    }
}

/// What a file holds, read for the command.
public enum InputFile {
    /// The octets of a file.
    public static func contents(_ path: String) throws(ConfigurationError) -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw ConfigurationError("\(path): error: the file cannot be read")
        }
    }

    /// The certificates of a chain file, leaf first, as DER: PEM, DER or PKCS#7.
    public static func chain(_ path: String) throws(ConfigurationError) -> [[UInt8]] {
        let contents = try contents(path)
        if PEM.isPEM(contents) {
            let chain = PEM.blocks(in: contents).filter { $0.label == "CERTIFICATE" }.map {
                $0.content ?? []
            }
            if !chain.isEmpty { return chain }
        }
        var bundle = Anchors()
        do throws(AnchorFileError) {
            try bundle.add(contents: contents, of: path)
        } catch {
            throw ConfigurationError(error.description)
        }
        return bundle.all.map(\.certificate.der)
    }

    /// The revocation lists of a file.
    public static func revocationLists(
        _ path: String
    ) throws(ConfigurationError) -> [RevocationList] {
        let contents = try contents(path)
        do throws(CertificateError) {
            return try RevocationList.lists(contents: contents)
        } catch {
            let reason =
                switch error {
                case .malformed(let reason): reason
                }
            throw ConfigurationError("\(path): error: not a revocation list: \(reason)")
        }
    }

    /// Replaces a file by new contents at once: a reader sees the old or the new, never a part.
    public static func write(
        _ contents: [UInt8],
        to path: String
    ) throws(ConfigurationError) {
        do {
            try Data(contents).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw ConfigurationError("\(path): error: the file cannot be written")
        }
    }
}
