import CLoopback
import Certificates
import HTTPSVerifier
import Testing

/// A key and its certificate, in PEM.
struct Identity: Sendable {
    var key: String
    var certificate: String

    /// Issues a certificate below this one.
    func issue(_ draft: Draft) throws -> Identity { try draft.issued(by: self) }

    var anchors: Anchors {
        get throws {
            var anchors = Anchors()
            try anchors.add(contents: Array(certificate.utf8), of: "test.pem")
            return anchors
        }
    }
}

/// What a certificate for a test is to say.
struct Draft: Sendable {
    var commonName: String?
    var names: [String] = []
    var keyKind = "P-256"
    var key: String?
    var days = -1...90
    var isAuthority = false
    var digest: String? = "SHA256"
    var version = 3
    var extra: [String] = []
    var usage: String? = "serverAuth"
    var hasKeyUsage = true
    var namesIssuerKey = true

    static func authority(_ name: String) -> Draft {
        Draft(commonName: name, days: -100...3_000, isAuthority: true)
    }

    static func server(_ names: String...) -> Draft {
        Draft(commonName: nil, names: names.map { $0.contains(":") ? $0 : "DNS:" + $0 })
    }

    func selfSigned() throws -> Identity { try issued(by: nil) }

    func issued(by issuer: Identity?) throws -> Identity {
        let key = try self.key ?? Mint.key(keyKind)
        var extensions: [String] = []
        if version == 3 {
            if isAuthority {
                extensions.append("basicConstraints=critical,CA:TRUE")
                extensions.append("keyUsage=critical,keyCertSign,cRLSign,digitalSignature")
            } else {
                if hasKeyUsage {
                    extensions.append("keyUsage=critical,digitalSignature,keyEncipherment")
                }
                if let usage { extensions.append("extendedKeyUsage=" + usage) }
            }
            extensions.append("subjectKeyIdentifier=hash")
            if issuer != nil, namesIssuerKey { extensions.append("authorityKeyIdentifier=keyid") }
            if !names.isEmpty {
                let critical = commonName == nil ? "critical," : ""
                extensions.append("subjectAltName=" + critical + names.joined(separator: ","))
            }
            extensions += extra
        }
        let certificate = try Mint.certificate(self, key, issuer, extensions)
        return Identity(key: key, certificate: certificate)
    }
}

enum Mint {
    static func key(_ kind: String) throws -> String {
        // Safe: the C side copies nothing and returns a text of its own, freed below.
        let text = unsafe kind.withCString { unsafe cloopback_key($0) }
        return try #require(unsafe take(text))
    }

    static func certificate(
        _ draft: Draft,
        _ key: String,
        _ issuer: Identity?,
        _ extensions: [String]
    ) throws -> String {
        let now = Moment.now.seconds
        // Safe: every text lives until the call returns.
        let text = unsafe withTexts(
            [key, issuer?.key ?? key, issuer?.certificate, draft.commonName, draft.digest]
                + extensions.map(Optional.some)
        ) { texts in
            var spec = unsafe cloopback_certificate_spec()
            unsafe spec.key = texts[0]
            unsafe spec.issuer_key = texts[1]
            unsafe spec.issuer = texts[2]
            unsafe spec.common_name = texts[3]
            unsafe spec.digest = texts[4]
            unsafe spec.not_before = now + Int64(draft.days.lowerBound) * 86_400
            unsafe spec.not_after = now + Int64(draft.days.upperBound) * 86_400
            unsafe spec.version = draft.version
            unsafe spec.serial = Int.random(in: 1 << 40..<1 << 60)
            unsafe spec.extension_count = extensions.count
            let list = unsafe Array(texts[5...])
            return unsafe list.withUnsafeBufferPointer {
                unsafe spec.extensions = $0.baseAddress
                return unsafe cloopback_certificate(&spec)
            }
        }
        return try #require(unsafe take(text), "OpenSSL refuses the draft \(extensions)")
    }

    static func staple(
        for leaf: Identity,
        of issuer: Identity,
        signedBy signer: Identity? = nil,
        status: Int32 = 0,
        days: ClosedRange<Int> = -1...5
    ) throws -> [UInt8] {
        var der: UnsafeMutablePointer<UInt8>?
        let now = Moment.now.seconds
        // Safe: texts live until the call returns; the response is OpenSSL's, and leaks in a test.
        let count = unsafe withTexts([leaf.certificate, issuer.certificate, (signer ?? issuer).key])
        { texts in
            unsafe cloopback_staple(
                texts[0],
                texts[1],
                texts[2],
                status,
                now + Int64(days.lowerBound) * 86_400,
                now + Int64(days.upperBound) * 86_400,
                &der
            )
        }
        try #require(count > 0)
        return unsafe Array(UnsafeBufferPointer(start: der, count: count))
    }

    private static func take(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        guard let text = unsafe text else { return nil }
        defer { unsafe text.deallocate() }
        // Safe: the C side ends it with a zero octet.
        return unsafe String(cString: text)
    }
}

/// Lends C texts for the length of a call; nil stays NULL.
func withTexts<Result>(
    _ texts: [String?],
    _ body: ([UnsafePointer<CChar>?]) throws -> Result
) rethrows -> Result {
    let buffers = unsafe texts.map { text -> UnsafeMutableBufferPointer<CChar>? in
        guard let text else { return nil }
        let octets = text.utf8.map { CChar(bitPattern: $0) } + [0]
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: octets.count)
        unsafe _ = buffer.initialize(from: octets)
        return unsafe buffer
    }
    defer { unsafe buffers.forEach { unsafe $0?.deallocate() } }
    return try unsafe body(buffers.map { unsafe UnsafePointer($0?.baseAddress) })
}
