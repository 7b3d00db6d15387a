import Certificates
import FoundationEssentials
import Testing

/// NIST's PKITS. Its leaves have neither alternative names nor extended key usages, so that names
/// are not asked for.
@Suite struct PKITSTests {
    struct Vector: Decodable {
        let Name: String
        let CertPath: [String]
        let CRLPath: [String]
        let ShouldValidate: Bool
    }

    /// Groups that matter to HTTPS. Left out with reason: 4.8-4.12 (policies, which no HTTPS client
    /// asks for), 4.14 (indirect and partitioned CRLs) and 4.15 (delta CRLs).
    static let groups = ["4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.13", "4.16"]

    @Test(arguments: groups)
    func `every vector of the group has the expected verdict`(group: String) throws {
        guard let json = ConformanceData.contents("pkits/vectors.json") else { return }
        let vectors = try JSONDecoder().decode([Vector].self, from: Data(json)).filter {
            $0.Name.hasPrefix(group + ".") && !$0.Name.contains("DSA")
        }
        #expect(!vectors.isEmpty)
        var wrong: [String] = []
        for vector in vectors {
            let judgement = try judge(vector)
            if judgement.isAccepted != vector.ShouldValidate {
                let reasons = judgement.findings.filter { $0.severity == .failure }
                wrong.append(
                    "\(vector.Name): \(reasons.map { "\($0.kind.id) \($0.element) \($0.evidence)" })"
                )
            }
        }
        print("PKITS \(group): \(vectors.count) vectors, \(wrong.count) wrong")
        #expect(wrong == [])
    }

    private func judge(_ vector: Vector) throws -> Judgement {
        func file(_ name: String) throws -> [UInt8] {
            try #require(ConformanceData.contents("pkits/" + name))
        }
        let path = try vector.CertPath.map { try file("certs/" + $0) }
        var anchors = Anchors()
        try anchors.add(contents: path[0], of: vector.CertPath[0])
        var question = Question(name: nil, time: Moment(seconds: 1_735_689_600))
        question.revocationLists = try vector.CRLPath.flatMap {
            try RevocationList.lists(contents: file("crls/" + $0))
        }
        return Judgement.judge(
            chain: path.dropFirst().reversed(),
            anchors: anchors,
            asked: question
        )
    }
}
