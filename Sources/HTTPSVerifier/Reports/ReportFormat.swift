/// The formats that a report can be written in.
public enum ReportFormat: String, Sendable, CaseIterable {
    /// For a person.
    case text
    /// For programs; packaging/verify.schema.json describes it.
    case json
    /// For GitLab, Jenkins and dorny/test-reporter.
    case junit
    /// For GitHub code scanning, SARIF 2.1.0.
    case sarif
    /// TAP 14.
    case tap
    /// For a step summary.
    case markdown
    /// Workflow commands of GitHub Actions.
    case github
    /// One page, for a browser.
    case html
    /// For node_exporter's textfile collector.
    case prometheus
}

/// How a report is rendered.
public struct RenderOptions: Sendable {
    /// Whether moments and durations of the run are written; without, two runs can be compared.
    public var includesTimes = true
    /// Whether text is coloured for a terminal.
    public var usesColour = false

    /// Times, and no colour.
    public init() {}
}

extension Report {
    /// The report in a format, as UTF-8 text that ends with a line feed.
    public func rendered(
        as format: ReportFormat,
        options: RenderOptions = RenderOptions()
    ) -> String {
        switch format {
        case .text: TextReport.render(self, options)
        case .json: JSONReport.render(self, options)
        case .junit: JUnitReport.render(self, options)
        case .sarif: SARIFReport.render(self, options)
        case .tap: TAPReport.render(self, options)
        case .markdown: MarkdownReport.render(self, options)
        case .github: GitHubAnnotations.render(self, options)
        case .html: HTMLReport.render(self, options)
        case .prometheus: PrometheusReport.render(self, options)
        }
    }
}

extension Verification {
    /// What is written in place of the verdict's word.
    var verdictText: String {
        verdict == .failed && isWaived ? "failed, waived" : verdict.rawValue
    }
}
