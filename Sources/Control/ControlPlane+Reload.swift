public import Configuration
import Platform
public import PolicyLoading
import Resolver
import Server
import Zones

// From files to the workers: all of what was read, or nothing of it.

extension ControlPlane {
    func beginReload(_ cause: ReloadQueue.Cause, at now: UInt64) {
        reloadCause = cause
        reloadBegan = now
        if cause == .request { try? Supervisor.notify(Supervisor.reloading) }
        // What was refused is looked at again when somebody asks; a change of it is waited for else.
        let isRefused = lastReload?.outcome == .refused
        let known = cause == .request && isRefused ? nil : digests
        do throws(Errno) {
            reloadThread = try reader.begin(generation: policy.generation &+ 1, known: known)
        } catch {
            log.write(.error, "cannot reload: \(error)")
            if cause == .request { try? Supervisor.notify("READY=1") }
            let result = result(.refused, findings: ["no thread for it: \(error)"])
            tell(.failure(error: "cannot reload: \(error)", result), reloads.finish())
        }
    }

    /// Takes what a reload has read, and tells all who asked for it.
    func finishReload() {
        guard let (outcome, read) = reader.take() else { return finishComparing() }
        reloadThread.take()?.join()
        let isAsked = reloadCause == .request
        switch outcome {
        case .unchanged:
            let isRefused = lastReload?.outcome == .refused
            if isAsked { log.write(.info, "nothing has changed since the last reload") }
            let result = result(isRefused ? .refused : .unchanged)
            if isAsked { note(result) }
            tell(.success(result), reloads.finish())
        case .rejected(let errors):
            for error in errors { log.write(.error, error) }
            refuse(errors, read)
        case .read(let configuration, let loaded):
            log.report(loaded)
            let findings =
                loaded.findings.map(\.description) + loaded.errors.map(\.description)
            guard let files = loaded.policy else {
                refuse(findings, read)
                break
            }
            for key in ControlPlane.keysInNeedOfRestart(from: self.configuration, to: configuration)
            {
                log.write(.warning, "\(key) has changed; that takes a restart")
            }
            self.configuration = configuration
            origins = Explanation.Origins(configuration, loaded)
            names = loaded.nameCount
            digests = read
            overrides.defaults = RuntimeOverrides.Defaults(configuration)
            let old = policy
            policy = files.placing(overrides.layers(), generation: policy.generation &+ 1)
            server.adopt(policy)
            chooseQueries()
            let result = result(.loaded, findings: findings)
            note(result)
            log.write(
                .info,
                "reloaded: \(counted(names, "name")) in \(result.milliseconds) ms",
                [
                    ("generation", "\(result.generation)"),
                    ("milliseconds", "\(result.milliseconds)"),
                ]
            )
            compare(with: old, result)
        }
        if isAsked {
            let refused = lastReload?.outcome == .refused ? ", the last reload was refused" : ""
            try? Supervisor.notify("READY=1\nSTATUS=\(counted(names, "name"))\(refused)")
        }
        // Includes and links may be others now.
        followFiles()
    }

    /// Watches what was read last. Says which directories cannot be watched, each once.
    func followFiles() {
        // What happened there before it was watched is looked at once more.
        if files.follow(digests.keys) { debounce.note(at: Clock.monotonic) }
        for directory in files.closed.subtracting(closedDirectories).sorted() {
            log.write(
                .warning,
                "the user \(LocalPeer.name(ofUser: LocalPeer.ownUser)) may not read the folder "
                    + "\(directory): changes in it are not noticed by themselves, but by 'detour "
                    + "reload' and SIGHUP"
            )
        }
        closedDirectories.formUnion(files.closed)
    }

    /// Counts what has changed, beside the loop; who asked is told then.
    private func compare(with old: Policy, _ result: ReloadResult) {
        do throws(Errno) {
            reloadThread = try reader.beginComparing(policy, with: old)
            resultToTell = result
        } catch {
            tell(.success(result), reloads.finish())
        }
    }

