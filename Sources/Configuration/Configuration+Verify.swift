// The verifier's section: the names of what it requires of endpoints. What the values mean is the
// verifier's to say.

extension Configuration {
    /// What the verifier requires: in general, and of names that patterns fit.
    public struct Verify: Sendable {
        /// What is required of names that no pattern fits.
        public var general = Requirements()
        /// Exceptions, tried in their order.
        public var names: [Rule] = []
        /// Names to try for wildcards, by wildcard.
        public var samples: [(wildcard: String, names: [String])] = []
        /// Accepted findings; a file.
        public var baseline: String?
        /// Most seconds for one endpoint.
        public var timeout: UInt32?
        /// How many endpoints are contacted at once.
        public var jobs: Int?

        /// Requirements of the names that a pattern fits; what they do not say, the general ones do.
        public struct Rule: Sendable {
            /// The pattern, as in `*.staging.example.com`.
            public var match: String
            /// What is required.
            public var requirements: Requirements
        }

        /// What is required of an endpoint; nil: not said here.
        public struct Requirements: Sendable {
            /// Files or folders of anchors.
            public var anchors: [String]?
            /// Whether the system's anchors count too.
            public var system: Bool?
            /// The ports to contact.
            public var ports: [UInt16]?
            /// Warn so many days before expiry.
            public var warnDays: Int?
            /// Fail so many days before expiry.
            public var failDays: Int?
            /// Keys of which one must be on the path, base64 of SHA-256.
            public var pins: [String]?
            /// Revocation lists; files.
            public var revocationLists: [String]?
            /// Whether the verdict does not count.
            public var allowInvalid: Bool?
            /// What the HTTP exchange must show.
            public var expect: Expectations?
            /// A user and a file with the password, for Basic and Digest.
            public var basic: Login?
            /// A client certificate and its key; files.
            public var clientCertificate: ClientCertificate?

            /// Nothing.
            public init() {}
        }

        /// What the HTTP exchange must show; nil or empty: not said.
        public struct Expectations: Sendable {
            /// The path that is asked for.
            public var path: String?
            /// Status codes.
            public var status: [Int] = []
            /// Header fields with text that they must contain.
            public var headers: [(name: String, text: String)] = []
            /// Text that the body must contain.
            public var body: String?
            /// Whether redirects are followed.
            public var followRedirects: Bool?
        }

        /// A user and where the password is.
        public struct Login: Sendable {
            /// The user.
            public var user: String
            /// The file whose first line is the password.
            public var passwordFile: String
        }

        /// A client certificate and its key.
        public struct ClientCertificate: Sendable {
            /// The certificate's file.
            public var certificate: String
            /// The key's file; nil: the same.
            public var key: String?
        }

        /// A verifier's section that says nothing.
        public init() {}
    }
}

extension Configuration.Verify {
    /// The section's keys: the general requirements', and its own.
    enum Key: String, SettingKey {
        case anchors, system, ports, warnDays, failDays, pins, revocationLists, allowInvalid
        case expect, basic, clientCertificate
        case names, samples, baseline, timeout, jobs
    }

    init(_ setting: Setting, _ decoding: inout Decoding) {
        self.init()
        guard let section = setting.section(Key.self, &decoding) else { return }
        general = Requirements(
            Dictionary(
                uniqueKeysWithValues: section.compactMap { key, setting in
                    Requirements.Key(rawValue: key.rawValue).map { ($0, setting) }
                }
            ),
            &decoding
        )
        names = section[.names]?.list(&decoding, of: "rules") { Rule($0, &$1) } ?? []
        baseline = section[.baseline]?.path(&decoding)
        timeout = section[.timeout]?.seconds(&decoding, upTo: 86_400)
        jobs = section[.jobs]?.integer(1...1000, &decoding)
        let example = "an object such as { \"*.cdn.example.com\": [\"a.cdn.example.com\"] }"
        for (wildcard, names) in section[.samples]?.members(&decoding, allowing: example) ?? [] {
            guard wildcard.hasPrefix("*.") else {
                decoding.reject(names, "'\(wildcard)' is no wildcard; it begins with \"*.\"")
                continue
            }
            samples.append((wildcard, names.texts(&decoding, of: "names") ?? []))
        }
    }
}

