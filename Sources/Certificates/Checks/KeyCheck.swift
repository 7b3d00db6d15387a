/// Keys that OpenSSL's security level lets through, or that clients refuse anyway.
enum KeyCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().compactMap { index, certificate in
            finding(certificate.publicKey, path.element(index), question)
        }
    }

    private static func finding(
        _ key: PublicKey,
        _ element: Finding.Element,
        _ question: Question
    ) -> Finding? {
        let isLenient = question.securityLevel < 2
        switch key.kind {
        case .rsa(let bits) where bits < 2_048 && !isLenient:
            return Finding(.weakKey, element, "\(key)")
        case .rsa(let bits) where bits % 8 != 0:
            return Finding(
                .unusualKey,
                element,
                "\(key): not a whole number of octets",
                profile: question.profile
            )
        case .dsa, .explicitCurve:
            return Finding(.weakKey, element, "\(key)")
        case .curve(let curve) where !PublicKey.strongCurves.contains(curve.description):
            return Finding(.unusualKey, element, "\(key)", profile: question.profile)
        default:
            return nil
        }
    }
}
