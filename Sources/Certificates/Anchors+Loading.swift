// Anchor files, told apart by their content: PEM (certificates and PKCS#7), DER, PKCS#7 in DER.

internal import COpenSSL

/// Why a file gives no anchors. Nothing may be contacted after this.
public struct AnchorFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// The line, from 1.
    public let line: Int
    /// Why.
    public let reason: String

    /// An error at a line of a file.
    public init(file: String, line: Int = 1, reason: String) {
        self.file = file
        self.line = line
        self.reason = reason
    }

    /// `file:line: error: reason`.
    public var description: String { "\(file):\(line): error: \(reason)" }
}

extension Anchors {
    /// Adds every certificate that `contents` holds.
    ///
    /// Text around PEM blocks and blocks of other types are passed over. A certificate block that
    /// does not parse is a warning as long as another one does. Throws where there is none at all.
    public mutating func add(contents: [UInt8], of file: String) throws(AnchorFileError) {
        let before = all.count + duplicates
        var firstFault: AnchorFileError?
        if PEM.isPEM(contents) {
            for block in PEM.blocks(in: contents) {
                if let fault = add(block, of: file) { firstFault = firstFault ?? fault }
            }
        } else if let certificate = try? Certificate(der: contents) {
            add(Anchor(certificate: certificate, file: file, line: 1))
        } else if let bundle = PKCS7Handle(der: contents) {
            for der in bundle.certificates { firstFault = add(der, at: 1, of: file) ?? firstFault }
        } else {
            let reason =
                contents.isEmpty ? "the file is empty" : "neither PEM, DER nor PKCS#7 certificates"
            throw AnchorFileError(file: file, reason: reason)
        }
        guard all.count + duplicates > before else {
            throw firstFault ?? AnchorFileError(file: file, reason: "there is no certificate in it")
        }
        if let firstFault { warn(file, firstFault.line, "skipped: " + firstFault.reason) }
    }

    private var duplicates: Int { warnings.count { $0.reason.hasPrefix("the same certificate") } }

    private mutating func add(_ block: PEM.Block, of file: String) -> AnchorFileError? {
        func fault(_ reason: String) -> AnchorFileError {
            AnchorFileError(file: file, line: block.line, reason: reason)
        }
        switch block.label {
        case "CERTIFICATE", "X509 CERTIFICATE":
            guard let der = block.content else { return fault("broken PEM: \(block.fault)") }
            return add(der, at: block.line, of: file)
        case "PKCS7", "CMS":
            guard let der = block.content else { return fault("broken PEM: \(block.fault)") }
            guard let bundle = PKCS7Handle(der: der) else { return fault("not a PKCS#7 bundle") }
            var first: AnchorFileError?
            for der in bundle.certificates { first = add(der, at: block.line, of: file) ?? first }
            return first
        case "TRUSTED CERTIFICATE":
            // Its trust settings may say no; to drop them would be to trust more than was said.
            return fault("a TRUSTED CERTIFICATE: write it as CERTIFICATE (openssl x509 -in)")
        default:
            return nil
        }
    }

    private mutating func add(_ der: [UInt8], at line: Int, of file: String) -> AnchorFileError? {
        do throws(CertificateError) {
            add(Anchor(certificate: try Certificate(der: der), file: file, line: line))
            return nil
        } catch {
            let reason =
                switch error {
                case .malformed(let reason): reason
                }
            return AnchorFileError(file: file, line: line, reason: "a certificate: " + reason)
        }
    }
}

/// Owns a parsed PKCS#7 bundle while its certificates are copied out.
@safe
private final class PKCS7Handle {
    private let pointer: UnsafeMutablePointer<PKCS7>

    init?(der: [UInt8]) {
        // Safe: OpenSSL reads `count` octets of the array during the call, and copies them.
        guard
            let parsed = unsafe der.withUnsafeBufferPointer({
                unsafe copenssl_pkcs7($0.baseAddress, $0.count)
            })
        else { return nil }
        unsafe pointer = parsed
    }

    deinit {
        // Safe: `init` got the one reference that this frees.
        unsafe PKCS7_free(pointer)
    }

    var certificates: [[UInt8]] {
        // Safe: the bundle is alive, and `index` stays below its count.
        unsafe (0..<max(0, copenssl_pkcs7_count(pointer))).compactMap { index in
            unsafe octets { unsafe copenssl_pkcs7_der(pointer, index, &$0) }
        }
    }

    private func octets(
        _ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int32
    ) -> [UInt8]? {
        var encoding: UnsafeMutablePointer<UInt8>?
        let count = unsafe encode(&encoding)
        guard count > 0, let start = unsafe encoding else { return nil }
        defer { unsafe copenssl_free(start) }
        // Safe: OpenSSL allocated `count` octets at `start`, freed only after this copy.
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
