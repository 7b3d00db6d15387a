public import Certificates

/// What is required of an endpoint.
public struct Requirements: Sendable {
    /// The anchors that its chain must end in.
    public var anchors: Anchors
    /// How strictly the rules are read.
    public var profile = Profile.standard
    /// OpenSSL's security level for keys and signatures.
    public var securityLevel = 2
    /// Warn so many days before the path expires.
    public var warnDays = 21
    /// Fail so many days before.
    public var failDays = 0
    /// Warn where less than so many percent of a lifetime are left.
    public var warnBelowPercent: Int?
    /// Revocation lists; with any, everything below the anchor must be covered.
    public var revocationLists: [RevocationList] = []
    /// How many intermediates that are not self-issued a path may have; nil for any number.
    public var maximumDepth: Int?
    /// Keys of which one must be on the path, as base64 of SHA-256.
    public var pins: Set<String> = []
    /// The verdict is computed and printed, and does not count. Findings are never hidden.
    public var allowsInvalid = false
    /// What another time, name or anchor could mend only warns. Reported as lenient, never the default.
    public var isLenient = false
    /// The path that is asked for.
    public var path = "/"
    /// Status codes that are as expected; empty for any but 421.
    public var statuses: Set<Int> = []
    /// What header fields must say.
    public var headers: [HeaderRequirement] = []
    /// Text that the body's first 64 KiB must contain.
    public var bodyText: String?
    /// Whether redirects are followed, each hop through the overrides and verified anew.
    public var followsRedirects = false
    /// A user and password for Basic and Digest, sent to this name only.
    public var password: Credential?
    /// A client certificate, sent to this name only where it is asked for.
    public var clientCertificate: Credential?

    /// The usual requirements, with these anchors.
    public init(anchors: Anchors) { self.anchors = anchors }

    /// The certificate question that they amount to.
    func question(_ evidence: Evidence, at time: Moment) -> Question {
        var question = Question(name: evidence.reference, time: time)
        question.profile = profile
        question.securityLevel = securityLevel
        question.warnBefore = Int64(warnDays) * 86_400
        question.failBefore = Int64(failDays) * 86_400
        question.warnBelowPercent = warnBelowPercent
        question.revocationLists = revocationLists
        question.pins = pins
        question.maximumDepth = maximumDepth
        question.staple = evidence.handshake?.staple.flatMap { octets(base64: $0.utf8) }
        question.isStapleExpected = evidence.handshake?.isComplete == true
        return question
    }
}

/// What a header field must say.
public struct HeaderRequirement: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// Text that one of its values must contain; nil where the field must be there at all.
    public var text: String?
    /// Turns the requirement round: no value may contain the text.
    public var isForbidden: Bool

    /// A requirement on one field.
    public init(name: String, text: String? = nil, isForbidden: Bool = false) {
        self.name = name
        self.text = text
        self.isForbidden = isForbidden
    }
}

/// Requirements by name: the first rule whose pattern fits, or else the general ones.
public struct Policy: Sendable {
    /// Requirements for the names that a pattern fits.
    public struct Rule: Sendable {
        /// Which names.
        public var pattern: NamePattern
        /// What is required of them.
        public var requirements: Requirements

        /// A rule.
        public init(pattern: NamePattern, requirements: Requirements) {
            self.pattern = pattern
            self.requirements = requirements
        }
    }

    /// What is required of names that no rule fits.
    public var general: Requirements
    /// Tried in their order.
    public var rules: [Rule]

    /// General requirements and exceptions from them.
    public init(general: Requirements, rules: [Rule] = []) {
        self.general = general
        self.rules = rules
    }

    /// What is required of a name.
    public func requirements(for name: String) -> Requirements {
        rules.first { $0.pattern.matches(name) }?.requirements ?? general
    }
}

/// A pattern over names: `*` stands for any text, dots included, `?` for one character.
public struct NamePattern: Sendable, Hashable {
    /// As it was written.
    public let text: String
    private let octets: [UInt8]

    /// The pattern that text spells.
    public init(_ text: String) {
        self.text = text
        octets = NamePattern.fold(text)
    }

    /// Whether it fits a name; neither case nor a trailing dot matters.
    public func matches(_ name: String) -> Bool {
        let name = NamePattern.fold(name)
        var (position, place) = (0, 0)
        var star: (pattern: Int, name: Int)?
        while place < name.count {
            if position < octets.count, octets[position] == 0x2A {
                star = (position, place)
                position += 1
            } else if position < octets.count,
                octets[position] == name[place] || octets[position] == 0x3F
            {
                position += 1
                place += 1
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                position = last.pattern + 1
                place = last.name + 1
            } else {
                return false
            }
        }
        return octets[position...].allSatisfy { $0 == 0x2A }
    }

    private static func fold(_ text: String) -> [UInt8] {
        let folded = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return folded.count > 1 && folded.last == 0x2E ? folded.dropLast() : folded
    }
}
