/// The configured number of intermediates. Self-issued ones, which carry a key rollover, do not
/// count (RFC 5280, 4.2.1.9 counts path lengths in the same way).
enum DepthCheck {
    static func findings(in path: Path, asked question: Question) -> [Finding] {
        guard let allowed = question.maximumDepth else { return [] }
        let count = path.certificates.dropFirst().dropLast().count { !$0.isSelfIssued }
        guard count > allowed else { return [] }
        return [Finding(.depth, .endpoint, "\(count) intermediates, \(allowed) allowed")]
    }
}
