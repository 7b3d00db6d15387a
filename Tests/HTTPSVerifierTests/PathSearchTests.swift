import Certificates
import HTTPSVerifier
import Testing

/// The search for a path: budget, loops, dead ends.
@Suite struct PathSearchTests {
    private func judge(_ chain: [Identity], _ anchors: Anchors, _ name: String) throws -> Judgement
    {
        let der = try chain.map { identity in
            try #require(PEM.blocks(in: Array(identity.certificate.utf8)).first?.content)
        }
        let question = Question(name: ReferenceName(name), time: .now)
        return Judgement.judge(chain: der, anchors: anchors, asked: question)
    }

    @Test func `a maze of one name and many keys ends at the budget`() throws {
        let root = try FleetTests.root.get()
        var maze: [Identity] = []
        for index in 0..<24 {
            let issuer = index == 0 ? nil : maze[index - 1]
            maze.append(try Draft.authority("Maze").issued(by: issuer))
        }
        let leaf = try maze[20].issue(.server("www.example.com"))
        let judgement = try judge([leaf] + maze, try root.anchors, "www.example.com")
        #expect(!judgement.isAccepted)
        #expect(judgement.signatureChecks == 100)
        #expect(judgement.findings.contains { $0.kind.id == "chain.budget-exhausted" })
    }

    @Test func `a path in the same maze is found where identifiers point the way`() throws {
        let root = try FleetTests.root.get()
        let entry = try root.issue(.authority("Maze"))
        var maze = [entry]
        for index in 1..<24 { maze.append(try maze[index - 1].issue(.authority("Maze"))) }
        let leaf = try maze[12].issue(.server("www.example.com"))
        let judgement = try judge([leaf] + maze.shuffled(), try root.anchors, "www.example.com")
        #expect(judgement.isAccepted, "\(judgement.findings)")
    }

    @Test func `authorities that only certify each other are a loop`() throws {
        let root = try FleetTests.root.get()
        let keys = (try Mint.key("P-256"), try Mint.key("P-256"))
        var (first, second) = (Draft.authority("One"), Draft.authority("Two"))
        first.key = keys.0
        second.key = keys.1
        let one = try first.selfSigned()
        let two = try second.selfSigned()
        let oneByTwo = try first.issued(by: two)
        let twoByOne = try second.issued(by: one)
        let leaf = try one.issue(.server("www.example.com"))
        let judgement = try judge(
            [leaf, oneByTwo, twoByOne],
            try root.anchors,
            "www.example.com"
        )
        #expect(judgement.findings.contains { $0.kind.id == "chain.loop" }, "\(judgement.findings)")
    }

    @Test func `an issuer that was renewed with another key is a bad signature`() throws {
        let root = try FleetTests.root.get()
        let old = try root.issue(.authority("Renewed"))
        let new = try root.issue(.authority("Renewed"))
        let leaf = try old.issue(.server("www.example.com"))
        let judgement = try judge([leaf, new], try root.anchors, "www.example.com")
        let failure = judgement.findings.first { $0.severity == .failure }
        #expect(failure?.kind.id == "chain.bad-signature")
        #expect(judgement.trustResult == .fatalTrustFailure)
    }

    @Test(arguments: [true, false])
    func `a leaf that is an anchor is no authority over others`(hasKeyUsage: Bool) throws {
        var draft = Draft.server("www.example.com")
        draft.commonName = "www.example.com"
        draft.hasKeyUsage = hasKeyUsage
        let anchor = try draft.selfSigned()
        let forged = try anchor.issue(.server("www.example.com"))
        let own = try judge([anchor], try anchor.anchors, "www.example.com")
        #expect(own.isAccepted, "\(own.findings)")
        let judgement = try judge([forged, anchor], try anchor.anchors, "www.example.com")
        #expect(judgement.findings.contains { $0.kind.id == "chain.not-an-authority" })
        #expect(!judgement.isAccepted)
        // Its own purpose counts as well.
        draft.usage = "clientAuth"
        let client = try draft.selfSigned()
        let wrong = try judge([client], try client.anchors, "www.example.com")
        #expect(!wrong.isAccepted, "\(wrong.findings)")
    }

    @Test func `an old root of version 1 is an anchor, with a warning`() throws {
        var draft = Draft(commonName: "Old Root")
        draft.version = 1
        let old = try draft.selfSigned()
        var server = Draft.server("www.example.com")
        server.namesIssuerKey = false
        let leaf = try old.issue(server)
        let judgement = try judge([leaf], try old.anchors, "www.example.com")
        #expect(judgement.isAccepted, "\(judgement.findings)")
        #expect(judgement.findings.contains { $0.kind.id == "extension.anchor-version" })
        // The same below an anchor is none.
        let root = try FleetTests.root.get()
        let middle = try root.issue(draft)
        let below = try middle.issue(server)
        let refused = try judge([below, middle], try root.anchors, "www.example.com")
        #expect(!refused.isAccepted)
    }

    @Test func `no certificate with another octet is accepted, whichever it is`() throws {
        let root = try FleetTests.root.get()
        let middle = try root.issue(.authority("Middle"))
        let leaf = try middle.issue(.server("www.example.com"))
        let chain = try [leaf, middle].map { identity in
            try #require(PEM.blocks(in: Array(identity.certificate.utf8)).first?.content)
        }
        let question = Question(name: ReferenceName("www.example.com"), time: .now)
        let anchors = try root.anchors
        let memory = CertificateMemory()
        func isAccepted(_ chain: [[UInt8]]) -> Bool {
            Judgement.judge(chain: chain, anchors: anchors, asked: question, memory: memory)
                .isAccepted
        }
        try #require(isAccepted(chain))
        for place in chain.indices {
            for index in chain[place].indices {
                for change: UInt8 in [0x01, 0x80, 0xFF] {
                    var changed = chain
                    changed[place][index] ^= change
                    #expect(!isAccepted(changed), "octet \(index) of \(place) ^ \(change)")
                }
                var shorter = chain
                shorter[place].remove(at: index)
                if shorter[place] != chain[place] { #expect(!isAccepted(shorter)) }
            }
        }
    }

    @Test func `what is not a certificate is told by its place`() throws {
        let root = try FleetTests.root.get()
        let leaf = try root.issue(.server("www.example.com"))
        let der = try #require(PEM.blocks(in: Array(leaf.certificate.utf8)).first?.content)
        let question = Question(name: ReferenceName("www.example.com"), time: .now)
        let anchors = try root.anchors
        for junk in [[], [0x30], [UInt8](repeating: 0x30, count: 500), Array(der.dropLast())] {
            let behind = Judgement.judge(chain: [der, junk], anchors: anchors, asked: question)
            #expect(behind.isAccepted)
            #expect(behind.findings.contains { $0.kind.id == "chain.malformed" })
            let alone = Judgement.judge(chain: [junk], anchors: anchors, asked: question)
            #expect(!alone.isAccepted)
        }
        let nothing = Judgement.judge(chain: [], anchors: anchors, asked: question)
        #expect(nothing.trustResult == .invalid)
        #expect(!nothing.isAccepted)
    }
}
