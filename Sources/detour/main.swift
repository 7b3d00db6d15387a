import Certificates
import FoundationEssentials
import HTTPSVerifier

let d = try! Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
let s = try! LimboSuite(json: Array(d), now: Moment(seconds: 1796000000))
if CommandLine.arguments.count > 2 {
    print(String(decoding: s.results(harness: "x"), as: UTF8.self))
} else {
    var bad = 0
    for c in s.cases {
        let j = c.judge();
        if j.isAccepted != c.expectsSuccess {
            bad += 1;
            print(
                c.id,
                c.expectsSuccess,
                j.findings.filter { $0.severity == .failure }.map {
                    "\($0.kind.id)|\($0.element)|\($0.evidence)".prefix(300)
                }
            )
        }
    }
    print(bad, "of", s.cases.count)
}
