internal import Certificates

// Kinds of the stages dns, connect, tls, protocol and http. Each carries its own advice.

extension Finding.Kind {
    static let notAName = Self(
        .dns,
        "not-a-name",
        .failure,
        "the name is not a host name",
        do: "Correct the owner name in the override zone."
    )
    static let connectFailed = Self(
        .connect,
        "failed",
        .error,
        "no connection",
        do: "Check address, port and service."
    )
    static let connectTimeout = Self(
        .connect,
        "timeout",
        .error,
        "no connection before the deadline",
        do: "Check routes and packet filters between here and the address."
    )
    static let interrupted = Self(
        .connect,
        "interrupted",
        .error,
        "the verification was interrupted",
        do: "Run it again."
    )

    static let tlsTimeout = Self(
        .tls,
        "timeout",
        .error,
        "the handshake was not over before the deadline",
        do: "Check the service: it accepts connections and does not answer."
    )
    static let notTLS = Self(
        .tls,
        "not-tls",
        .failure,
        "what answers at the port does not speak TLS",
        do: "Point the override to the TLS port, or turn TLS on."
    )
    static let handshakeFailed = Self(
        .tls,
        "handshake",
        .failure,
        "the handshake failed",
        do: "Look at the endpoint's log for the reason."
    )
    static let clientCertificateAsked = Self(
        .tls,
        "client-certificate-requested",
        .information,
        "the endpoint asks for a client certificate and goes on without",
        do: "Nothing; configure a certificate for this name to present one."
    )
    static let clientCertificateRequired = Self(
        .tls,
        "client-certificate-required",
        .warning,
        "the endpoint serves nobody without a client certificate",
        do: "Configure a client certificate for this name."
    )
    static let clientCertificateRefused = Self(
        .tls,
        "client-certificate-refused",
        .failure,
        "the endpoint refuses the client certificate",
        do: "Configure one that its authorities issued and that has not expired."
    )

    static let oldProtocol = Self(
        .protocol,
        "old-version",
        .failure,
        "the endpoint only speaks an old version of TLS",
        do: "Turn TLS 1.2 and 1.3 on (RFC 8996)."
    )
    static let brokenCipher = Self(
        .protocol,
        "broken-cipher",
        .failure,
        "the cipher suite is broken",
        do: "Allow AEAD cipher suites only (RFC 9325)."
    )
    static let noForwardSecrecy = Self(
        .protocol,
        "no-forward-secrecy",
        .warning,
        "the key exchange has no forward secrecy",
        do: "Allow ECDHE cipher suites; Apple's clients refuse others."
    )
    static let smallGroup = Self(
        .protocol,
        "small-group",
        .warning,
        "the key exchange group is small",
        do: "Use X25519, P-256 or a 2048 bit group."
    )

    static let noResponse = Self(
        .http,
        "no-response",
        .failure,
        "the connection ended without a response",
        do: "Look at the endpoint's log."
    )
    static let responseTimeout = Self(
        .http,
        "timeout",
        .error,
        "no response before the deadline",
        do: "Check the service."
    )
    static let misdirected = Self(
        .http,
        "misdirected",
        .failure,
        "421: the endpoint does not serve this name here",
        do: "Add the name to the endpoint's virtual hosts."
    )
    static let unexpectedStatus = Self(
        .http,
        "status",
        .failure,
        "the status is not an expected one",
        do: "Correct the endpoint, or the expectation."
    )
    static let serverError = Self(
        .http,
        "server-error",
        .warning,
        "the endpoint answers with an error of its own",
        do: "Look at the endpoint's log."
    )
    static let unexpectedHeader = Self(
        .http,
        "header",
        .failure,
        "a header field is not as expected",
        do: "Correct the endpoint, or the expectation."
    )
    static let unexpectedBody = Self(
        .http,
        "body",
        .failure,
        "the body does not have the expected text",
        do: "Correct the endpoint, or the expectation."
    )
    static let unauthorized = Self(
        .http,
        "unauthorized",
        .information,
        "401: the endpoint wants a credential",
        do: "Nothing; configure a credential for this name to present one."
    )
    static let credentialRefused = Self(
        .http,
        "credential-refused",
        .failure,
        "the endpoint refuses the credential",
        do: "Correct the configured credential."
    )
    static let credentialWithheld = Self(
        .http,
        "credential-withheld",
        .warning,
        "a credential was not sent, because no chain of the endpoint's is accepted",
        do: "Correct the chain first."
    )
    static let challengeUnsupported = Self(
        .http,
        "challenge-unsupported",
        .warning,
        "only unsupported authentication is offered",
        do: "Offer Digest or Basic to the verifier."
    )
    static let challengeUnresolved = Self(
        .http,
        "challenge-unresolved",
        .error,
        "an authentication challenge was cancelled",
        do: "Let the handler answer before its deadline."
    )
    static let redirect = Self(
        .http,
        "redirect",
        .information,
        "the endpoint redirects",
        do: "Nothing."
    )
    static let redirectDowngrade = Self(
        .http,
        "redirect-downgrade",
        .warning,
        "the endpoint redirects to a URL without TLS",
        do: "Redirect to https."
    )
    static let redirectNotOverridden = Self(
        .http,
        "redirect-not-overridden",
        .warning,
        "the endpoint redirects to a name that is not overridden",
        do: "Override that name as well, or let the endpoint stay on its own."
    )
    static let redirectLoop = Self(
        .http,
        "redirect-loop",
        .failure,
        "the redirects do not end",
        do: "Correct the endpoint."
    )
    static let plainHTTP = Self(
        .http,
        "plain",
        .information,
        "no TLS, so there is no certificate to verify",
        do: "Nothing."
    )
}
