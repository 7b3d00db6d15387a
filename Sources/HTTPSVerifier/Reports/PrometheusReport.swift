internal import Certificates

/// The textfile format of node_exporter: no timestamps on samples, each series once, the same help
/// text always, and nothing for what is not known.
enum PrometheusReport {
    private struct Metric {
        let name: String
        let help: String
        var samples: [String] = []
        var seen: Set<String> = []

        mutating func add(_ labels: [(String, String)], _ value: String) {
            let text = labels.map { "\($0.0)=\"\(PrometheusReport.escaped($0.1))\"" }
                .joined(separator: ",")
            // A redirect can lead to an endpoint that is verified anyway.
            guard seen.insert(text).inserted else { return }
            samples.append("\(name){\(text)} \(value)")
        }
    }

    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var success = Metric(
            name: "detour_verify_success",
            help: "Whether the endpoint is as required, warnings allowed."
        )
        var result = Metric(
            name: "detour_verify_result",
            help: "1 for each finding at an endpoint, by stage, reason and severity."
        )
        var earliest = Metric(
            name: "detour_verify_earliest_certificate_expiry_timestamp_seconds",
            help: "First expiry among the certificates that the endpoint sent."
        )
        var path = Metric(
            name: "detour_verify_path_expiry_timestamp_seconds",
            help: "First expiry on the accepted path, anchor included."
        )
        var leaf = Metric(
            name: "detour_verify_leaf_info",
            help: "The endpoint's own certificate."
        )
        var tls = Metric(name: "detour_verify_tls_info", help: "The connection's parameters.")
        var status = Metric(
            name: "detour_verify_http_status_code",
            help: "Status of the HTTP response."
        )
        var phases = Metric(
            name: "detour_verify_phase_duration_seconds",
            help: "Time from the start of the connection to the end of a phase."
        )
        for verification in report.verifications {
            let evidence = verification.evidence
            let labels = [("name", evidence.name), ("address", evidence.authority)]
            success.add(labels, verification.countedVerdict.isGood ? "1" : "0")
            for finding in verification.findings where finding.severity > .information {
                result.add(
                    labels + [
                        ("stage", finding.kind.stage.rawValue), ("reason", finding.kind.id),
                        ("severity", finding.severity.name),
                    ],
                    "1"
                )
            }
            if let expiry = verification.earliestExpiry {
                earliest.add(labels, "\(expiry.seconds)")
            }
            if let expiry = verification.pathExpiry { path.add(labels, "\(expiry.seconds)") }
            if let der = evidence.handshake?.certificates.first,
                let certificate = try? Certificate(der: der)
            {
                leaf.add(
                    labels + [
                        ("fingerprint_sha256", certificate.fingerprint),
                        ("subject", certificate.subject.description),
                        ("issuer", certificate.issuer.description),
                        ("serialnumber", certificate.serialText),
                    ],
                    "1"
                )
            }
            if let handshake = evidence.handshake, let version = handshake.version {
                tls.add(
                    labels + [
                        ("version", version), ("cipher", handshake.cipher ?? ""),
                        ("group", handshake.group ?? ""),
                        ("alpn", handshake.applicationProtocol ?? ""),
                    ],
                    "1"
                )
            }
            if let response = evidence.response { status.add(labels, "\(response.status)") }
            guard options.includesTimes else { continue }
            let times = evidence.phases
            for (phase, seconds) in [
                ("connect", times.connect), ("tls", times.tls), ("first_octet", times.firstOctet),
                ("total", times.total),
            ] {
                if let seconds { phases.add(labels + [("phase", phase)], decimalSeconds(seconds)) }
            }
        }
        return [success, result, earliest, path, leaf, tls, status, phases]
            .filter { !$0.samples.isEmpty }.map { metric in
                "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) gauge\n"
                    + metric.samples.joined(separator: "\n") + "\n"
            }.joined() + run(report, options)
    }

    private static func run(_ report: Report, _ options: RenderOptions) -> String {
        func gauge(_ name: String, _ help: String, _ value: String) -> String {
            "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
        }
        var text = gauge(
            "detour_verify_interrupted",
            "Whether the run was ended before its end.",
            report.isInterrupted ? "1" : "0"
        )
        if options.includesTimes {
            text += gauge(
                "detour_verify_last_run_timestamp_seconds",
                "When everything was judged.",
                "\(report.time.seconds)"
            )
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        shown(text, limit: 200).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
