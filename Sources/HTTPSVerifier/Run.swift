internal import CCurl
internal import Certificates
internal import Synchronization

/// One run of a verifier, on one thread: a queue of probes, those under way, those that wait for
/// an answer, and the verifications of those that are finished.
final class Run {
    private let verifier: Verifier
    private let loop: Loop
    private let progress: ((Verifier.Progress) -> Void)?
    private let time: Moment
    private let began: Double
    private let memory = CertificateMemory()
    private var queue: [Probe] = []
    private var waiting: [Probe] = []
    private var active: [ObjectIdentifier: Probe] = [:]
    private var total = 0
    private var finished: [Verification] = []
    /// Redirects lead to an endpoint once in a run, from wherever they come.
    private var redirectsSeen: Set<String> = []

    init(_ verifier: Verifier, _ loop: Loop, _ progress: ((Verifier.Progress) -> Void)?) {
        self.verifier = verifier
        self.loop = loop
        self.progress = progress
        time = verifier.time
        began = ccurl_now()
    }

    func report(on list: TargetList) -> Report {
        let wasOpen = ccurl_hold_sigpipe()
        defer { ccurl_release_sigpipe(wasOpen) }
        var warnings: [AnchorWarning] = []
        for target in list.targets {
            let requirements = verifier.policy.requirements(for: target.name)
            for warning in requirements.anchors.warnings where !warnings.contains(warning) {
                warnings.append(warning)
            }
            queue += target.endpoints.map { Probe($0, requirements, path: requirements.path) }
        }
        total = queue.count
        queue.reverse()
        var isInterrupted = false
        while !queue.isEmpty || !active.isEmpty || !waiting.isEmpty {
            let now = ccurl_now()
            let isLate = verifier.options.deadline.map { now - began > $0 } ?? false
            if verifier.isStopping || isLate {
                isInterrupted = true
                abandonAll()
                break
            }
            startProbes(now)
            loop.turn { exchange, result in ended(exchange, result) }
            resumeWaiting(ccurl_now())
            if !active.isEmpty || !waiting.isEmpty { loop.wait(milliseconds: patience(now)) }
        }
        return Report(
            finished,
            skipped: list.skipped,
            anchorWarnings: warnings,
            baseline: verifier.baseline,
            time: time,
            duration: ccurl_now() - began,
            isInterrupted: isInterrupted
        )
    }

    /// How long the loop may sleep: until the next retry or challenge is due.
    private func patience(_ now: Double) -> Int32 {
        let due = waiting.map(\.wakeAt).min() ?? now + 1
        let deadline = verifier.options.deadline.map { began + $0 } ?? now + 1
        let seconds = max(0, min(min(due, deadline) - now, 1))
        return Int32(seconds * 1_000) + 1
    }

    private func startProbes(_ now: Double) {
        while active.count < max(1, verifier.options.jobs), let probe = queue.popLast() {
            guard let exchange = probe.connect(verifier.options, memory) else {
                probe.fail(stage: "dns", "\(probe.endpoint.name) is not a host name", time: time)
                finish(probe)
                continue
            }
            verifier.log(event: "probe.start", probe.endpoint, [("attempt", "\(probe.attempts)")])
            active[ObjectIdentifier(exchange)] = probe
            loop.start(exchange)
        }
    }

    private func ended(_ exchange: Exchange, _ result: CURLcode) {
        guard let probe = active.removeValue(forKey: ObjectIdentifier(exchange)) else { return }
        probe.collect(exchange, result, at: time)
        let failure = probe.evidence.failure
        let isWorthRetrying = failure.map { $0.stage == "connect" || $0.isTimeout } ?? false
        if isWorthRetrying, probe.attempts <= verifier.options.retries {
            probe.wait(until: ccurl_now() + 0.25 * Double(probe.attempts))
            waiting.append(probe)
        } else {
            advance(probe)
        }
    }

