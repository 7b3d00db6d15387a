internal import Certificates

/// One self-contained page, readable on a phone, with each chain drawn.
enum HTMLReport {
    static func render(_ report: Report, _ options: RenderOptions) -> String {
        var page = head
        page += "<h1>detour verify</h1>\n<p>\(markup(TextReport.summary(report, options)))</p>\n"
        if options.includesTimes { page += "<p>Judged at \(report.time).</p>\n" }
        for warning in report.anchorWarnings {
            page += "<p class=\"warning\">\(markup(warning.description))</p>\n"
        }
        for verification in report.verifications { page += section(verification) }
        if !report.skipped.isEmpty {
            page += "<h2>Skipped</h2>\n<ul>\n"
            for skipped in report.skipped {
                page += "<li>\(markup(skipped.name)): \(markup(skipped.reason))</li>\n"
            }
            page += "</ul>\n"
        }
        for entry in report.staleEntries {
            page += "<p class=\"failure\">Stale baseline entry: \(markup(entry.id))</p>\n"
        }
        return page + "</body>\n</html>\n"
    }

    private static func section(_ verification: Verification) -> String {
        let evidence = verification.evidence
        let colour =
            switch verification.countedVerdict {
            case .passed: "passed"
            case .passedWithWarnings: "warning"
            case .failed: "failure"
            case .error: "error"
            }
        // Good endpoints are folded; what needs a person is open.
        let isOpen = verification.verdict.isGood ? "" : " open"
        var text = "<details class=\"\(colour)\"\(isOpen)>\n<summary>\(markup(verification.name))"
        text += " <b>\(verification.verdictText)</b></summary>\n"
        if !evidence.source.file.isEmpty {
            text += "<p>\(markup(evidence.source.file)):\(evidence.source.line)</p>\n"
        }
        if let from = evidence.redirectedFrom { text += "<p>Redirected from \(markup(from))</p>\n" }
        text += findings(verification)
        if let path = verification.judgement?.path { text += chain(path, verification) }
        if let handshake = evidence.handshake, let version = handshake.version {
            let parts = [version, handshake.cipher, handshake.group, handshake.applicationProtocol]
            text += "<p>" + parts.compactMap(\.self).map { markup($0) }.joined(separator: ", ")
            text += evidence.response.map { ", HTTP/\(markup($0.version)) \($0.status)" } ?? ""
            text += "</p>\n"
        }
        if !verification.clients.isEmpty {
            text += "<ul class=\"clients\">\n"
            for client in verification.clients {
                let reason = client.reason.isEmpty ? "" : ": \(markup(client.reason))"
                let word = client.accepts ? "accepts" : "refuses"
                text += "<li>\(markup(client.client)) \(word)\(reason)</li>\n"
            }
            text += "</ul>\n"
        }
        return text + "</details>\n"
    }

    private static func findings(_ verification: Verification) -> String {
        guard !verification.findings.isEmpty else { return "" }
        var text = "<ul class=\"findings\">\n"
        for finding in verification.findings {
            let accepted = verification.accepted[finding.kind.id]
            let name = accepted == nil ? finding.severity.name : "accepted"
            text += "<li class=\"\(name)\"><code>\(markup(finding.kind.id))</code> "
            text += "\(markup(finding.kind.title)) (\(finding.element))"
            if !finding.evidence.isEmpty { text += "<br>\(markup(finding.evidence))" }
            if let accepted {
                text += "<br>Accepted: \(markup(accepted))"
            } else if finding.severity > .information {
                text += "<br><i>\(markup(finding.kind.advice))</i>"
            }
            text += "</li>\n"
        }
        return text + "</ul>\n"
    }

    /// The path as a staircase, the anchor at the top.
    private static func chain(_ path: Path, _ verification: Verification) -> String {
        var text = "<ol class=\"chain\">\n"
        for (index, certificate) in path.certificates.enumerated().reversed() {
            let isAnchor = index == path.certificates.count - 1 && path.anchor != nil
            text += "<li\(isAnchor ? " class=\"anchor\"" : "")>"
            text += "<b>\(markup(certificate.subject.description, limit: 200))</b><br>"
            text += "\(markup(certificate.publicKey.description)), "
            text += "\(certificate.notBefore) to \(certificate.notAfter)"
            if isAnchor, let anchor = path.anchor { text += "<br>anchor \(markup(anchor.place))" }
            if index == 0 {
                let names = certificate.subjectAlternativeNames
                let listed = names.prefix(8).map { markup($0.description, limit: 100) }
                text += "<br>" + listed.joined(separator: ", ")
                if names.count > 8 { text += " and \(names.count - 8) more" }
            }
            text += "</li>\n"
        }
        return text + "</ol>\n"
    }

    private static let head = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>detour verify</title>
        <style>
        :root { color-scheme: light dark; }
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 50em; margin: 0 auto; padding: 1em; }
        details { border-left: .4em solid gray; margin: .5em 0; padding: .2em .8em; }
        summary { cursor: pointer; overflow-wrap: anywhere; }
        details.passed { border-color: #2a8a3a; } details.warning { border-color: #c08a00; }
        details.failure { border-color: #c62828; } details.error { border-color: #7b3fa0; }
        li, p { overflow-wrap: anywhere; }
        li.failure code, p.failure { color: #c62828; } li.error code { color: #7b3fa0; }
        li.warning code, p.warning { color: #a06f00; }
        ol.chain { list-style: none; padding: 0; }
        ol.chain li { border: 1px solid gray; border-radius: .4em; padding: .3em .6em; margin: .3em 0; }
        ol.chain li.anchor { border-width: 3px; }
        ol.chain li + li { margin-left: 1.5em; } ol.chain li + li + li { margin-left: 3em; }
        </style>
        </head>
        <body>

        """
}
