internal import Certificates
internal import FoundationEssentials

/// The report for programs. Live and offline runs have one schema: packaging/verify.schema.json.
enum JSONReport {
    static func render(_ report: Report, _ options: RenderOptions) -> String {
        let document = Document(
            schema: 1,
            judgedAt: options.includesTimes ? report.time.description : nil,
            duration: options.includesTimes ? report.duration : nil,
            interrupted: report.isInterrupted,
            summary: Summary(
                endpoints: report.verifications.count,
                passed: report.count(.passed),
                passedWithWarnings: report.count(.passedWithWarnings),
                failed: report.count(.failed),
                error: report.count(.error),
                skipped: report.skipped.count,
                exitStatus: Int(report.exitStatus())
            ),
            endpoints: report.verifications.map { endpoint($0, options) },
            skipped: report.skipped.map {
                Skipped(name: shown($0.name), reason: shown($0.reason), source: $0.source)
            },
            anchorWarnings: report.anchorWarnings.map { shown($0.description) },
            staleBaseline: report.staleEntries.map { shown($0.id) }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings, finite numbers and booleans always encode.
        guard let data = try? encoder.encode(document) else { return "{}\n" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    private struct Document: Encodable {
        let schema: Int
        let judgedAt: String?
        let duration: Double?
        let interrupted: Bool
        let summary: Summary
        let endpoints: [EndpointRow]
        let skipped: [Skipped]
        let anchorWarnings: [String]
        let staleBaseline: [String]
    }

    private struct Summary: Encodable {
        let endpoints, passed, passedWithWarnings, failed, error, skipped, exitStatus: Int
    }

    private struct Skipped: Encodable {
        let name, reason: String
        let source: SourcePlace
    }

    private struct EndpointRow: Encodable {
        let name, address: String
        let port: Int
        let scheme: String
        let source: SourcePlace
        let dnsAnswer: String?
        let redirectedFrom: String?
        let verdict: String
        let waived: Bool
        let trustResult: String
        let attempts: Int
        let findings: [FindingRow]
        let path: [CertificateRow]
        let presented: [CertificateRow]
        let candidates: [CandidateRow]
        let signatureChecks: Int
        let earliestExpiry, pathExpiry: String?
        let tls: TLSRow?
        let http: HTTPRow?
        let challenges: [Evidence.ChallengeRecord]
        let clients: [ClientOpinion]
        let phases: Evidence.Phases?
    }

    private struct FindingRow: Encodable {
        let id, stage, severity, element, title, evidence, advice, baselineId: String
        let accepted: String?
    }

    private struct CertificateRow: Encodable {
        let subject, issuer, serial, notBefore, notAfter, key, sha256, pin: String
        let names: [String]
        let nameCount: Int
        let anchor: String?
    }

    private struct CandidateRow: Encodable {
        let subjects: [String]
        let accepted: Bool
        let reason: String?
    }

    private struct TLSRow: Encodable {
        let complete: Bool
        let version, cipher, group, alpn: String?
        let stapled, clientCertificateRequested: Bool
        let clientAuthorities: [String]
    }

    private struct HTTPRow: Encodable {
        let version: String
        let status: Int
        let location: String?
    }

    private static func endpoint(
        _ verification: Verification,
        _ options: RenderOptions
    ) -> EndpointRow {
        let evidence = verification.evidence
        let judgement = verification.judgement
        let path = judgement?.path
        return EndpointRow(
            name: shown(evidence.name),
            address: evidence.address,
            port: Int(evidence.port),
            scheme: evidence.scheme.rawValue,
            source: evidence.source,
            dnsAnswer: evidence.dnsAnswer,
            redirectedFrom: evidence.redirectedFrom.map { shown($0) },
            verdict: verification.verdict.rawValue,
            waived: verification.isWaived,
            trustResult: verification.trustResult.name,
            attempts: evidence.attempts,
            findings: verification.findings.map { row($0, verification) },
            path: (path?.certificates ?? []).map { row($0, path) },
            presented: (evidence.handshake?.certificates ?? []).prefix(32).compactMap {
                (try? Certificate(der: $0)).map { row($0, nil) }
            },
            candidates: (judgement?.candidates ?? []).prefix(32).map(row),
            signatureChecks: judgement?.signatureChecks ?? 0,
            earliestExpiry: verification.earliestExpiry?.description,
            pathExpiry: verification.pathExpiry?.description,
            tls: evidence.handshake.map(row),
            http: evidence.response.map {
                HTTPRow(
                    version: $0.version,
                    status: $0.status,
                    location: Redirect.location($0).map { shown($0) }
                )
            },
            challenges: evidence.challenges,
            clients: verification.clients,
            phases: options.includesTimes ? evidence.phases : nil
        )
    }

    private static func row(_ finding: Finding, _ verification: Verification) -> FindingRow {
        FindingRow(
            id: finding.kind.id,
            stage: finding.kind.stage.rawValue,
            severity: finding.severity.name,
            element: finding.element.description,
            title: finding.kind.title,
            evidence: shown(finding.evidence),
            advice: finding.kind.advice,
            baselineId: shown(Baseline.id(finding, at: verification.evidence)),
            accepted: verification.accepted[finding.kind.id].map { shown($0) }
        )
    }

    private static func row(_ certificate: Certificate, _ path: Path?) -> CertificateRow {
        let names = certificate.subjectAlternativeNames
        let anchor = path?.anchor.flatMap { $0.certificate == certificate ? $0.place : nil }
        return CertificateRow(
            subject: shown(certificate.subject.description),
            issuer: shown(certificate.issuer.description),
            serial: certificate.serialText,
            notBefore: certificate.notBefore.description,
            notAfter: certificate.notAfter.description,
            key: certificate.publicKey.description,
            sha256: certificate.fingerprint,
            pin: certificate.publicKey.pin,
            names: names.prefix(32).map { shown($0.description, limit: 200) },
            nameCount: names.count,
            anchor: anchor.map { shown($0) }
        )
    }

    private static func row(_ candidate: Candidate) -> CandidateRow {
        let fault = candidate.findings.first { $0.severity == .failure }
        return CandidateRow(
            subjects: candidate.path.certificates.map {
                shown($0.subject.description, limit: 200)
            },
            accepted: candidate.isAccepted,
            reason: fault.map { "\($0.kind.id) (\($0.element)): \(shown($0.evidence))" }
        )
    }

    private static func row(_ handshake: Evidence.Handshake) -> TLSRow {
        TLSRow(
            complete: handshake.isComplete,
            version: handshake.version,
            cipher: handshake.cipher,
            group: handshake.group,
            alpn: handshake.applicationProtocol.map { shown($0) },
            stapled: handshake.staple != nil,
            clientCertificateRequested: handshake.wantsClientCertificate,
            clientAuthorities: handshake.clientAuthorities.prefix(32).compactMap {
                octets(base64: $0.utf8).flatMap { DistinguishedName(der: $0) }.map {
                    shown($0.description)
                }
            }
        )
    }
}
