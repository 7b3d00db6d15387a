internal import Certificates

/// The response against what was expected of it.
enum ResponseCheck {
    static func findings(_ evidence: Evidence, _ requirements: Requirements) -> [Finding] {
        guard let response = evidence.response else { return [] }
        var findings: [Finding] = []
        let status = "status \(response.status)"
        if response.status == 421 {
            findings.append(Finding(.misdirected, .endpoint, status))
        } else if !requirements.statuses.isEmpty {
            if !requirements.statuses.contains(response.status) {
                let expected = requirements.statuses.sorted().map(String.init)
                let evidence = "\(status), expected \(expected.joined(separator: ", "))"
                findings.append(Finding(.unexpectedStatus, .endpoint, evidence))
            }
        } else if response.status >= 500 {
            findings.append(Finding(.serverError, .endpoint, status))
        }
        for requirement in requirements.headers {
            if let fault = fault(of: requirement, response) {
                findings.append(Finding(.unexpectedHeader, .endpoint, fault))
            }
        }
        if let text = requirements.bodyText, response.body?.contains(text) != true {
            findings.append(Finding(.unexpectedBody, .endpoint, "\"\(text)\" is not in it"))
        }
        return findings
    }

    private static func fault(
        of requirement: HeaderRequirement,
        _ response: Evidence.Response
    ) -> String? {
        let values = response.values(of: requirement.name)
        let matching =
            requirement.text.map { text in values.filter { $0.contains(text) } } ?? values
        if requirement.isForbidden {
            return matching.first.map { "\(requirement.name): \($0)" }
        }
        if !matching.isEmpty { return nil }
        let expected = requirement.text.map { " with \"\($0)\"" } ?? ""
        let seen = values.isEmpty ? "it is not there" : values.joined(separator: " | ")
        return "\(requirement.name)\(expected): \(seen)"
    }
}
