// Kinds of the stages chain, name, time and key. Each carries its own advice.

extension Finding.Kind {
    static let noCertificate = Self(
        .chain,
        "no-certificate",
        .failure,
        "no certificate was presented",
        do: "Configure the endpoint with its certificate and the intermediates."
    )
    static let malformed = Self(
        .chain,
        "malformed",
        .failure,
        fatal: true,
        "a certificate cannot be parsed",
        do: "Issue the certificate again with a conforming tool."
    )
    static let unknownIssuer = Self(
        .chain,
        "unknown-issuer",
        .failure,
        "the issuer is neither presented nor an anchor",
        do: "Let the endpoint send the missing intermediate, or add the issuer to the anchors."
    )
    static let untrustedRoot = Self(
        .chain,
        "untrusted-root",
        .failure,
        "the chain ends in a root that is not an anchor",
        do: "Add the root to the anchors of this name, or use a certificate that they issued."
    )
    static let badSignature = Self(
        .chain,
        "bad-signature",
        .failure,
        fatal: true,
        "certificates with the issuer's name exist, but none of them made the signature",
        do: "The issuer was renewed with another key, or the certificate was altered: replace it."
    )
    static let loop = Self(
        .chain,
        "loop",
        .failure,
        "the issuers only certify each other",
        do: "Let the endpoint send an intermediate that leads to an anchor."
    )
    static let budgetExhausted = Self(
        .chain,
        "budget-exhausted",
        .failure,
        "the search for a path was stopped at its budget",
        do: "Let the endpoint send only the certificates that its path needs."
    )
    static let notAnAuthority = Self(
        .chain,
        "not-an-authority",
        .failure,
        fatal: true,
        "an issuer on the path is not a certification authority",
        do: "Issue from a certificate with basic constraints CA:TRUE and the usage keyCertSign."
    )
    static let pathLength = Self(
        .chain,
        "path-length",
        .failure,
        fatal: true,
        "more intermediates than an issuer's path length allows",
        do: "Issue from higher up, or renew the issuer with a greater path length."
    )
    static let depth = Self(
        .chain,
        "depth",
        .failure,
        "more intermediates than the configuration allows",
        do: "Raise the allowed depth, or issue from higher up."
    )
    static let keyIdentifierMismatch = Self(
        .chain,
        "key-identifier-mismatch",
        .failure,
        "an issuer's key signed it, but its identifiers name another issuer",
        do: "Issue it again with the issuer's own key identifier and serial number."
    )
    static let notTrusted = Self(
        .chain,
        "not-trusted",
        .failure,
        "OpenSSL refuses the path",
        do: "See the reason that it gives."
    )
    static let internalError = Self(
        .chain,
        "internal-error",
        .failure,
        "the path could not be judged",
        do: "Report this as a fault of Detour, with the evidence file."
    )
    static let leafIsAnchor = Self(
        .chain,
        "leaf-is-anchor",
        .information,
        "the certificate itself is configured as an anchor",
        do: "Nothing, where that is meant: it is trusted as it is, and replaced with care."
    )
    static let authorityAsLeaf = Self(
        .chain,
        "authority-as-leaf",
        .warning,
        webPKI: .failure,
        "a certification authority's certificate serves as the endpoint's",
        do: "Issue a certificate for the endpoint that has CA:FALSE."
    )
    static let order = Self(
        .chain,
        "order",
        .information,
        "the certificates are not sent in the order of the path",
        do: "Send the leaf first and each issuer right behind (TLS 1.2 requires it)."
    )
    static let extraCertificate = Self(
        .chain,
        "extra-certificate",
        .information,
        "a certificate is sent that the path does not use",
        do: "Remove it from the endpoint's chain file."
    )
    static let duplicateCertificate = Self(
        .chain,
        "duplicate-certificate",
        .information,
        "a certificate is sent twice",
        do: "Remove one of them from the endpoint's chain file."
    )
    static let anchorSent = Self(
        .chain,
        "anchor-sent",
        .information,
        "the anchor is sent along, which is of no use",
        do: "Remove the root from the endpoint's chain file."
    )
    static let unusedExpired = Self(
        .chain,
        "unused-expired",
        .warning,
        "a certificate is sent that has expired; the path does without it",
        do: "Remove it from the endpoint's chain file: some clients stop at it."
    )

