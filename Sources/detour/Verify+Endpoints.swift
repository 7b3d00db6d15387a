import Certificates
import HTTPSVerifier

extension Verify {
    /// The overridden endpoints, contacted.
    static func endpoints(
        _ options: VerifyOptions,
        _ baseline: Baseline
    ) throws(ConfigurationError) -> Int32 {
        let anchors = try anchors(options)
        var general = Requirements(anchors: anchors)
        general.profile = options.profile
        let policy = Policy(general: general)
        let list = try Overrides.targets(options).selecting(
            only: options.only.map { NamePattern($0) },
            except: options.except.map { NamePattern($0) },
            ports: options.ports
        )
        return try verify(list, policy, options, baseline)
    }

    static func verify(
        _ list: TargetList,
        _ policy: Policy,
        _ options: VerifyOptions,
        _ baseline: Baseline
    ) throws(ConfigurationError) -> Int32 {
        var contact = Verifier.Options()
        contact.time = options.time
        if let jobs = options.jobs { contact.jobs = jobs }
        if let timeout = options.timeout {
            contact.timeout = timeout
            contact.connectTimeout = min(timeout, contact.connectTimeout)
        }
        let byName = Dictionary(
            list.targets.map { ($0.name.lowercased(), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let verifier = Verifier(
            policy: policy,
            options: contact,
            baseline: baseline,
            resolution: { byName[$0.lowercased()] }
        )
        let signal = Interruption.watch { verifier.stop() }
        let showsProgress = Output.isTerminal(2)
        let report = try verifier.verify(list) { progress in
            guard showsProgress else { return }
            Output.error(
                "\r\(progress.finished) of \(progress.total)",
                terminator: progress.finished == progress.total ? "\r\u{1B}[K" : ""
            )
        }
        // What was seen is written before it is judged worthless by a full disk of reports.
        if let path = options.evidenceOut {
            try InputFile.write(EvidenceFile(report, policy: policy).json, to: path)
        }
        try publish(report, options)
        if report.isInterrupted, let number = signal.received { return 128 + number }
        return report.exitStatus(warningsAreErrors: options.warningsAreErrors)
    }
}

/// Where targets come from: the seam to zones, configuration and a running daemon.
enum Overrides {
    static func targets(_ options: VerifyOptions) throws(ConfigurationError) -> TargetList {
        throw ConfigurationError(
            "this build reads no override zones yet; use --chain or --evidence"
        )
    }
}