extension Configuration.Verify.Rule {
    enum Key: String, SettingKey {
        case match
        case anchors, system, ports, warnDays, failDays, pins, revocationLists, allowInvalid
        case expect, basic, clientCertificate
    }

    init?(_ setting: Setting, _ decoding: inout Decoding) {
        guard let section = setting.section(Key.self, &decoding) else { return nil }
        requirements = Configuration.Verify.Requirements(
            Dictionary(
                uniqueKeysWithValues: section.compactMap { key, setting in
                    Configuration.Verify.Requirements.Key(rawValue: key.rawValue)
                        .map { ($0, setting) }
                }
            ),
            &decoding
        )
        guard let match = section[.match] else {
            decoding.reject(setting, "the key match is missing")
            return nil
        }
        guard let pattern = match.text(&decoding, allowing: "a pattern such as \"*.example.com\"")
        else { return nil }
        self.match = pattern
    }
}

extension Configuration.Verify.Requirements {
    enum Key: String, SettingKey {
        case anchors, system, ports, warnDays, failDays, pins, revocationLists, allowInvalid
        case expect, basic, clientCertificate
    }

    init(_ section: [Key: Setting], _ decoding: inout Decoding) {
        anchors = section[.anchors]?.paths(&decoding)
        system = section[.system]?.bool(&decoding)
        ports = section[.ports]?.ports(&decoding)
        warnDays = section[.warnDays]?.integer(0...36_500, &decoding)
        failDays = section[.failDays]?.integer(0...36_500, &decoding)
        pins = section[.pins]?.texts(&decoding, of: "keys' digests")
        revocationLists = section[.revocationLists]?.paths(&decoding)
        allowInvalid = section[.allowInvalid]?.bool(&decoding)
        expect = section[.expect].map { Configuration.Verify.Expectations($0, &decoding) }
        basic = section[.basic].flatMap { Configuration.Verify.Login($0, &decoding) }
        clientCertificate = section[.clientCertificate].flatMap {
            Configuration.Verify.ClientCertificate($0, &decoding)
        }
    }
}

extension Configuration.Verify.Expectations {
    enum Key: String, SettingKey {
        case path, status, headers, body, followRedirects
    }

    init(_ setting: Setting, _ decoding: inout Decoding) {
        guard let section = setting.section(Key.self, &decoding) else { return }
        path = section[.path]?.scanned(&decoding, allowing: "a path such as \"/health\"") {
            $0.hasPrefix("/") ? $0 : nil
        }
        status =
            section[.status]?.list(&decoding, of: "status codes") {
                $0.integer(100...599, &$1)
            } ?? []
        let example = "an object such as { \"content-type\": \"json\" }"
        for (name, text) in section[.headers]?.members(&decoding, allowing: example) ?? [] {
            if let text = text.text(&decoding) { headers.append((name, text)) }
        }
        body = section[.body]?.text(&decoding)
        followRedirects = section[.followRedirects]?.bool(&decoding)
    }
}

extension Configuration.Verify.Login {
    enum Key: String, SettingKey {
        case user, passwordFile
    }

    init?(_ setting: Setting, _ decoding: inout Decoding) {
        guard let section = setting.section(Key.self, &decoding) else { return nil }
        guard let user = section[.user], let file = section[.passwordFile] else {
            let missing = section[.user] == nil ? "user" : "passwordFile"
            decoding.reject(setting, "the key \(missing) is missing")
            return nil
        }
        guard let user = user.text(&decoding), let file = file.path(&decoding) else { return nil }
        self.user = user
        passwordFile = file
    }
}

extension Configuration.Verify.ClientCertificate {
    enum Key: String, SettingKey {
        case certificate, key
    }

    init?(_ setting: Setting, _ decoding: inout Decoding) {
        guard let section = setting.section(Key.self, &decoding) else { return nil }
        guard let certificate = section[.certificate] else {
            decoding.reject(setting, "the key certificate is missing")
            return nil
        }
        let key = section[.key]?.path(&decoding)
        guard let certificate = certificate.path(&decoding) else { return nil }
        self.certificate = certificate
        self.key = key
    }
}
