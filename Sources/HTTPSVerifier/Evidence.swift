public import Certificates

/// What was seen at one endpoint, not judged. It can be stored, and judged again at another time.
public struct Evidence: Sendable, Codable, Equatable {
    /// The name that was asked for, as it is written in the override.
    public var name: String
    /// The address as text.
    public var address: String
    /// The port.
    public var port: UInt16
    /// What was spoken.
    public var scheme: Scheme
    /// The override's place.
    public var source: SourcePlace
    /// The DNS message that the address is from, in base64; nil where no server was asked.
    public var dnsAnswer: String?
    /// When it was collected, in seconds since 1970.
    public var collectedAt: Int64
    /// How often it was tried.
    public var attempts = 1
    /// Where and why it ended early; nil where it went through.
    public var failure: Failure?
    /// The TLS handshake, as far as it came.
    public var handshake: Handshake?
    /// The HTTP response.
    public var response: Response?
    /// How long each phase took.
    public var phases = Phases()
    /// The authentication challenges, in their order, and what became of them.
    public var challenges: [ChallengeRecord] = []

    /// What became of a redirect that was to be followed: `followed`, `not overridden`, `loop`.
    public var redirection: String?
    /// The endpoint that redirected here, as its name and authority.
    public var redirectedFrom: String?
    /// Whether a challenge handler trusts the server in spite of its findings.
    public var isTrustedByHandler = false

    /// Evidence of an endpoint where nothing has been seen yet.
    public init(_ endpoint: Endpoint, collectedAt: Moment) {
        name = endpoint.name
        address = endpoint.address.description
        port = endpoint.port
        scheme = endpoint.scheme
        source = endpoint.source
        dnsAnswer = endpoint.answer.map { base64($0) }
        self.collectedAt = collectedAt.seconds
    }

    /// The endpoint that this is about; nil where a stored address is not one.
    public var endpoint: Endpoint? {
        guard let address = InternetAddress(address) else { return nil }
        return Endpoint(
            name: name,
            address: address,
            port: port,
            scheme: scheme,
            source: source,
            answer: dnsAnswer.flatMap { octets(base64: $0.utf8) }
        )
    }

    /// Where and why an exchange ended early.
    public struct Failure: Sendable, Codable, Equatable {
        /// `dns`, `connect`, `tls` or `http`.
        public var stage: String
        /// Whether a deadline passed.
        public var isTimeout: Bool
        /// Whether the verification was interrupted before it came to this endpoint's end.
        public var isInterruption = false
        /// libcurl's code.
        public var code: Int
        /// Its text.
        public var message: String
    }

    /// What the server said in the handshake.
    public struct Handshake: Sendable, Codable, Equatable {
        /// Whether it was completed.
        public var isComplete = false
        /// The chain in the order in which it was sent, each certificate as base64 of its DER.
        public var chain: [String] = []
        /// `TLSv1.3`.
        public var version: String?
        /// `TLS_AES_256_GCM_SHA384`.
        public var cipher: String?
        /// The key exchange group: `x25519`.
        public var group: String?
        /// The application protocol: `h2`.
        public var applicationProtocol: String?
        /// The stapled OCSP response in base64.
        public var staple: String?
        /// Whether a client certificate was asked for.
        public var wantsClientCertificate = false
        /// Whether one was given.
        public var gaveClientCertificate = false
        /// The authorities that it asked for, each as base64 of a distinguished name's DER.
        public var clientAuthorities: [String] = []
        /// The alert that the server sent, by its number (RFC 8446, 6).
        public var alert: Int?

        /// The chain as DER.
        public var certificates: [[UInt8]] { chain.map { octets(base64: $0.utf8) ?? [] } }
    }

    /// An HTTP response.
    public struct Response: Sendable, Codable, Equatable {
        /// `1.1` or `2`.
        public var version: String
        /// The status code.
        public var status: Int
        /// The header fields in their order.
        public var headers: [HeaderField] = []
        /// The start of the body as text, where a requirement wants to read it.
        public var body: String?

        /// All values of a field, in their order.
        public func values(of name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }
    }

    /// One header field.
    public struct HeaderField: Sendable, Codable, Equatable {
        /// Its name as it was sent.
        public var name: String
        /// Its value without surrounding white space.
        public var value: String
    }

    /// Seconds from the start of the attempt until each phase was over; nil where it was not.
    public struct Phases: Sendable, Codable, Equatable {
        /// The TCP connection.
        public var connect: Double?
        /// The handshake.
        public var tls: Double?
        /// The first octet of the response.
        public var firstOctet: Double?
        /// Everything.
        public var total: Double?
    }

    /// An authentication challenge and what became of it.
    public struct ChallengeRecord: Sendable, Codable, Equatable {
        /// `basic`, `digest`, `clientCertificate`, …
        public var method: String
        /// The realm, where the scheme has one.
        public var realm: String?
        /// `used`, `default`, `cancelled`, `rejected`, `unsupported`, `timed out`, `withheld`.
        public var outcome: String
    }
}

extension Evidence {
    /// A chain that came from a file: as if it had been presented under `name`, by nobody.
    public init(chain: [[UInt8]], name: String, file: String, collectedAt: Moment) {
        self.name = name
        address = ""
        port = 0
        scheme = .https
        source = SourcePlace(file: file, line: 1)
        self.collectedAt = collectedAt.seconds
        var handshake = Handshake()
        handshake.chain = chain.map { base64($0) }
        self.handshake = handshake
    }

    /// The identity that was asked for; nil where it is no host name or nobody asked.
    var reference: ReferenceName? {
        ReferenceName(name) ?? InternationalName.asciiForm(of: name).flatMap { ReferenceName($0) }
    }
}