    /// Goes on after an exchange, or after a challenge was resolved: to the next challenge, to
    /// another connection with a credential, or to the end.
    private func advance(_ probe: Probe) {
        switch probe.nextStep(verifier, at: time, loop, memory) {
        case .connect:
            queue.append(probe)
        case .ask(let challenge):
            verifier.state.withLock { $0.pending.append(challenge) }
            probe.wait(until: ccurl_now() + verifier.options.challengeTimeout)
            waiting.append(probe)
            verifier.handlers.call { $0?.handle?(challenge) }
        case .finish:
            finish(probe)
        }
    }

    private func resumeWaiting(_ now: Double) {
        let probes = waiting
        waiting = []
        for probe in probes {
            if let challenge = probe.challenge {
                if let disposition = challenge.disposition {
                    forget(challenge)
                    probe.resolved(challenge, disposition)
                    advance(probe)
                } else if now >= probe.wakeAt {
                    cancel(challenge)
                    probe.cancelled(.timedOut)
                    finish(probe)
                } else {
                    waiting.append(probe)
                }
            } else if now >= probe.wakeAt {
                queue.append(probe)
            } else {
                waiting.append(probe)
            }
        }
    }

    private func cancel(_ challenge: AuthenticationChallenge) {
        forget(challenge)
        guard challenge.cancel() else { return }
        verifier.log(
            event: "challenge.cancelled",
            challenge.endpoint,
            [("method", challenge.protectionSpace.method.rawValue)]
        )
        verifier.handlers.call { $0?.didCancel?(challenge) }
    }

    private func forget(_ challenge: AuthenticationChallenge) {
        verifier.state.withLock { $0.pending.removeAll { $0 === challenge } }
    }

    private func abandonAll() {
        for probe in active.values {
            if let exchange = probe.exchange { loop.abandon(exchange) }
        }
        for probe in waiting {
            if let challenge = probe.challenge { cancel(challenge) }
        }
        let left = Array(active.values) + waiting + queue
        active = [:]
        waiting = []
        queue = []
        for probe in left {
            probe.interrupt(time: time)
            finish(probe)
        }
    }

    private func finish(_ probe: Probe) {
        follow(probe)
        let verification = Verification.evaluate(
            probe.evidence,
            against: probe.requirements,
            at: time,
            baseline: verifier.baseline,
            memory: memory
        )
        finished.append(verification)
        verifier.log(
            event: "probe.end",
            probe.endpoint,
            [("verdict", verification.verdict.rawValue)]
        )
        progress?(
            Verifier.Progress(finished: finished.count, total: total, latest: verification)
        )
    }

    /// Adds the endpoints that a redirect leads to, where that was asked for.
    private func follow(_ probe: Probe) {
        guard probe.requirements.followsRedirects, let response = probe.evidence.response,
            let location = Redirect.location(response),
            let redirect = Redirect(location, from: probe.evidence)
        else { return }
        guard probe.hops < verifier.options.redirectLimit else {
            probe.evidence.redirection = "loop"
            return
        }
        let isHere = redirect.host.lowercased() == probe.evidence.name.lowercased()
        let addresses =
            isHere ? [probe.endpoint.address] : verifier.resolution?(redirect.host)?.addresses
        guard let addresses else {
            probe.evidence.redirection = "not overridden"
            return
        }
        let requirements = verifier.policy.requirements(for: redirect.host)
        guard !requirements.anchors.isEmpty || redirect.scheme == .http else {
            probe.evidence.redirection = "not overridden"
            return
        }
        probe.evidence.redirection = "followed"
        for address in addresses {
            let endpoint = Endpoint(
                name: redirect.host,
                address: address,
                port: redirect.port,
                scheme: redirect.scheme,
                source: probe.endpoint.source
            )
            let next = Probe(endpoint, requirements, path: redirect.path, after: probe)
            let key = "\(redirect.scheme) \(redirect.host) \(endpoint.authority) \(redirect.path)"
            if probe.hops > 0 || redirectsSeen.insert(key).inserted {
                queue.append(next)
                total += 1
            }
        }
    }
}