    static let nameMismatch = Self(
        .name,
        "mismatch",
        .failure,
        "the certificate is not for this name",
        do: "Issue it with the name among its subject alternative names."
    )
    static let noAlternativeName = Self(
        .name,
        "no-alternative-name",
        .failure,
        "the certificate has no subject alternative name; a common name is not one",
        do: "Issue it with the name among its subject alternative names."
    )
    static let commonName = Self(
        .name,
        "common-name",
        .information,
        webPKI: .failure,
        "the common name is none of the subject alternative names",
        do: "Leave the common name out, or repeat one of the alternative names."
    )
    static let nameForm = Self(
        .name,
        "form",
        .warning,
        webPKI: .failure,
        "an alternative name is not well-formed",
        do: "Issue it with names that are A-labels, or addresses of four or sixteen octets."
    )
    static let wildcardTooWide = Self(
        .name,
        "wildcard",
        .warning,
        webPKI: .failure,
        "a wildcard stands for too much",
        do: "Put the asterisk alone in the left-most label, above at least two others."
    )
    static let constraintViolated = Self(
        .name,
        "constraint-violated",
        .failure,
        fatal: true,
        "a name lies outside of an issuer's name constraints",
        do: "Issue from an authority that may issue for the name."
    )
    static let constraintWildcard = Self(
        .name,
        "constraint-wildcard",
        .failure,
        fatal: true,
        "a wildcard reaches names that an issuer's name constraints forbid",
        do: "List the names instead of the wildcard, or issue from another authority."
    )
    static let constraintForm = Self(
        .name,
        "constraint-form",
        .warning,
        webPKI: .failure,
        "name constraints are not well-formed",
        do: "Renew the issuer with constraints as in RFC 5280, 4.2.1.10."
    )
    static let constraintOnLeaf = Self(
        .name,
        "constraint-on-leaf",
        .warning,
        webPKI: .failure,
        "name constraints stand in a certificate that issues nothing",
        do: "Issue it without name constraints."
    )

    static let expired = Self(
        .time,
        "expired",
        .failure,
        "the certificate has expired",
        do: "Renew it."
    )
    static let notYetValid = Self(
        .time,
        "not-yet-valid",
        .failure,
        "the certificate is not valid yet",
        do: "Wait, or check the clocks of the endpoint, of its issuer and of this machine."
    )
    static let expiresSoon = Self(
        .time,
        "expires-soon",
        .warning,
        "the certificate expires soon",
        do: "Renew it."
    )
    static let periodIsEmpty = Self(
        .time,
        "period",
        .failure,
        fatal: true,
        "the certificate ends before it begins",
        do: "Issue it again."
    )

    static let weakKey = Self(
        .key,
        "weak",
        .failure,
        fatal: true,
        "the key is too weak",
        do: "Use RSA of at least 2048 bits, or P-256, P-384, P-521 or Ed25519."
    )
    static let unusualKey = Self(
        .key,
        "unusual",
        .warning,
        webPKI: .failure,
        "the key is of a kind that clients refuse",
        do: "Use RSA 2048, 3072 or 4096, or P-256 or P-384."
    )
    static let weakSignature = Self(
        .key,
        "weak-signature",
        .failure,
        fatal: true,
        "the signature's digest is too weak",
        do: "Issue it again with SHA-256 or better."
    )
    static let pinMatched = Self(
        .key,
        "pin-matched",
        .information,
        "a pinned key is on the path",
        do: "Nothing."
    )
    static let pinMismatch = Self(
        .key,
        "pin-mismatch",
        .failure,
        "no pinned key is on the path",
        do: "Compare the pins with the keys in the report."
    )
}
