import Certificates
import FoundationEssentials
import Testing

/// The cross product of names and name constraints in the manner of BetterTLS.
@Suite struct NameConstraintsSuiteTests {
    struct Suite: Decodable {
        struct Case: Decodable {
            let id: Int
            let leaf: String
            let ica: String
            let hostname: String
            let expected: String
            let soft: Bool
        }
        let trustRoot: String
        let localRoot: String
        let icas: [String: String]
        let leaves: [String: String]
        let testCases: [Case]
    }

    @Test func `every case has the expected verdict`() throws {
        guard let json = ConformanceData.contents("nameconstraints.json") else { return }
        let suite = try JSONDecoder().decode(Suite.self, from: Data(json))
        func der(_ text: String) -> [UInt8] { octets(base64: text.utf8) ?? [] }
        var anchors = Anchors()
        try anchors.add(contents: der(suite.trustRoot), of: "trustRoot")
        var wrong: [String] = []
        for one in suite.testCases where !one.soft {
            let chain = [
                der(suite.leaves[one.leaf] ?? ""), der(suite.icas[one.ica] ?? ""),
                der(suite.localRoot),
            ]
            let name = try #require(ReferenceName(one.hostname))
            let question = Question(name: name, time: Moment(seconds: 1_750_000_000))
            let judgement = Judgement.judge(chain: chain, anchors: anchors, asked: question)
            if judgement.isAccepted != (one.expected == "ACCEPT") {
                wrong.append(
                    "\(one.id) \(one.leaf) \(one.hostname) \(judgement.findings.first.map { $0.kind.id } ?? "")"
                )
            }
        }
        print("name constraints: \(suite.testCases.count) cases, \(wrong.count) wrong")
        #expect(suite.testCases.count > 1_000)
        #expect(wrong == [])
    }
}
