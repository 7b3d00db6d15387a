internal import Certificates

/// Version, cipher and group of the connection (RFC 9325).
enum ProtocolCheck {
    static func findings(_ evidence: Evidence, _ requirements: Requirements) -> [Finding] {
        guard let handshake = evidence.handshake, let version = handshake.version,
            let cipher = handshake.cipher
        else { return [] }
        var findings: [Finding] = []
        if ["SSLv3", "TLSv1", "TLSv1.1"].contains(version) {
            findings.append(Finding(.oldProtocol, .endpoint, version))
        }
        let broken = ["NULL", "RC4", "DES", "EXP", "ADH", "AECDH", "MD5"]
        if broken.contains(where: cipher.contains) {
            findings.append(Finding(.brokenCipher, .endpoint, cipher))
        }
        if !isForwardSecret(version, cipher) {
            findings.append(Finding(.noForwardSecrecy, .endpoint, cipher))
        }
        if let group = handshake.group, ["prime192v1", "secp192r1", "sect163r2"].contains(group) {
            findings.append(Finding(.smallGroup, .endpoint, group))
        }
        return findings
    }

    static func isForwardSecret(_ version: String, _ cipher: String) -> Bool {
        version == "TLSv1.3" || cipher.hasPrefix("ECDHE-") || cipher.hasPrefix("DHE-")
    }
}
