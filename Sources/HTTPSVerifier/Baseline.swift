public import Certificates
internal import FoundationEssentials

/// Findings that somebody has accepted, each with a reason and until when.
public struct Baseline: Sendable {
    /// One accepted finding.
    public struct Entry: Sendable, Codable, Equatable {
        /// `kind@name@address`, as in `time.expired@www.example.com@192.0.2.1:443`.
        public var id: String
        /// Why it is accepted.
        public var reason: String
        /// The last day on which it is, as in `2027-01-31`; nil for ever.
        public var expires: String?
    }

    /// The entries in their order.
    public let entries: [Entry]

    /// Nothing is accepted.
    public init() { entries = [] }

    /// The baseline that JSON encodes: an array of `{id, reason, expires}`.
    public init(json: [UInt8], of file: String) throws(ConfigurationError) {
        do {
            entries = try JSONDecoder().decode([Entry].self, from: Data(json))
        } catch {
            throw ConfigurationError("\(file): not a baseline: \(error)")
        }
        for entry in entries {
            if entry.reason.isEmpty { throw ConfigurationError("\(file): \(entry.id): no reason") }
            if let expires = entry.expires, Moment(expires) == nil {
                throw ConfigurationError("\(file): \(entry.id): not a date: \(expires)")
            }
        }
    }

    /// The id under which a finding is accepted.
    public static func id(_ finding: Finding, at evidence: Evidence) -> String {
        "\(finding.kind.id)@\(evidence.name)@\(evidence.authority)"
    }

    func reasons(
        for findings: [Finding],
        at evidence: Evidence,
        _ time: Moment
    ) -> [String: String] {
        var reasons: [String: String] = [:]
        for finding in findings where finding.severity > .information {
            let id = Baseline.id(finding, at: evidence)
            guard let entry = entries.first(where: { $0.id == id && $0.isCurrent(at: time) }) else {
                continue
            }
            reasons[finding.kind.id] = entry.reason
        }
        return reasons
    }

    /// Entries that accept nothing any more: nothing was found, or their day has passed.
    func stale(in verifications: [Verification], at time: Moment) -> [Entry] {
        let found = Set(
            verifications.flatMap { verification in
                verification.findings.filter { $0.severity > .information }.map {
                    Baseline.id($0, at: verification.evidence)
                }
            }
        )
        return entries.filter { !found.contains($0.id) || !$0.isCurrent(at: time) }
    }
}

extension Baseline.Entry {
    fileprivate func isCurrent(at time: Moment) -> Bool {
        guard let last = expires.flatMap({ Moment($0) }) else { return true }
        return time < last.advanced(bySeconds: 86_400)
    }
}

/// Why nothing can be verified at all; known before anything is contacted.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Why, with file and line where there are any.
    public let description: String

    /// An error with its reason.
    public init(_ description: String) { self.description = description }
}
