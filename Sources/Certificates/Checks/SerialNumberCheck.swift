/// Serial numbers are positive and at most 20 octets (RFC 5280, 4.1.2.2).
enum SerialNumberCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        path.certificates.enumerated().compactMap { index, certificate in
            let number = certificate.serialNumber
            // Old public roots have zero, and nobody revokes an anchor by its number.
            let isAnchor = index > 0 && index == path.certificates.count - 1
            let fault =
                if number.allSatisfy({ $0 == 0 }), !isAnchor {
                    "it is zero"
                } else if let first = number.first, first >= 0x80 {
                    "it is negative"
                } else if number.count > 20 {
                    "it has \(number.count) octets"
                } else {
                    ""
                }
            if fault.isEmpty { return nil }
            return Finding(.serialNumber, path.element(index), fault, profile: question.profile)
        }
    }
}
