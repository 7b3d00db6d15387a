import Configuration
import Control
import DNS

/// The command line of `detour explain`.
struct ExplainOptions {
    var sources = ZoneOptions()
    var name = Name.root
    var type = RecordType.a
    var asker = ExplainedClient()
    /// The control socket of a daemon that is asked.
    var control: String?
    var wantsJSON = false
    var wantsHelp = false

    init(_ words: [String]) throws(OptionWords.Mistake) {
        var words = OptionWords(words)
        var operands: [String] = []
        while let option = try words.next() {
            if try sources.take(option, &words) { continue }
            switch option {
            case "--json": wantsJSON = true
            case "--help", "-h": wantsHelp = true
            case "--tcp": asker.isStream = true
            case "--client": asker.client = try ExplainOptions.address(try words.value(), option)
            case "--server": asker.server = try ExplainOptions.address(try words.value(), option)
            case "--view": asker.view = try words.value()
            case "--control": control = try words.value()
            case let word where word.hasPrefix("-") && word.utf8.count > 1:
                throw OptionWords.Mistake(sentence: "there is no option \(word)")
            default: operands.append(option)
            }
        }
        if wantsHelp { return }
        guard control == nil || sources.isEmpty else {
            throw OptionWords.Mistake(
                sentence: "--control asks the daemon, which has its files; leave out --config and "
                    + "zones, or leave out --control"
            )
        }
        guard let first = operands.first else {
            throw OptionWords.Mistake(sentence: "a name is missing")
        }
        guard operands.count <= 2 else {
            throw OptionWords.Mistake(sentence: "a name and a type, but not '\(operands[2])'")
        }
        name = try ExplainOptions.name(first)
        if operands.count == 2 { type = try ExplainOptions.type(operands[1]) }
    }

    private static func name(_ text: String) throws(OptionWords.Mistake) -> Name {
        if let mistake = NameOperand.mistake(in: text) {
            throw OptionWords.Mistake(sentence: mistake)
        }
        guard let name = try? Name(scanning: text) else {
            throw OptionWords.Mistake(sentence: "\(text) is not a name")
        }
        return name
    }

    private static func type(_ text: String) throws(OptionWords.Mistake) -> RecordType {
        guard let type = RecordType(scanning: text) else {
            let usual = ["A", "AAAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SOA", "SRV", "SVCB"]
            let nearest = Spelling.nearest(to: text, among: usual + ["TXT", "CAA", "DS", "ANY"])
            throw OptionWords.Mistake(
                sentence: "\(text) is not a record type"
                    + (nearest.map { "; did you mean \($0)?" } ?? "")
            )
        }
        return type
    }

    private static func address(
        _ text: String,
        _ option: String
    ) throws(OptionWords.Mistake) -> String {
        guard IPAddress(scanning: text) != nil else {
            throw OptionWords.Mistake(sentence: "\(option) \(text): not an address")
        }
        return text
    }

    static let usage = """
        usage: detour explain NAME [TYPE] [--client ADDR] [--view NAME]
                              [--config FILE | --zone FILE… | --control PATH] [--json]

        Says step by step who decides about a name, with file and line, what is shadowed, and prints
        the answer as dig would print it. Nothing is asked of any server: where an upstream would
        be asked, that is said.

        From files, it is what a daemon would do that has just begun. With --control, the daemon
        that runs says what it does: what was set meanwhile, by whom and until when; what is cached,
        and for how long; which upstreams would be asked, and how they are.

          --config FILE   a configuration; default: /etc/detour/detour.json5, where no zone is given
          --zone FILE, --hosts FILE, --authoritative ORIGIN=FILE, --rpz ORIGIN=FILE
                          zone files, in the order of their precedence
          --control PATH  the control socket of the daemon to ask, in the place of files
          --client ADDR   who asks; default: 127.0.0.1, or a client of the view
          --server ADDR   the address of ours that is asked; default: 127.0.0.1
          --view NAME     somebody asks who has this view
          --tcp           over TCP
          --json          a JSON object on standard output
          --help

        exit status: 0 explained, 1 no such view, 64 usage, 69 no daemon, 77 not permitted,
        78 configuration or zones
        """
}
