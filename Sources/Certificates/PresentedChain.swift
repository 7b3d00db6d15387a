/// What there is to say about the certificates as they were sent, apart from the path they give.
enum PresentedChain {
    static func findings(
        leaf: Certificate,
        others: [Certificate],
        path: Path?,
        anchors: Anchors,
        time: Moment
    ) -> [Finding] {
        var findings: [Finding] = []
        var seen: Set<Certificate> = [leaf]
        for (index, certificate) in others.enumerated() {
            let place = Finding.Element.presented(index + 1)
            let name = certificate.subject.description
            if !seen.insert(certificate).inserted {
                findings.append(Finding(.duplicateCertificate, place, name))
                continue
            }
            guard let path else { continue }
            if path.anchor?.certificate == certificate {
                findings.append(Finding(.anchorSent, place, name))
            } else if !path.certificates.contains(certificate) {
                if certificate.notAfter < time {
                    let evidence = "\(name) expired on \(certificate.notAfter)"
                    findings.append(Finding(.unusedExpired, place, evidence))
                } else if anchors.anchor(for: certificate) == nil {
                    findings.append(Finding(.extraCertificate, place, name))
                }
            }
        }
        if let path {
            // The order counts among the certificates that the path uses, not among all.
            let places = path.certificates.dropFirst().compactMap { others.firstIndex(of: $0) }
            if places != places.sorted() {
                let order = places.map { String($0 + 2) }.joined(separator: ", ")
                findings.append(
                    Finding(.order, .endpoint, "the path goes through 1, \(order) as sent")
                )
            }
        }
        return findings
    }
}
