import Configuration
import DNS
import PolicyLoading
import Zones

/// The command line of `detour check`.
struct CheckOptions {
    private var sources = ZoneOptions()
    var wantsJSON = false
    var wantsHelp = false

    init(_ words: [String]) throws(OptionWords.Mistake) {
        var words = OptionWords(words)
        var kind = ZoneKind.override
        var origin: Name?
        var files: [String] = []
        while let option = try words.next() {
            if try sources.take(option, &words) { continue }
            switch option {
            case "--json": wantsJSON = true
            case "--help", "-h": wantsHelp = true
            case "--kind": kind = try CheckOptions.kind(try words.value())
            case "--origin":
                let text = try words.value()
                guard let name = try? Name(scanning: text) else {
                    throw OptionWords.Mistake(sentence: "--origin \(text): not a name")
                }
                origin = name
            case let word where word.hasPrefix("-") && word != "-":
                throw OptionWords.Mistake(sentence: "there is no option \(word)")
            default: files.append(option)
            }
        }
        if !files.isEmpty, origin == nil, kind == .authoritative || kind == .rpz {
            throw OptionWords.Mistake(sentence: "a zone of the kind \(kind) needs --origin")
        }
        sources.zones += files.map { ZoneFile(path: $0, kind: kind, origin: origin ?? .root) }
    }

    private static func kind(_ text: String) throws(OptionWords.Mistake) -> ZoneKind {
        guard let kind = ZoneKind.allCases.first(where: { "\($0)" == text }) else {
            let names = ZoneKind.allCases.map { "\($0)" }.joined(separator: ", ")
            throw OptionWords.Mistake(sentence: "--kind \(text): write one of \(names)")
        }
        return kind
    }

    /// Whether there is a file to check.
    var hasSomething: Bool { !sources.isEmpty || Configuration.hasUsualFile }

    func configuration() throws(RejectedConfiguration) -> Configuration {
        try sources.configuration()
    }

    static let usage = """
        usage: detour check [--config FILE] [--json]
               detour check [--kind KIND] [--origin NAME] FILE… [--json]

        Reads a configuration and its zones as the daemon does, and says what is wrong with them or
        seldom meant: names that are shadowed, aliases that lead in a circle, records that fit into
        no datagram, wildcards that match less than they seem to.

          --config FILE   a configuration; default: /etc/detour/detour.json5, where no file is given
          --kind KIND     what the files are: override (the default), authoritative, rpz or hosts
          --origin NAME   the zone's name; authoritative and rpz need it
          --zone FILE, --hosts FILE, --authoritative ORIGIN=FILE, --rpz ORIGIN=FILE
                          files of different kinds, in the order of their precedence
          --json          findings as a JSON object on standard output
          --help

        exit status: 0 good (warnings apart), 1 bad, 64 usage
        """
}
