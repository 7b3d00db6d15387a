public import Certificates
internal import FoundationEssentials

/// Evidence with the requirements that it was collected for, so that it can be judged again, at
/// another time, without the network and without the files of that day.
///
/// It holds no credentials: those are of no use to a judgement.
public struct EvidenceFile: Sendable {
    /// One endpoint's evidence and what was required of it.
    public struct Entry: Sendable {
        /// What was seen.
        public var evidence: Evidence
        /// What was required.
        public var requirements: Requirements
    }

    /// The endpoints in the order of the report.
    public var entries: [Entry]

    /// Evidence of a report, with the policy that was in force.
    public init(_ report: Report, policy: Policy) {
        entries = report.verifications.map {
            Entry(evidence: $0.evidence, requirements: policy.requirements(for: $0.evidence.name))
        }
    }

    /// Everything judged anew; `anchors` replace the stored ones where given.
    public func report(at time: Moment, anchors: Anchors? = nil, baseline: Baseline) -> Report {
        let verifications = entries.map { entry in
            var requirements = entry.requirements
            if let anchors { requirements.anchors = anchors }
            return Verification.evaluate(
                entry.evidence,
                against: requirements,
                at: time,
                baseline: baseline
            )
        }
        return Report(verifications, baseline: baseline, time: time)
    }

    /// The file that JSON encodes.
    public init(json: [UInt8], of file: String) throws(ConfigurationError) {
        do {
            let document = try JSONDecoder().decode(Document.self, from: Data(json))
            guard document.schema == 1 else {
                throw ConfigurationError("\(file): schema \(document.schema) is not known here")
            }
            entries = try document.endpoints.map { row in
                guard document.requirements.indices.contains(row.requirements) else {
                    throw ConfigurationError("\(file): no requirements number \(row.requirements)")
                }
                let stored = document.requirements[row.requirements]
                return Entry(
                    evidence: row.evidence,
                    requirements: try stored.requirements(document.anchors, file)
                )
            }
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("\(file): not an evidence file: \(error)")
        }
    }

    /// The file as JSON; equal evidence gives equal octets.
    public var json: [UInt8] {
        var anchors: [StoredAnchor] = []
        var requirements: [StoredRequirements] = []
        let rows = entries.map { entry in
            let stored = StoredRequirements(entry.requirements, &anchors)
            let index = requirements.firstIndex(of: stored) ?? requirements.count
            if index == requirements.count { requirements.append(stored) }
            return Row(requirements: index, evidence: entry.evidence)
        }
        let document = Document(
            schema: 1,
            anchors: anchors,
            requirements: requirements,
            endpoints: rows
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings, finite numbers and booleans always encode.
        return Array((try? encoder.encode(document)) ?? Data()) + [0x0A]
    }

    private struct Document: Codable {
        let schema: Int
        let anchors: [StoredAnchor]
        let requirements: [StoredRequirements]
        let endpoints: [Row]
    }

    private struct Row: Codable {
        let requirements: Int
        let evidence: Evidence
    }
}

private struct StoredAnchor: Codable, Equatable {
    let certificate: String
    let file: String
    let line: Int
}

private struct StoredHeader: Codable, Equatable {
    let name: String
    let text: String?
    let isForbidden: Bool
}

private struct StoredRequirements: Codable, Equatable {
    let anchors: [Int]
    let profile: String
    let securityLevel, warnDays, failDays: Int
    let warnBelowPercent: Int?
    let revocationLists, pins: [String]
    let allowsInvalid, isLenient, followsRedirects: Bool
    let statuses: [Int]
    let headers: [StoredHeader]
    let bodyText: String?

    init(_ requirements: Requirements, _ table: inout [StoredAnchor]) {
        var indices: [Int] = []
        for anchor in requirements.anchors.all {
            let stored = StoredAnchor(
                certificate: base64(anchor.certificate.der),
                file: anchor.file,
                line: anchor.line
            )
            let index = table.firstIndex(of: stored) ?? table.count
            if index == table.count { table.append(stored) }
            indices.append(index)
        }
        anchors = indices
        profile = requirements.profile.rawValue
        securityLevel = requirements.securityLevel
        warnDays = requirements.warnDays
        failDays = requirements.failDays
        warnBelowPercent = requirements.warnBelowPercent
        revocationLists = requirements.revocationLists.map { base64($0.der) }
        pins = requirements.pins.sorted()
        allowsInvalid = requirements.allowsInvalid
        isLenient = requirements.isLenient
        followsRedirects = requirements.followsRedirects
        statuses = requirements.statuses.sorted()
        headers = requirements.headers.map {
            StoredHeader(name: $0.name, text: $0.text, isForbidden: $0.isForbidden)
        }
        bodyText = requirements.bodyText
    }

    func requirements(
        _ table: [StoredAnchor],
        _ file: String
    ) throws(ConfigurationError) -> Requirements {
        var loaded = Anchors()
        for index in anchors {
            guard table.indices.contains(index),
                let der = octets(base64: table[index].certificate.utf8),
                let certificate = try? Certificate(der: der)
            else { throw ConfigurationError("\(file): anchor \(index) is not a certificate") }
            let stored = table[index]
            loaded.add(Anchor(certificate: certificate, file: stored.file, line: stored.line))
        }
        var requirements = Requirements(anchors: loaded)
        guard let profile = Profile(rawValue: profile) else {
            throw ConfigurationError("\(file): no profile is called \(self.profile)")
        }
        requirements.profile = profile
        requirements.securityLevel = securityLevel
        requirements.warnDays = warnDays
        requirements.failDays = failDays
        requirements.warnBelowPercent = warnBelowPercent
        for text in revocationLists {
            guard let der = octets(base64: text.utf8), let list = try? RevocationList(der: der)
            else {
                throw ConfigurationError("\(file): a revocation list does not parse")
            }
            requirements.revocationLists.append(list)
        }
        requirements.pins = Set(pins)
        requirements.allowsInvalid = allowsInvalid
        requirements.isLenient = isLenient
        requirements.followsRedirects = followsRedirects
        requirements.statuses = Set(statuses)
        requirements.headers = headers.map {
            HeaderRequirement(name: $0.name, text: $0.text, isForbidden: $0.isForbidden)
        }
        requirements.bodyText = bodyText
        return requirements
    }
}
