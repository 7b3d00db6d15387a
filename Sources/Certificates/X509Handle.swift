internal import COpenSSL

/// Owns one parsed certificate of OpenSSL.
@safe
// Unchecked, for the pointer is not Sendable: after `init` nothing changes what it points to but
// OpenSSL's own caches, which OpenSSL guards with a lock, and only the last owner frees it.
final class X509Handle: @unchecked Sendable {
    let pointer: OpaquePointer

    init?(der: [UInt8]) {
        var used = 0
        // Safe: OpenSSL reads `count` octets of the array during the call, and copies them.
        guard
            let parsed = unsafe der.withUnsafeBufferPointer({
                unsafe copenssl_certificate($0.baseAddress, $0.count, &used)
            })
        else { return nil }
        unsafe pointer = parsed
        // What follows the certificate belongs to nobody.
        if used != der.count { return nil }
    }

    /// Takes over a reference to a certificate that was parsed before.
    init(adopting pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit {
        // Safe: `init` got the one reference that this frees.
        unsafe X509_free(pointer)
    }

    /// Whether the key of `issuer` made this certificate's signature; nil on a key that cannot tell.
    func isSigned(by issuer: X509Handle) -> Bool? {
        // Safe: both owners are alive, and OpenSSL only reads them.
        switch unsafe copenssl_signed_by(pointer, issuer.pointer) {
        case 1: true
        case 0: false
        default: nil
        }
    }
}

/// Owns one parsed CRL of OpenSSL.
@safe
// Unchecked for the reason that `X509Handle` is: nothing but OpenSSL's guarded caches changes after
// `init`, and only the last owner frees it.
final class CRLHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init?(der: [UInt8]) {
        // Safe: OpenSSL reads `count` octets of the array during the call, and copies them.
        guard
            let parsed = unsafe der.withUnsafeBufferPointer({
                unsafe copenssl_crl($0.baseAddress, $0.count)
            })
        else { return nil }
        unsafe pointer = parsed
    }

    deinit {
        // Safe: `init` got the one reference that this frees.
        unsafe X509_CRL_free(pointer)
    }
}

/// SHA-256 of some octets.
func sha256(_ octets: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    // Safe: both buffers live through the call, and the digest has its 32 octets.
    unsafe octets.withUnsafeBufferPointer { input in
        unsafe digest.withUnsafeMutableBufferPointer { output in
            unsafe copenssl_sha256(input.baseAddress, input.count, output.baseAddress)
        }
    }
    return digest
}

/// SHA-256 of a text's UTF-8, lower-case hexadecimal: stable, for fingerprints of findings.
public func fingerprint(_ text: String) -> String { hexadecimal(sha256(Array(text.utf8))) }