    private func finishComparing() {
        guard let comparison = reader.takeComparison(), var result = resultToTell else { return }
        reloadThread.take()?.join()
        resultToTell = nil
        result.added = comparison.differences?.added
        result.removed = comparison.differences?.removed
        result.changed = comparison.differences?.changed
        lastReload = result
        tell(.success(result), reloads.finish())
        // Nobody holds the old policy any more, and what reading took is free.
        FreedMemory.giveBack()
    }

    private func refuse(_ findings: [String], _ read: PolicyReader.Digests) {
        digests.merge(read) { _, new in new }
        let sentence = "reload refused; the zones that were served are still served"
        log.write(.error, sentence)
        let result = result(.refused, findings: findings)
        note(result)
        tell(.failure(error: sentence, result), reloads.finish())
    }

    private func result(
        _ outcome: ReloadResult.Outcome,
        findings: [String] = []
    ) -> ReloadResult {
        ReloadResult(
            outcome: outcome,
            at: .now,
            milliseconds: Int((Clock.monotonic - reloadBegan) / 1_000_000),
            generation: policy.generation,
            names: names,
            findings: findings
        )
    }

    private func note(_ result: ReloadResult) {
        reloadCounts[result.outcome, default: 0] += 1
        lastReload = result
    }

    private enum Told {
        case success(ReloadResult)
        case failure(error: String, ReloadResult)
    }

    private func tell(_ told: Told, _ clients: [Int]) {
        let octets =
            switch told {
            case .success(let result): ControlLine.octets(Reply(result))
            case .failure(let sentence, let result):
                ControlLine.octets(
                    Reply<ReloadResult>(
                        ControlError(.invalid, sentence, findings: result.findings)
                    )
                )
            }
        for client in clients {
            guard let session = sessions[client] else { continue }
            session.isWaiting = false
            send(octets, to: client)
            // What it has asked since.
            answerRequests(of: client)
        }
    }

    /// What has changed and cannot be taken over while the server runs.
    static func keysInNeedOfRestart(
        from old: Configuration,
        to new: Configuration
    ) -> [String] {
        var keys: [String] = []
        if old.listen != new.listen { keys.append("listen") }
        if old.workers != new.workers { keys.append("workers") }
        if old.cache.octets != new.cache.octets { keys.append("cache.bytes") }
        if old.limits.connections != new.limits.connections { keys.append("limits.connections") }
        if old.control != new.control { keys.append("control") }
        if old.state != new.state { keys.append("state") }
        if old.metrics != new.metrics { keys.append("metrics") }
        if old.user != new.user { keys.append("user") }
        if old.log.format != new.log.format { keys.append("log.format") }
        return keys
    }
}

extension RuntimeOverrides.Defaults {
    /// What a configuration says of zones.
    public init(_ configuration: Configuration) {
        self.init(
            ttl: configuration.ttl,
            negativeTTL: configuration.negativeTTL,
            makesPointers: configuration.makesPointers
        )
    }
}

extension Explanation.Origins {
    /// The files of a configuration and what was found in them.
    public init(_ configuration: Configuration, _ loaded: PolicyLoader.Loaded) {
        self.init(
            files: configuration.zones + configuration.views.flatMap(\.zones),
            findings: loaded.findings
        )
    }
}

extension Log {
    /// Says what was found in configuration and zones.
    public func report(_ loaded: PolicyLoader.Loaded) {
        for finding in loaded.findings { report(finding) }
        for error in loaded.errors { write(.error, "\(error)") }
    }

    private func report(_ finding: ZoneFileError) {
        switch format {
        case .text: writeLine("\(finding)")
        case .logfmt, .json:
            let place = finding.place
            write(
                finding.severity == .error ? .error : .warning,
                "\(place): \(finding.severity.rawValue): \(finding.sentence)",
                [("place", place)]
            )
        }
    }
}
