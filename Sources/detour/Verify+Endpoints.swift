import Certificates
import Configuration
import HTTPSVerifier

extension Verify {
    /// The overridden endpoints, contacted. All that can be wrong with files is found before.
    static func endpoints(_ options: VerifyOptions) throws(ConfigurationError) -> Int32 {
        let configuration: Configuration
        do throws(RejectedConfiguration) {
            configuration = try options.sources.configuration()
        } catch {
            for error in error.errors { Output.error("\(error)") }
            return ExitStatus.configuration
        }
        guard !(configuration.zones + configuration.views.flatMap(\.zones)).isEmpty else {
            throw ConfigurationError("there are no zones; name some with --config or --zone")
        }
        let section = configuration.verify
        var options = options
        options.baseline = options.baseline ?? section.baseline
        options.timeout = options.timeout ?? section.timeout.map { Double($0) }
        options.jobs = options.jobs ?? section.jobs
        let baseline = try baseline(options)
        let policy = try Policy(section, options)
        let only = options.only.map { NamePattern($0) }
        let except = options.except.map { NamePattern($0) }
        let names: OverriddenNames
        do throws(RejectedOverrides) {
            names = try OverriddenNames(configuration, server: options.server) { name in
                (only.isEmpty || only.contains { $0.matches(name) })
                    && !except.contains { $0.matches(name) }
            }
        } catch {
            for line in error.lines { Output.error(line) }
            return ExitStatus.configuration
        }
        let list = TargetList(names, section)
            .selecting(only: only, except: except, ports: options.ports)
        if list.targets.isEmpty, list.skipped.isEmpty, !options.only.isEmpty {
            throw ConfigurationError("no overridden name is left by --only and --except")
        }
        let status = try verify(list, policy, options, baseline)
        // Names that the daemon says nothing about could not be judged, whatever the others are.
        return names.isIncomplete && (status == 0 || status == 3) ? 2 : status
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
            uniquingKeysWith: { first, other in
                var both = first
                both.addresses += other.addresses
                return both
            }
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

extension TargetList {
    /// Names with their addresses, at the ports that the configuration has for them.
    init(_ names: OverriddenNames, _ section: Configuration.Verify) {
        self.init(targets: [])
        for entry in names.entries {
            let source = SourcePlace(file: entry.file, line: entry.line)
            if let reason = entry.reason {
                skipped.append(SkippedTarget(name: entry.name, reason: reason, source: source))
                continue
            }
            var target = Target(
                name: entry.name,
                addresses: entry.addresses.compactMap { InternetAddress(octets: $0) },
                ports: section.ports(for: entry.name),
                source: source
            )
            for (octets, message) in entry.answers {
                guard let address = InternetAddress(octets: octets) else { continue }
                target.answers[address] = message
            }
            targets.append(target)
        }
    }
}
