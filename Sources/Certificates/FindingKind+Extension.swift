// Kinds of the stages extension, revocation and compatibility. Each carries its own advice.

extension Finding.Kind {
    static let unknownCritical = Self(
        .extension,
        "unknown-critical",
        .failure,
        fatal: true,
        "a critical extension is not known to anyone here",
        do: "Issue it without the extension, or not critical."
    )
    static let malformedExtension = Self(
        .extension,
        "malformed",
        .failure,
        fatal: true,
        "an extension cannot be decoded",
        do: "Issue it again with a conforming tool."
    )
    static let duplicateExtension = Self(
        .extension,
        "duplicate",
        .failure,
        fatal: true,
        "an extension occurs twice",
        do: "Issue it again with a conforming tool."
    )
    static let invalid = Self(
        .extension,
        "invalid",
        .failure,
        fatal: true,
        "an extension contradicts the rules",
        do: "See the reason, and issue it again."
    )
    static let version = Self(
        .extension,
        "version",
        .failure,
        fatal: true,
        "the certificate is not of version 3, so that it cannot say what it may be used for",
        do: "Issue it as version 3, with its extensions."
    )
    static let anchorVersion = Self(
        .extension,
        "anchor-version",
        .warning,
        webPKI: .failure,
        "the anchor is not of version 3",
        do: "Replace the root; some clients refuse it."
    )
    static let serialNumber = Self(
        .extension,
        "serial-number",
        .warning,
        webPKI: .failure,
        "the serial number is not a positive number of at most 20 octets",
        do: "Issue it with a random serial number of 16 octets."
    )
    static let subject = Self(
        .extension,
        "subject",
        .warning,
        webPKI: .failure,
        "subject and issuer are not as required",
        do: "Give authorities a subject; make the alternative name critical only without one."
    )
    static let signatureAlgorithm = Self(
        .extension,
        "signature-algorithm",
        .failure,
        fatal: true,
        "the signed and the unsigned signature algorithm differ",
        do: "Issue it again with a conforming tool."
    )
    static let basicConstraints = Self(
        .extension,
        "basic-constraints",
        .warning,
        webPKI: .failure,
        "the basic constraints are not as RFC 5280, 4.2.1.9 requires",
        do: "Authorities have critical basic constraints CA:TRUE, others CA:FALSE or none."
    )
    static let keyUsage = Self(
        .extension,
        "key-usage",
        .failure,
        "the key usage does not allow what the key is used for",
        do: "Issue it with digitalSignature (and keyEncipherment for RSA)."
    )
    static let keyUsageForm = Self(
        .extension,
        "key-usage-form",
        .warning,
        webPKI: .failure,
        "the key usage contradicts the basic constraints",
        do: "keyCertSign belongs to authorities, and to each of them."
    )
    static let extendedKeyUsage = Self(
        .extension,
        "extended-key-usage",
        .failure,
        "the certificate is not for TLS servers",
        do: "Issue it with the extended key usage serverAuth."
    )
    static let extendedKeyUsageForm = Self(
        .extension,
        "extended-key-usage-form",
        .information,
        webPKI: .failure,
        "the extended key usage is not as browsers require",
        do: "A leaf lists serverAuth, not critical; a root lists nothing."
    )
    static let keyIdentifier = Self(
        .extension,
        "key-identifier",
        .warning,
        webPKI: .failure,
        "the key identifiers are not as RFC 5280, 4.2.1.1 and 4.2.1.2 require",
        do: "Issue it with both key identifiers (Python 3.13 refuses it without)."
    )
    static let informationAccess = Self(
        .extension,
        "information-access",
        .warning,
        webPKI: .failure,
        "the authority information access extension is not as required",
        do: "Issue it with at least one access description, not critical."
    )
    static let policyConstraints = Self(
        .extension,
        "policy-constraints",
        .warning,
        webPKI: .failure,
        "policy constraints are not critical",
        do: "Renew the issuer with critical policy constraints (RFC 5280, 4.2.1.11)."
    )

    static let revoked = Self(
        .revocation,
        "revoked",
        .failure,
        fatal: true,
        "the certificate is revoked",
        do: "Replace it."
    )
    static let noRevocationList = Self(
        .revocation,
        "no-list",
        .failure,
        "no revocation list covers the certificate",
        do: "Give the issuer's CRL as well, or none at all."
    )
    static let revocationListExpired = Self(
        .revocation,
        "list-expired",
        .failure,
        "the revocation list is out of date",
        do: "Fetch a current one."
    )
    static let revocationListInvalid = Self(
        .revocation,
        "list-invalid",
        .failure,
        "the revocation list cannot be used",
        do: "See the reason, and ask the issuer for a proper one."
    )
    static let revocationListForm = Self(
        .revocation,
        "list-form",
        .warning,
        webPKI: .failure,
        "the revocation list is not as RFC 5280, 5.2 requires",
        do: "Ask the issuer for one with a CRL number that is not critical."
    )
    static let staplePresent = Self(
        .revocation,
        "staple-good",
        .information,
        "the stapled OCSP response says good",
        do: "Nothing."
    )
    static let stapleMissing = Self(
        .revocation,
        "staple-missing",
        .failure,
        "the certificate requires a stapled OCSP response, and there is none",
        do: "Turn OCSP stapling on, or issue the certificate without must-staple."
    )
    static let stapleInvalid = Self(
        .revocation,
        "staple-invalid",
        .failure,
        "the stapled OCSP response cannot be trusted",
        do: "Let the endpoint fetch a new response from its issuer's responder."
    )
    static let stapleExpired = Self(
        .revocation,
        "staple-expired",
        .failure,
        "the stapled OCSP response is out of date",
        do: "Let the endpoint refresh its response; check its clock."
    )

    static let strict = Self(
        .compatibility,
        "strict",
        .warning,
        "clients with strict checking (Python 3.13) refuse the path",
        do: "See the reason; private authorities often leave out what RFC 5280 asks for."
    )
}
