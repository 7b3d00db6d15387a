internal import COpenSSL

/// A stapled OCSP response: signed by the issuer or its delegate, about this certificate, current,
/// and good (RFC 6960, 3.2). Nothing is asked over the network.
enum StapleCheck {
    /// How far the clocks of responder and verifier may be apart.
    private static let skew: Int64 = 300

    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard let staple = question.staple else {
            guard question.isStapleExpected, path.leaf.requiresStaple else { return [] }
            return [Finding(.stapleMissing, path.element(0), "")]
        }
        // A leaf that is its own anchor has no issuer on the path who could have signed.
        guard path.certificates.count > 1 else { return [] }
        return [finding(read(staple, path, question), path.element(0), question.time)]
    }

    private static func read(_ staple: [UInt8], _ path: Path, _ question: Question)
        -> copenssl_staple
    {
        // Safe: buffer and owners live until the call returns, and OpenSSL keeps none of them.
        withExtendedLifetime(path) {
            unsafe staple.withUnsafeBufferPointer {
                unsafe copenssl_read_staple(
                    $0.baseAddress,
                    $0.count,
                    path.certificates[0].handle.pointer,
                    path.certificates[1].handle.pointer,
                    question.time.seconds
                )
            }
        }
    }

    private static func finding(
        _ staple: copenssl_staple,
        _ element: Finding.Element,
        _ time: Moment
    ) -> Finding {
        let update = Moment(seconds: staple.this_update)
        let next = Moment(seconds: staple.next_update)
        if staple.response_status != OCSP_RESPONSE_STATUS_SUCCESSFUL {
            let reason = staple.response_status < 0 ? "it does not parse" : "the responder failed"
            return Finding(.stapleInvalid, element, reason)
        }
        if staple.signature_is_valid == 0 {
            return Finding(.stapleInvalid, element, "neither the issuer nor its delegate signed it")
        }
        if staple.covers_certificate == 0 {
            return Finding(.stapleInvalid, element, "it is about another certificate")
        }
        if staple.certificate_status == V_OCSP_CERTSTATUS_REVOKED {
            let since = Moment(seconds: staple.revoked_at)
            return Finding(.revoked, element, "by the stapled OCSP response, since \(since)")
        }
        if staple.this_update == .min || update > time.advanced(bySeconds: skew) {
            return Finding(.stapleExpired, element, "it is from \(update), asked at \(time)")
        }
        if staple.next_update != .min, next < time.advanced(bySeconds: -skew) {
            return Finding(.stapleExpired, element, "it was good until \(next), asked at \(time)")
        }
        if staple.certificate_status != V_OCSP_CERTSTATUS_GOOD {
            return Finding(.stapleInvalid, element, "the responder does not know the certificate")
        }
        let until = staple.next_update == .min ? "" : " until \(next)"
        return Finding(.staplePresent, element, "from \(update)\(until)")
    }
}
