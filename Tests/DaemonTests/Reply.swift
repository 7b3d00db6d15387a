/// A reply as dig shows it.
struct Reply {
    /// `NOERROR` and the like; nothing where no reply came.
    var status = ""
    var flags: Set<String> = []
    /// Records, with one blank between the fields.
    var answer: [String] = []
    var authority: [String] = []
    var additional: [String] = []
    /// The question as it came back, name and type.
    var question = ""
    /// The OPT record's line, and the Extended DNS Error.
    var edns: String?
    var error: String?
    /// All of it.
    let text: String

    /// Asks 127.0.0.1 once; `question` is the rest of dig's command line.
    static func dig(_ port: UInt16, _ question: String) async throws -> Reply {
        let words = question.split(separator: " ").map(String.init)
        let outcome = try await Program.run(
            "dig",
            ["-r", "@127.0.0.1", "-p", "\(port)", "+tries=1", "+timeout=5", "+nocookie"] + words
        )
        return Reply(outcome.output)
    }

    init(_ text: String) {
        self.text = text
        var section = ""
        for line in text.split(separator: "\n").map(String.init) {
            if line.hasPrefix(";; ->>HEADER<<-") {
                status = Reply.word(behind: "status: ", in: line)
            } else if line.hasPrefix(";; flags:") {
                let flags = line.dropFirst(9).prefix { $0 != ";" }
                self.flags = Set(flags.split(separator: " ").map(String.init))
            } else if line.hasPrefix("; EDNS:") {
                edns = line
            } else if line.hasPrefix("; EDE:") {
                error = String(line.dropFirst(7))
            } else if line.hasPrefix(";; ") {
                section = line
            } else if line.hasPrefix(";") {
                if section.contains("QUESTION") { question = Reply.fields(line.dropFirst()) }
            } else {
                switch section {
                case ";; ANSWER SECTION:": answer.append(Reply.fields(line[...]))
                case ";; AUTHORITY SECTION:": authority.append(Reply.fields(line[...]))
                case ";; ADDITIONAL SECTION:": additional.append(Reply.fields(line[...]))
                default: break
                }
            }
        }
    }

    /// The RDATA of the answer's records of a type.
    func data(_ type: String) -> [String] {
        answer.compactMap { record in
            let fields = record.split(separator: " ", maxSplits: 4).map(String.init)
            return fields.count == 5 && fields[3] == type ? fields[4] : nil
        }
    }

    /// Whether this is "no such data": the name exists, the type does not, and one SOA says for how long.
    var isNoData: Bool { status == "NOERROR" && answer.isEmpty && hasOneSOA }

    var hasOneSOA: Bool {
        authority.count == 1 && authority[0].split(separator: " ").dropFirst(3).first == "SOA"
    }

    private static func fields(_ line: Substring) -> String {
        line.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }

    private static func word(behind label: String, in line: String) -> String {
        guard let range = line.firstRange(of: label) else { return "" }
        return String(line[range.upperBound...].prefix { $0 != "," && $0 != " " })
    }
}
