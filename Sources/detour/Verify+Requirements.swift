// The verifier's policy out of the configuration's section and the command line. An option wins over
// a single value and adds to a list; what is added for all names does not widen a rule's own list.

import Certificates
import Configuration
import HTTPSVerifier

extension Policy {
    /// What is required of names; every file is read here, before anything is contacted.
    init(
        _ section: Configuration.Verify,
        _ options: VerifyOptions
    ) throws(ConfigurationError) {
        var section = section
        if !options.anchors.isEmpty {
            section.general.anchors = (section.general.anchors ?? []) + options.anchors
        }
        if options.usesSystemAnchors { section.general.system = true }
        self.init(general: try section.general.loaded(options.profile))
        for rule in section.names {
            rules.append(
                Rule(
                    pattern: NamePattern(rule.match),
                    requirements: try rule.requirements.filled(from: section.general)
                        .loaded(options.profile)
                )
            )
        }
    }
}

extension Configuration.Verify {
    /// The ports to contact for a name: those of the first rule that fits it, or the general ones.
    func ports(for name: String) -> [UInt16] {
        let rule = names.first { NamePattern($0.match).matches(name) }
        return rule?.requirements.ports ?? general.ports ?? [Scheme.https.defaultPort]
    }
}

extension Configuration.Verify.Requirements {
    /// These, and for what they do not say, the general ones.
    fileprivate func filled(from general: Self) -> Self {
        var filled = self
        filled.anchors = anchors ?? general.anchors
        filled.system = system ?? general.system
        filled.warnDays = warnDays ?? general.warnDays
        filled.failDays = failDays ?? general.failDays
        filled.pins = pins ?? general.pins
        filled.revocationLists = revocationLists ?? general.revocationLists
        filled.allowInvalid = allowInvalid ?? general.allowInvalid
        filled.expect = expect ?? general.expect
        filled.basic = basic ?? general.basic
        filled.clientCertificate = clientCertificate ?? general.clientCertificate
        return filled
    }

    fileprivate func loaded(_ profile: Profile) throws(ConfigurationError) -> Requirements {
        var requirements = Requirements(anchors: try loadedAnchors())
        requirements.profile = profile
        if let warnDays { requirements.warnDays = warnDays }
        if let failDays { requirements.failDays = failDays }
        for pin in pins ?? [] {
            guard octets(base64: pin.utf8)?.count == 32 else {
                throw ConfigurationError(
                    "verify.pins: error: \(pin) is not the base64 of a SHA-256 digest"
                )
            }
            requirements.pins.insert(pin)
        }
        for path in revocationLists ?? [] {
            requirements.revocationLists += try InputFile.revocationLists(path)
        }
        requirements.allowsInvalid = allowInvalid ?? false
        if let expect {
            if let path = expect.path { requirements.path = path }
            requirements.statuses = Set(expect.status)
            requirements.headers = expect.headers.map {
                HeaderRequirement(name: $0.name, text: $0.text)
            }
            requirements.bodyText = expect.body
            requirements.followsRedirects = expect.followRedirects ?? false
        }
        requirements.password = try basic?.credential()
        requirements.clientCertificate = try clientCertificate?.credential()
        return requirements
    }

    private func loadedAnchors() throws(ConfigurationError) -> Anchors {
        do throws(AnchorFileError) {
            var loaded = try Anchors(paths: anchors ?? [])
            if system == true { loaded.add(try Anchors.system()) }
            return loaded
        } catch {
            throw ConfigurationError(error.description)
        }
    }
}

extension Configuration.Verify.Login {
    /// The user with the first line of the file.
    fileprivate func credential() throws(ConfigurationError) -> Credential {
        let line = try InputFile.contents(passwordFile).prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else {
            throw ConfigurationError("\(passwordFile): error: the first line is empty")
        }
        return .password(user: user, password: String(decoding: line, as: UTF8.self))
    }
}

extension Configuration.Verify.ClientCertificate {
    fileprivate func credential() throws(ConfigurationError) -> Credential {
        var pem = try InputFile.contents(certificate)
        if let key { pem += [0x0A] + (try InputFile.contents(key)) }
        let labels = PEM.blocks(in: pem).map(\.label)
        guard labels.contains("CERTIFICATE") else {
            throw ConfigurationError("\(certificate): error: there is no certificate in PEM in it")
        }
        guard labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) else {
            throw ConfigurationError("\(key ?? certificate): error: there is no private key in it")
        }
        return .clientCertificate(pem: pem)
    }
}
