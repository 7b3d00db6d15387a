/// What a chain is asked: for which name, when, and how strictly.
public struct Question: Sendable {
    /// The name the endpoint was asked under; nil leaves names unchecked.
    public var name: ReferenceName?
    /// The moment at which everything must be valid.
    public var time: Moment
    /// How strictly the checks read the rules.
    public var profile: Profile
    /// What the leaf's key is to be used for.
    public var purpose: Purpose
    /// Revocation lists. With any, each certificate below the anchor must be covered by one.
    public var revocationLists: [RevocationList]
    /// How many intermediates that are not self-issued a path may have; nil for any number.
    public var maximumDepth: Int?
    /// OpenSSL's security level, 0 to 5; 2 wants 112 bits (RSA 2048, SHA-2).
    public var securityLevel: Int
    /// Warn where a certificate of the path expires within so many seconds.
    public var warnBefore: Int64
    /// Warn where less than this part of the lifetime is left, in percent; nil never.
    public var warnBelowPercent: Int?
    /// Fail where the path expires within so many seconds.
    public var failBefore: Int64
    /// The OCSP response that the endpoint stapled.
    public var staple: [UInt8]?
    /// Whether a staple was asked for, so that its absence means something.
    public var isStapleExpected: Bool
    /// SHA-256 of SubjectPublicKeyInfo in base64; with any, one must be in the validated path.
    public var pins: Set<String>

    /// A question with the usual strictness.
    public init(name: ReferenceName?, time: Moment) {
        self.name = name
        self.time = time
        profile = .standard
        purpose = .server
        revocationLists = []
        maximumDepth = nil
        securityLevel = 2
        warnBefore = 21 * 86_400
        warnBelowPercent = nil
        failBefore = 0
        staple = nil
        isStapleExpected = false
        pins = []
    }

    /// What a leaf's key is to be used for.
    public enum Purpose: Sendable, Hashable {
        /// A TLS server.
        case server
        /// A TLS client.
        case client
    }
}

/// How strictly the checks read the rules.
public enum Profile: String, Sendable, Hashable, CaseIterable {
    /// RFC 5280 and RFC 9525 as far as security depends on them. What only public certification
    /// authorities promise (missing key identifiers, an absent EKU) is a warning: private ones
    /// often leave it out, and clients accept that.
    case standard
    /// The letter of RFC 5280 and the CA/Browser Forum's baseline requirements.
    case webPKI = "webpki"
}
