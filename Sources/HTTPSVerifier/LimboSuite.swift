// The x509-limbo test suite (C2SP/x509-limbo): its cases in, its result format out.

public import Certificates
internal import FoundationEssentials

/// A set of path validation cases in the format of x509-limbo, version 1.
public struct LimboSuite {
    /// One case: certificates, a question, and what is expected.
    public struct Case {
        /// The case's name, unique in the suite.
        public let id: String
        /// Whether the suite expects the chain to be accepted.
        public let expectsSuccess: Bool
        /// The chain as an endpoint would send it, leaf first, as DER.
        public let chain: [[UInt8]]
        /// The leaf's private key in PEM, where the suite has it.
        public let leafKey: String?
        /// The anchors.
        public let anchors: Anchors
        /// Everything else that is asked.
        public let question: Question

        /// What Detour says, under the profile that the suite's authors had in mind.
        public func judge() -> Judgement {
            Judgement.judge(chain: chain, anchors: anchors, asked: question)
        }
    }

    /// The cases in their order.
    public let cases: [Case]

    /// The suite that JSON encodes; cases without a time are asked at `now`.
    public init(json: [UInt8], now: Moment) throws(LimboError) {
        let suite: Suite
        do {
            suite = try JSONDecoder().decode(Suite.self, from: Data(json))
        } catch {
            throw LimboError(reason: "not an x509-limbo file: \(error)")
        }
        var cases: [Case] = []
        for one in suite.testcases { cases.append(try Case(one, now: now)) }
        self.cases = cases
    }

    /// The results as x509-limbo wants them: `{version, harness, results: [{id, …}]}`.
    public func results(harness: String) -> [UInt8] {
        let results = cases.map { one in
            let judgement = one.judge()
            let failures = judgement.findings.filter { $0.severity == .failure }
            return Result(
                id: one.id,
                actual_result: judgement.isAccepted ? "SUCCESS" : "FAILURE",
                context: failures.first.map { "\($0.kind.id): \($0.kind.title) (\($0.evidence))" }
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // A value of strings only always encodes.
        let data = try? encoder.encode(Results(version: 1, harness: harness, results: results))
        return Array(data ?? Data()) + [0x0A]
    }

    private struct Results: Encodable {
        let version: Int
        let harness: String
        let results: [Result]
    }

    private struct Result: Encodable {
        let id: String
        let actual_result: String
        let context: String?
    }

    fileprivate struct Suite: Decodable {
        let testcases: [Testcase]
    }

    fileprivate struct Testcase: Decodable {
        struct PeerName: Decodable {
            let kind: String
            let value: String
        }
        let id: String
        let validation_kind: String
        let trusted_certs: [String]
        let untrusted_intermediates: [String]
        let peer_certificate: String
        let peer_certificate_key: String?
        let validation_time: String?
        let expected_result: String
        let expected_peer_name: PeerName?
        let max_chain_depth: Int?
        let crls: [String]?
    }
}

/// Why a file is not a suite of cases.
public struct LimboError: Error, CustomStringConvertible {
    let reason: String

    /// The reason.
    public var description: String { reason }
}

extension LimboSuite.Case {
    fileprivate init(_ testcase: LimboSuite.Testcase, now: Moment) throws(LimboError) {
        id = testcase.id
        expectsSuccess = testcase.expected_result == "SUCCESS"
        leafKey = testcase.peer_certificate_key
        chain = try ([testcase.peer_certificate] + testcase.untrusted_intermediates).map {
            pem throws(LimboError) in
            guard let der = PEM.blocks(in: Array(pem.utf8)).first?.content else {
                throw LimboError(reason: "\(testcase.id): not a certificate in PEM")
            }
            return der
        }
        var anchors = Anchors()
        for (index, pem) in testcase.trusted_certs.enumerated() {
            // An anchor that does not parse cannot be used, which is all that the case asks.
            try? anchors.add(contents: Array(pem.utf8), of: "trusted_certs[\(index)]")
        }
        self.anchors = anchors
        var time = now
        if let text = testcase.validation_time {
            guard let moment = Moment(text) else {
                throw LimboError(reason: "\(testcase.id): not a time: \(text)")
            }
            time = moment
        }
        var question = Question(
            name: testcase.expected_peer_name.flatMap { ReferenceName($0.value) },
            time: time
        )
        question.profile = .webPKI
        question.purpose = testcase.validation_kind == "CLIENT" ? .client : .server
        question.maximumDepth = testcase.max_chain_depth
        for crl in testcase.crls ?? [] {
            do throws(CertificateError) {
                question.revocationLists += try RevocationList.lists(contents: Array(crl.utf8))
            } catch {
                throw LimboError(reason: "\(testcase.id): \(error)")
            }
        }
        self.question = question
    }
}
