import Certificates
import HTTPSVerifier

/// `detour verify`: four forms, one evaluation, one report.
enum Verify {
    static func run(_ arguments: [String]) -> Int32 {
        let options: VerifyOptions
        do throws(VerifyOptions.Mistake) {
            options = try VerifyOptions(arguments)
        } catch {
            Output.error("detour verify: \(error.text)\nTry detour verify --help.")
            return ExitStatus.usage
        }
        if options.wantsHelp {
            Output.print(VerifyOptions.usage)
            return 0
        }
        do throws(ConfigurationError) {
            if let file = options.limbo { return try limbo(file) }
            if let file = options.chain {
                return try chain(file, options, try baseline(options))
            }
            if let file = options.evidence {
                return try evidence(file, options, try baseline(options))
            }
            return try endpoints(options)
        } catch {
            Output.error("detour verify: \(error)")
            return ExitStatus.configuration
        }
    }

    private static func limbo(_ file: String) throws(ConfigurationError) -> Int32 {
        let suite: LimboSuite
        let contents = try InputFile.contents(file)
        do throws(LimboError) {
            suite = try LimboSuite(json: contents, now: .now)
        } catch {
            throw ConfigurationError("\(file): error: \(error)")
        }
        Output.print(
            String(decoding: suite.results(harness: "detour"), as: UTF8.self),
            terminator: ""
        )
        return 0
    }

    private static func chain(
        _ file: String,
        _ options: VerifyOptions,
        _ baseline: Baseline
    ) throws(ConfigurationError) -> Int32 {
        var requirements = Requirements(anchors: try anchors(options))
        requirements.profile = options.profile
        for path in options.revocationLists {
            requirements.revocationLists += try InputFile.revocationLists(path)
        }
        let time = options.time ?? .now
        let evidence = Evidence(
            chain: try InputFile.chain(file),
            name: options.name ?? "",
            file: file,
            collectedAt: time
        )
        let verification = Verification.evaluate(
            evidence,
            against: requirements,
            at: time,
            baseline: baseline
        )
        let report = Report(
            [verification],
            anchorWarnings: requirements.anchors.warnings,
            baseline: baseline,
            time: time
        )
        try publish(report, options)
        return report.exitStatus(warningsAreErrors: options.warningsAreErrors)
    }

    private static func evidence(
        _ file: String,
        _ options: VerifyOptions,
        _ baseline: Baseline
    ) throws(ConfigurationError) -> Int32 {
        let stored = try EvidenceFile(json: try InputFile.contents(file), of: file)
        let hasAnchors = !options.anchors.isEmpty || options.usesSystemAnchors
        let report = stored.report(
            at: options.time ?? .now,
            anchors: hasAnchors ? try anchors(options) : nil,
            baseline: baseline
        )
        try publish(report, options)
        return report.exitStatus(warningsAreErrors: options.warningsAreErrors)
    }

    static func anchors(_ options: VerifyOptions) throws(ConfigurationError) -> Anchors {
        do throws(AnchorFileError) {
            var anchors = try Anchors(paths: options.anchors)
            if options.usesSystemAnchors { anchors.add(try Anchors.system()) }
            return anchors
        } catch {
            throw ConfigurationError(error.description)
        }
    }

    static func baseline(_ options: VerifyOptions) throws(ConfigurationError) -> Baseline {
        guard let file = options.baseline else { return Baseline() }
        return try Baseline(json: try InputFile.contents(file), of: file)
    }

    /// Writes every report that was asked for; the one for standard output last.
    static func publish(_ report: Report, _ options: VerifyOptions) throws(ConfigurationError) {
        var rendering = RenderOptions()
        rendering.includesTimes = options.includesTimes
        for (format, path) in options.reports {
            let text = report.rendered(as: format, options: rendering)
            try InputFile.write(Array(text.utf8), to: path)
        }
        rendering.usesColour = options.format == .text && Output.isTerminal(1)
        Output.print(report.rendered(as: options.format, options: rendering), terminator: "")
    }
}
