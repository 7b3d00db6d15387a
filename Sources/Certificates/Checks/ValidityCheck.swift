/// Validity periods, both ends inclusive (RFC 5280, 4.1.2.5): the anchor's too.
enum ValidityCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().compactMap { index, certificate in
            finding(certificate, path.element(index), question)
        }
    }

    private static func finding(
        _ certificate: Certificate,
        _ element: Finding.Element,
        _ question: Question
    ) -> Finding? {
        let time = question.time
        let (begin, end) = (certificate.notBefore, certificate.notAfter)
        if end < begin { return Finding(.periodIsEmpty, element, "\(begin) to \(end)") }
        if time < begin {
            return Finding(.notYetValid, element, "valid from \(begin), asked at \(time)")
        }
        if time > end { return Finding(.expired, element, "valid to \(end), asked at \(time)") }
        let left = time.seconds(until: end)
        let days = left / 86_400
        if left < question.failBefore {
            return Finding(.expiresSoon, element, "\(days) days left, \(end)", severity: .failure)
        }
        let lifetime = max(1, begin.seconds(until: end))
        let percent = Int(Double(left) / Double(lifetime) * 100)
        let isBelow = question.warnBelowPercent.map { percent < $0 } ?? false
        if left < question.warnBefore || isBelow {
            let evidence = "\(days) days left, \(percent) % of its lifetime, \(end)"
            return Finding(.expiresSoon, element, evidence)
        }
        return nil
    }
}
