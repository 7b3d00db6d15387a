/// One thing that a check has to say.
public struct Finding: Sendable, Hashable {
    /// What kind of thing it is: its stable id, and what it means.
    public let kind: Kind
    /// How bad it is, under the profile that was asked for.
    public var severity: Severity
    /// Which part of the endpoint or its chain it is about.
    public let element: Element
    /// What was seen. It may quote the certificate: escape it before it is shown.
    public let evidence: String

    /// A finding; its severity is the kind's unless given.
    public init(
        _ kind: Kind,
        _ element: Element,
        _ evidence: String,
        profile: Profile = .standard,
        severity: Severity? = nil
    ) {
        self.kind = kind
        self.element = element
        self.evidence = evidence
        self.severity = severity ?? (profile == .webPKI ? kind.webPKISeverity : kind.severity)
    }

    /// How bad a finding is.
    public enum Severity: Int, Sendable, Comparable, CaseIterable {
        /// Worth knowing.
        case information
        /// Works today, or for some clients only.
        case warning
        /// Could not be judged: the network's fault, not the endpoint's verdict.
        case error
        /// Not as required.
        case failure

        /// Orders milder before worse.
        public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }

        /// The word for it in reports.
        public var name: String {
            switch self {
            case .information: "info"
            case .warning: "warning"
            case .error: "error"
            case .failure: "failure"
            }
        }
    }

    /// The steps of a verification, in their order.
    public enum Stage: String, Sendable, CaseIterable {
        /// Name to addresses.
        case dns
        /// The TCP connection.
        case connect
        /// The handshake.
        case tls
        /// The path to an anchor.
        case chain
        /// The name of the endpoint.
        case name
        /// Validity periods.
        case time
        /// Keys, signatures and pins.
        case key
        /// The rest of the certificate's fields.
        case `extension`
        /// CRLs and OCSP.
        case revocation
        /// Version, cipher and group.
        case `protocol`
        /// The HTTP exchange.
        case http
        /// What particular clients would say.
        case compatibility
    }

    /// What a finding is about.
    public enum Element: Sendable, Hashable, CustomStringConvertible {
        /// The endpoint as a whole.
        case endpoint
        /// A certificate of the path: 0 is the leaf.
        case path(Int, count: Int)
        /// A certificate as it was presented: 0 is the first.
        case presented(Int)

        /// `leaf`, `intermediate 1`, `anchor`, `certificate 3 as presented`.
        public var description: String {
            switch self {
            case .endpoint: "endpoint"
            case .path(0, _): "leaf"
            case .path(let index, let count):
                index == count - 1 ? "anchor" : "intermediate \(index)"
            case .presented(let index): "certificate \(index + 1) as presented"
            }
        }
    }

    /// A kind of finding. Kinds are compared by id.
    public struct Kind: Sendable, Hashable {
        /// Stable between versions: `chain.unknown-issuer`.
        public let id: String
        /// The step it belongs to; the id starts with it.
        public let stage: Stage
        /// One short sentence without a full stop.
        public let title: String
        /// What to do about it.
        public let advice: String
        /// How bad it is under `Profile.standard`.
        public let severity: Severity
        /// How bad it is under `Profile.webPKI`.
        public let webPKISeverity: Severity
        /// Whether no other time, name or anchor would mend it.
        public let isFatal: Bool

        /// A kind; `webPKI` is the severity under that profile where it differs.
        public init(
            _ stage: Stage,
            _ name: String,
            _ severity: Severity,
            webPKI: Severity? = nil,
            fatal: Bool = false,
            _ title: String,
            do advice: String
        ) {
            id = stage.rawValue + "." + name
            self.stage = stage
            self.severity = severity
            webPKISeverity = webPKI ?? severity
            isFatal = fatal
            self.title = title
            self.advice = advice
        }

        /// Whether both are the same kind.
        public static func == (a: Kind, b: Kind) -> Bool { a.id == b.id }

        /// Hashes what equality compares.
        public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
}
