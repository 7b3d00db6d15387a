import DNS

/// The command line of `detour explain`.
struct ExplainOptions {
    var sources = ZoneOptions()
    var name = Name.root
    var type = RecordType.a
    var client = IPAddress(ipv4: 0x7F00_0001)
    var server = IPAddress(ipv4: 0x7F00_0001)
    var isStream = false
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
            case "--tcp": isStream = true
            case "--client": client = try ExplainOptions.address(try words.value(), option)
            case "--server": server = try ExplainOptions.address(try words.value(), option)
            case "--control":
                throw OptionWords.Mistake(
                    sentence: "--control is not supported yet; give --config or --zone"
                )
            case let word where word.hasPrefix("-") && word.utf8.count > 1:
                throw OptionWords.Mistake(sentence: "there is no option \(word)")
            default: operands.append(option)
            }
        }
        if wantsHelp { return }
        guard let first = operands.first else {
            throw OptionWords.Mistake(sentence: "a name is missing")
        }
        guard operands.count <= 2 else {
            throw OptionWords.Mistake(sentence: "a name and a type, but not '\(operands[2])'")
        }
        guard let name = try? Name(scanning: first) else {
            throw OptionWords.Mistake(sentence: "\(first) is not a name")
        }
        self.name = name
        if operands.count == 2 {
            guard let type = RecordType(scanning: operands[1]) else {
                throw OptionWords.Mistake(sentence: "\(operands[1]) is not a record type")
            }
            self.type = type
        }
    }

    private static func address(
        _ text: String,
        _ option: String
    ) throws(OptionWords.Mistake) -> IPAddress {
        guard let address = IPAddress(scanning: text) else {
            throw OptionWords.Mistake(sentence: "\(option) \(text): not an address")
        }
        return address
    }

    static let usage = """
        usage: detour explain NAME [TYPE] [--client ADDR] [--config FILE | --zone FILE…] [--json]

        Says step by step who decides about a name, with file and line, what is shadowed, and prints
        the answer as dig would print it. Nothing is asked of any server: where an upstream would
        be asked, that is said.

          --config FILE   a configuration; default: /etc/detour/detour.json5, where no zone is given
          --zone FILE, --hosts FILE, --authoritative ORIGIN=FILE, --rpz ORIGIN=FILE
                          zone files, in the order of their precedence
          --client ADDR   who asks; default: 127.0.0.1
          --server ADDR   the address of ours that is asked; default: 127.0.0.1
          --tcp           over TCP
          --json          a JSON object on standard output
          --help

        exit status: 0 explained, 64 usage, 78 configuration or zones
        """
}
