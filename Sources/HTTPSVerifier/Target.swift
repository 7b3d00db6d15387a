public import Certificates

/// A name that is overridden, and where the override sends it. What zones, a running daemon or a
/// test hand to the verifier; nothing here knows how they found it.
public struct Target: Sendable, Hashable {
    /// The name as it is written: with or without a trailing dot, a DNS name or an address.
    public var name: String
    /// Every address that the name resolves to, each of which is verified.
    public var addresses: [InternetAddress]
    /// Every port to be verified.
    public var ports: [UInt16]
    /// What is spoken there.
    public var scheme: Scheme
    /// The override's place, where reports point to.
    public var source: SourcePlace
    /// The DNS messages that the addresses are from; empty where no server was asked.
    public var answers: [InternetAddress: [UInt8]] = [:]

    /// A target of some addresses and ports.
    public init(
        name: String,
        addresses: [InternetAddress],
        ports: [UInt16] = [],
        scheme: Scheme = .https,
        source: SourcePlace
    ) {
        self.name = name
        self.addresses = addresses
        self.ports = ports.isEmpty ? [scheme.defaultPort] : ports
        self.scheme = scheme
        self.source = source
    }

    /// One endpoint for each address and port, in their order.
    public var endpoints: [Endpoint] {
        addresses.flatMap { address in
            ports.map { port in
                Endpoint(
                    name: name,
                    address: address,
                    port: port,
                    scheme: scheme,
                    source: source,
                    answer: answers[address]
                )
            }
        }
    }
}

/// A line of a file: where an override stands.
public struct SourcePlace: Sendable, Hashable, Codable {
    /// The file's path, as it was configured.
    public var file: String
    /// The line, from 1.
    public var line: Int

    /// A line of a file.
    public init(file: String, line: Int) {
        self.file = file
        self.line = line
    }
}

/// All that a source of overrides has to say.
public struct TargetList: Sendable {
    /// What is to be verified.
    public var targets: [Target]
    /// What cannot be verified, and why: a wildcard without sample names.
    public var skipped: [SkippedTarget]

    /// A list of targets and of what was left out.
    public init(targets: [Target], skipped: [SkippedTarget] = []) {
        self.targets = targets
        self.skipped = skipped
    }
}

extension TargetList {
    /// The list without names that no pattern of `only` fits, or that one of `except` does; and
    /// with other ports, where some are given.
    public func selecting(
        only: [NamePattern],
        except: [NamePattern],
        ports: [UInt16] = []
    ) -> TargetList {
        func isWanted(_ name: String) -> Bool {
            (only.isEmpty || only.contains { $0.matches(name) })
                && !except.contains { $0.matches(name) }
        }
        var list = TargetList(
            targets: targets.filter { isWanted($0.name) },
            skipped: skipped.filter { isWanted($0.name) }
        )
        if !ports.isEmpty {
            for index in list.targets.indices { list.targets[index].ports = ports }
        }
        return list
    }
}

/// Something that is overridden but not verified.
public struct SkippedTarget: Sendable, Hashable {
    /// The name as it is written.
    public var name: String
    /// Why it is not verified.
    public var reason: String
    /// The override's place.
    public var source: SourcePlace

    /// A skipped name.
    public init(name: String, reason: String, source: SourcePlace) {
        self.name = name
        self.reason = reason
        self.source = source
    }
}

/// One address and port, asked under one name: a row of the report.
public struct Endpoint: Sendable, Hashable {
    /// The name as it is written in the override.
    public let name: String
    /// Where the socket goes, and nothing else.
    public let address: InternetAddress
    /// The port.
    public let port: UInt16
    /// What is spoken there.
    public let scheme: Scheme
    /// The override's place.
    public let source: SourcePlace
    /// The DNS message that the address is from; nil where no server was asked.
    public let answer: [UInt8]?

    /// One address and port of a name.
    public init(
        name: String,
        address: InternetAddress,
        port: UInt16,
        scheme: Scheme,
        source: SourcePlace,
        answer: [UInt8]? = nil
    ) {
        self.name = name
        self.address = address
        self.port = port
        self.scheme = scheme
        self.source = source
        self.answer = answer
    }

    /// `192.0.2.1:443`, `[2001:db8::1]:443`.
    public var authority: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }

    /// The name's identity: SNI, Host and certificate name all come from it. Nil where the name
    /// is none.
    public var reference: ReferenceName? {
        ReferenceName(name) ?? InternationalName.asciiForm(of: name).flatMap { ReferenceName($0) }
    }
}

/// What is spoken at a port.
public enum Scheme: String, Sendable, Hashable, CaseIterable, Codable {
    /// HTTP over TLS; `wss` is the same to the verifier.
    case https
    /// HTTP in the clear: reached, but there is no certificate.
    case http
    /// IMAP over TLS.
    case imaps
    /// POP3 over TLS.
    case pop3s
    /// SMTP over TLS.
    case smtps
    /// LDAP over TLS.
    case ldaps
    /// IMAP with STARTTLS.
    case imap
    /// POP3 with STLS.
    case pop3
    /// SMTP with STARTTLS.
    case smtp

    /// The scheme that text names, in any case; `ws` and `wss` are `http` and `https`.
    public init?(_ text: String) {
        switch text.lowercased() {
        case "wss": self = .https
        case "ws": self = .http
        case let other:
            guard let scheme = Scheme(rawValue: other) else { return nil }
            self = scheme
        }
    }

    /// The registered port.
    public var defaultPort: UInt16 {
        switch self {
        case .https: 443
        case .http: 80
        case .imaps: 993
        case .pop3s: 995
        case .smtps: 465
        case .ldaps: 636
        case .imap: 143
        case .pop3: 110
        case .smtp: 25
        }
    }

    /// Whether an HTTP exchange follows.
    public var isHTTP: Bool { self == .https || self == .http }
    /// Whether TLS begins after a greeting in the clear.
    public var isUpgraded: Bool { [.imap, .pop3, .smtp].contains(self) }
}
