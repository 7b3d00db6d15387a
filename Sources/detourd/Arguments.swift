import Configuration
import DNS
import Platform
import Zones

/// What the command line asks for.
struct Arguments {
    /// The configuration file; nil: the usual place, where nothing else is said.
    var file: String?
    var listen: [Configuration.Address] = []
    var zones: [ZoneFile] = []
    var upstreams: [Configuration.Address]?
    var upstreamAnchors: String?
    var forwardsNothing = false
    var allowed: [IPPrefix] = []
    var workers: Int?
    var control: String?
    var state: String?
    var user: String?
    /// Limits, each with its key and what it is to be.
    var limits: [(key: Configuration.Limits.Key, value: Int)] = []
    var exempt: [IPPrefix] = []
    var logFormat: Configuration.Log.Format?
    var checksOnly = false
    var asksForHelp = false
    var asksForVersion = false

    /// Why a command line cannot be taken; one sentence that says what to write instead.
    struct UsageError: Error {
        let sentence: String
    }

    init(_ words: [String]) throws(UsageError) {
        var index = 0
        while index < words.count {
            var word = words[index]
            index += 1
            var attached: String?
            if word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
                attached = String(word[word.index(after: equals)...])
                word = String(word[..<equals])
            }
            func value() throws(UsageError) -> String {
                if let attached { return attached }
                guard index < words.count else {
                    throw UsageError(sentence: "\(word) needs a value; see 'detourd --help'")
                }
                index += 1
                return words[index - 1]
            }
            switch word {
            case "--config": file = try value()
            case "--control": control = try value()
            case "--state": state = try value()
            case "--listen": listen.append(try Arguments.address(try value(), word, port: 53))
            case "--zone": zones.append(ZoneFile(path: try value(), kind: .override))
            case "--hosts": zones.append(ZoneFile(path: try value(), kind: .hosts))
            case "--authoritative": zones.append(try Arguments.zone(try value(), .authoritative))
            case "--rpz": zones.append(try Arguments.zone(try value(), .rpz))
            case "--upstream":
                upstreams = (upstreams ?? []) + [try Arguments.upstream(try value(), word)]
            case "--upstream-anchors": upstreamAnchors = try value()
            case "--no-upstream": forwardsNothing = true
            case "--allow": allowed.append(try Arguments.prefix(try value(), word))
            case "--workers": workers = try Arguments.count(try value(), word)
            case "--user": user = try value()
            case "--limit": limits.append(try Arguments.limit(try value()))
            case "--exempt": exempt.append(try Arguments.prefix(try value(), word))
            case "--log-format": logFormat = try Arguments.format(try value())
            case "--check": checksOnly = true
            case "--help", "-h": asksForHelp = true
            case "--version": asksForVersion = true
            default: throw UsageError(sentence: Arguments.unknown(word))
            }
            let takesNothing = ["--no-upstream", "--check", "--help", "--version"]
            if let attached, takesNothing.contains(word) {
                throw UsageError(sentence: "\(word) takes no value, but '\(attached)' was given")
            }
        }
    }

    private static func address(
        _ text: String,
        _ option: String,
        port: UInt16
    ) throws(UsageError) -> Configuration.Address {
        guard let address = Configuration.Address(scanning: text, port: port) else {
            throw UsageError(
                sentence: "\(option) \(text): not an address; write 192.0.2.1, 192.0.2.1:5300, "
                    + "2001:db8::1 or [2001:db8::1]:5300"
            )
        }
        return address
    }

    private static func upstream(
        _ text: String,
        _ option: String
    ) throws(UsageError) -> Configuration.Address {
        guard let upstream = Configuration.Address(scanningUpstream: text) else {
            throw UsageError(
                sentence: "\(option) \(text): not an upstream; write 192.0.2.1, "
                    + "[2001:db8::1]:5300 or tls://192.0.2.1#dns.example"
            )
        }
        return upstream
    }

    private static func zone(_ text: String, _ kind: ZoneKind) throws(UsageError) -> ZoneFile {
        guard let file = ZoneFile(flag: text, kind: kind) else {
            throw UsageError(
                sentence: "--\(kind) \(text): write the zone's name, '=' and its file, as in "
                    + "example.com=zones/example.com.zone"
            )
        }
        return file
    }

    private static func prefix(
        _ text: String,
        _ option: String
    ) throws(UsageError) -> IPPrefix {
        guard let prefix = IPPrefix(scanning: text) else {
            throw UsageError(
                sentence: "\(option) \(text): not a network; write 192.168.0.0/16, "
                    + "2001:db8::/32 or one address"
            )
        }
        return prefix
    }

    private static func count(_ text: String, _ option: String) throws(UsageError) -> Int {
        guard let count = Int(text), (1...256).contains(count) else {
            throw UsageError(sentence: "\(option) \(text): write a number from 1 to 256")
        }
        return count
    }

    private static func limit(
        _ text: String
    ) throws(UsageError) -> (key: Configuration.Limits.Key, value: Int) {
        let keys = Configuration.Limits.Key.allCases.filter { $0.range != nil }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let key = keys.first(where: { $0.rawValue == parts[0] }),
            let range = key.range
        else {
            let names = keys.map(\.rawValue)
            let hint =
                Spelling.nearest(to: parts.first.map(String.init) ?? "", among: names).map {
                    "did you mean \($0)=N?"
                } ?? "write one of \(names.joined(separator: ", ")), '=' and a number"
            throw UsageError(sentence: "--limit \(text): \(hint)")
        }
        guard let value = Int(parts[1]), range.contains(value) else {
            throw UsageError(
                sentence: "--limit \(text): write a number from \(range.lowerBound) to "
                    + "\(range.upperBound)"
            )
        }
        return (key, value)
    }

    private static func format(_ text: String) throws(UsageError) -> Configuration.Log.Format {
        guard let format = Configuration.Log.Format(rawValue: text) else {
            throw UsageError(sentence: "--log-format \(text): write text, logfmt or json")
        }
        return format
    }

    private static let options = [
        "--config", "--listen", "--zone", "--hosts", "--authoritative", "--rpz", "--upstream",
        "--upstream-anchors", "--no-upstream", "--allow", "--workers", "--control", "--state",
        "--user", "--limit",
        "--exempt", "--log-format", "--check", "--help", "--version",
    ]

    /// Names the option that was probably meant.
    private static func unknown(_ word: String) -> String {
        guard word.hasPrefix("-") else {
            return "'\(word)' is not an option; a zone file is given as '--zone \(word)'"
        }
        let hint =
            Spelling.nearest(to: word, among: options).map { "did you mean \($0)?" }
            ?? "see 'detourd --help'"
        return "unknown option \(word); \(hint)"
    }

    static let help = """
        detourd answers names from override zones and forwards every other query upstream.

        usage: detourd [OPTION]...

          --config FILE                read this file; flags add to its lists, and win over its
                                       other values; default: /etc/detour/detour.json5, where it
                                       exists and no zone is given
          --listen ADDR[:PORT]         serve on this address, UDP and TCP (repeatable);
                                       default: 127.0.0.1:53 and [::1]:53
          --zone FILE                  an override zone, in master-file format (repeatable)
          --hosts FILE                 overrides from a hosts file (repeatable)
          --authoritative ORIGIN=FILE  a zone that owns all names below ORIGIN (repeatable)
          --rpz ORIGIN=FILE            a response policy zone (repeatable)
          --upstream ADDR[:PORT]       forward to this resolver (repeatable), over TLS as
                                       tls://ADDR[:PORT]#NAME; default: those of /etc/resolv.conf
          --upstream-anchors FILE      what upstreams over TLS must chain to, PEM;
                                       default: the system's certificates
          --no-upstream                forward nothing: what is not an override is REFUSED
          --allow PREFIX               serve clients of this network (repeatable);
                                       default: private and loopback networks
          --workers N                  threads; default: one for each processor
          --control PATH               the control socket, for the command detour
          --state FOLDER               keep what is set at run time in this folder
          --user NAME[:GROUP]          become this user once everything is bound, for good
          --limit KEY=N                how much a client may ask for (repeatable): queries (5000 a
                                       second), burst (20000), waiting (4096 forwarded at a time),
                                       connections (1024, of all), connectionsPerClient (128),
                                       ipv4Prefix (32) and ipv6Prefix (64): what a client is
          --exempt PREFIX              limit no client of this network (repeatable);
                                       default: loopback
          --log-format FORMAT          text, logfmt or json; default: text on a terminal
          --check                      read configuration and zones, say what is wrong, and end
          --version, --help

        SIGHUP reads the configuration and the zones again; SIGTERM and SIGINT stop.
        Exit status: 0 stopped, 64 usage, 69 address in use, 71 the system refused, 77 not permitted,
        78 zones or settings.

        """
}
