import Certificates
import HTTPSVerifier
import Platform

/// The command line of `detour verify`.
struct VerifyOptions {
    var sources = ZoneOptions()
    var server: SocketAddress?
    var only: [String] = []
    var except: [String] = []
    var ports: [UInt16] = []
    var anchors: [String] = []
    var usesSystemAnchors = false
    var chain: String?
    var name: String?
    var evidence: String?
    var evidenceOut: String?
    var limbo: String?
    var revocationLists: [String] = []
    var time: Moment?
    var profile = Profile.standard
    var timeout: Double?
    var jobs: Int?
    var baseline: String?
    var reports: [(format: ReportFormat, path: String)] = []
    var format = ReportFormat.text
    var warningsAreErrors = false
    var includesTimes = true
    var wantsHelp = false

    /// What is wrong with a command line.
    struct Mistake: Error {
        let text: String
    }

    init(_ arguments: [String]) throws(Mistake) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            var option = argument
            var attached: String?
            if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
                option = String(argument[..<equals])
                attached = String(argument[argument.index(after: equals)...])
            }
            if let apply = VerifyOptions.flags[option] {
                if attached != nil { throw Mistake(text: "\(option) takes no value") }
                apply(&self)
                continue
            }
            guard option.hasPrefix("--"), VerifyOptions.valued.contains(option) else {
                throw Mistake(text: "there is no option \(argument)")
            }
            guard let value = attached ?? rest.popFirst() else {
                throw Mistake(text: "\(option) needs a value")
            }
            try set(option, value)
        }
        if wantsHelp { return }
        let forms = [chain, evidence, limbo].compactMap(\.self).count
        if forms > 1 { throw Mistake(text: "--chain, --evidence and --limbo exclude each other") }
        if chain == nil, !revocationLists.isEmpty { throw Mistake(text: "--crl goes with --chain") }
        if chain != nil, anchors.isEmpty, !usesSystemAnchors {
            throw Mistake(text: "--chain needs --anchors")
        }
    }

    private static let flags: [String: @Sendable (inout VerifyOptions) -> Void] = [
        "--help": { $0.wantsHelp = true },
        "-h": { $0.wantsHelp = true },
        "--json": { $0.format = .json },
        "--warnings-as-errors": { $0.warningsAreErrors = true },
        "--system": { $0.usesSystemAnchors = true },
        "--no-times": { $0.includesTimes = false },
    ]

    private static let valued: Set<String> = [
        "--config", "--zone", "--hosts", "--authoritative", "--rpz", "--server", "--only",
        "--except", "--port", "--anchors", "--chain",
        "--name", "--evidence", "--evidence-out", "--limbo", "--crl", "--at", "--profile",
        "--timeout", "--jobs", "--baseline", "--report", "--format",
    ]

    private mutating func set(_ option: String, _ value: String) throws(Mistake) {
        switch option {
        case "--config", "--zone", "--hosts", "--authoritative", "--rpz":
            try setSource(option, value)
        case "--server":
            guard let address = SocketAddress(scanning: value, port: 53) else {
                throw Mistake(text: "--server is an address, with a port or without, not \(value)")
            }
            server = address
        case "--only": only.append(value)
        case "--except": except.append(value)
        case "--anchors": anchors.append(value)
        case "--chain": chain = value
        case "--name": name = value
        case "--evidence": evidence = value
        case "--evidence-out": evidenceOut = value
        case "--limbo": limbo = value
        case "--crl": revocationLists.append(value)
        case "--baseline": baseline = value
        case "--at": time = try VerifyOptions.moment(value)
        case "--format": format = try VerifyOptions.format(value)
        case "--profile":
            guard let profile = Profile(rawValue: value) else {
                throw Mistake(text: "--profile is standard or webpki, not \(value)")
            }
            self.profile = profile
        case "--port":
            guard let port = UInt16(value), port > 0 else {
                throw Mistake(text: "--port is 1 to 65535, not \(value)")
            }
            ports.append(port)
        case "--timeout":
            guard let seconds = Double(value), seconds > 0, seconds < 86_400 else {
                throw Mistake(text: "--timeout is a number of seconds, not \(value)")
            }
            timeout = seconds
        case "--jobs":
            guard let jobs = Int(value), (1...1_000).contains(jobs) else {
                throw Mistake(text: "--jobs is 1 to 1000, not \(value)")
            }
            self.jobs = jobs
        default:
            guard let equals = value.firstIndex(of: "="), value.last != "=" else {
                throw Mistake(text: "--report is FORMAT=PATH, not \(value)")
            }
            let path = String(value[value.index(after: equals)...])
            reports.append((try VerifyOptions.format(String(value[..<equals])), path))
        }
    }

    private mutating func setSource(_ option: String, _ value: String) throws(Mistake) {
        do throws(OptionWords.Mistake) {
            var words = OptionWords([option, value])
            _ = try words.next()
            _ = try sources.take(option, &words)
        } catch {
            throw Mistake(text: error.sentence)
        }
    }

    private static func format(_ name: String) throws(Mistake) -> ReportFormat {
        guard let format = ReportFormat(rawValue: name) else {
            let names = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(text: "\(name) is no format; there are \(names)")
        }
        return format
    }

    /// RFC 3339, a date, seconds since 1970 as `@N`, or days from now as `+30d`.
    private static func moment(_ text: String) throws(Mistake) -> Moment {
        if let moment = Moment(text) { return moment }
        if text.hasPrefix("@"), let seconds = Int64(text.dropFirst()) {
            return Moment(seconds: seconds)
        }
        if text.hasPrefix("+"), text.hasSuffix("d"), let days = Int64(text.dropFirst().dropLast()),
            days < 1_000_000
        {
            return Moment.now.advanced(bySeconds: days * 86_400)
        }
        throw Mistake(text: "--at is a time as 2027-01-31T00:00:00Z, @SECONDS or +30d, not \(text)")
    }

    static let usage = """
        usage: detour verify [--config FILE] [--zone FILE]… [--anchors PATH]… [--server ADDR[:PORT]]
                             [--only GLOB]… [--except GLOB]… [--port N]… [--timeout SECONDS]
                             [--jobs N] [--evidence-out FILE] [OPTION]…
               detour verify --chain FILE --anchors PATH [--name NAME] [--crl FILE]… [OPTION]…
               detour verify --evidence FILE [--anchors PATH]… [OPTION]…
               detour verify --limbo FILE

        Verifies that each overridden endpoint presents a certificate for its name that chains to
        the configured anchors; or one chain out of a file; or stored evidence once more; or the
        cases of an x509-limbo file, with its results on standard output.

          --config FILE          a configuration; default: /etc/detour/detour.json5, where no zone
                                 is given
          --zone FILE, --hosts FILE, --authoritative ORIGIN=FILE, --rpz ORIGIN=FILE
                                 zone files, beside those of the configuration
          --server ADDR[:PORT]   ask a running daemon for the names, rather than the files alone
          --only, --except GLOB  which names: * is any text, dots included, ? one character
          --port N               ports, rather than those of the configuration (443)
          --timeout SECONDS      the most time for one endpoint (20)
          --jobs N               how many endpoints are contacted at once (32)
          --evidence-out FILE    keep what was seen, for --evidence
          --evidence FILE        judge what was kept, and contact nobody
          --chain FILE           judge a chain of certificates, and contact nobody
          --name NAME            the name that the chain is to be for
          --limbo FILE           judge the cases of an x509-limbo file
          --anchors PATH         certificates in PEM, DER or PKCS#7, or a folder of such files
          --system               use the system's store as well; never read without this
          --at TIME              judge at 2027-01-31T00:00:00Z, @SECONDS or +30d
          --profile PROFILE      standard (the default) or webpki (the letter of the rules)
          --crl FILE             revocation lists that must cover everything below the anchor
          --baseline FILE        accepted findings, [{"id": …, "reason": …, "expires": …}]
          --format FORMAT        what goes to standard output (text)
          --report FORMAT=PATH   a report to a file; several may be given
                                 text json junit sarif tap markdown github html prometheus
          --json                 the same as --format json
          --no-times             leave out times and durations, so that reports can be compared
          --warnings-as-errors   exit with 3 where there is nothing but warnings
          --help

        exit status: 0 all as required, 1 a verdict failed, 2 could not judge, 3 warnings,
                     64 usage, 78 configuration or anchors, 130 and 143 interrupted
        """
}
