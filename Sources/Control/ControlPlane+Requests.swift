import Configuration
import DNS
import Platform
import Resolver
import Server

// What clients ask: each command's effect and its reply.

extension ControlPlane {
    /// Obeys one line; false when the client is lost.
    func answer(_ line: [UInt8], of session: Session, _ slot: Int) -> Bool {
        do throws(ControlError) {
            let request = try Request(parsing: line)
            switch request.command {
            case .status: return reply(status(), to: session)
            case .list: return reply(ListResult(overrides: overrides.overrides), to: session)
            case .set: return reply(try set(request, by: session.peer), to: session)
            case .unset: return reply(try unset(request, by: session.peer), to: session)
            case .flush: return reply(try flush(request), to: session)
            case .log: return beginLog(request, session)
            case .explain: return reply(try explain(request), to: session)
            case .reload:
                session.isWaiting = true
                reloads.request(.request, for: slot)
                return true
            }
        } catch {
            return session.send(ControlLine.octets(Reply<StatusResult>(error)))
        }
    }

    private func reply(_ result: some Codable & Sendable, to session: Session) -> Bool {
        session.send(ControlLine.octets(Reply(result)))
    }

    // MARK: Overrides

    private func set(_ request: Request, by peer: LocalPeer) throws(ControlError) -> SetResult {
        guard let name = request.name, let type = request.type, let records = request.records else {
            throw ControlError(.malformed, "'set' needs a name, a type and records")
        }
        if request.lifetime == 0 {
            throw ControlError(.invalid, "an override that ends at once is none")
        }
        if let ttl = request.ttl, ttl > 0x7FFF_FFFF {
            throw ControlError(.invalid, "a TTL is at most 2147483647 seconds")
        }
        try checkView(request.view)
        let now = Timestamp.now
        let override = try overrides.set(
            Override(
                name: name,
                type: type,
                records: records,
                ttl: request.ttl ?? configuration.ttl,
                view: request.view,
                note: request.note,
                user: LocalPeer.name(ofUser: peer.user),
                uid: peer.user,
                setAt: now,
                expiresAt: request.lifetime.map { now.advanced(bySeconds: $0) }
            )
        )
        adoptOverrides()
        log.write(
            .info,
            "\(override.user) has set \(override.name) \(override.type) "
                + override.records.joined(separator: ", ")
        )
        return SetResult(override: override, isKept: overrides.isPersistent)
    }

    private func unset(_ request: Request, by peer: LocalPeer) throws(ControlError) -> UnsetResult {
        guard let name = request.name else {
            throw ControlError(.malformed, "'unset' needs a name")
        }
        let gone = try overrides.unset(name: name, type: request.type, view: request.view)
        adoptOverrides()
        let user = LocalPeer.name(ofUser: peer.user)
        for override in gone {
            log.write(.info, "\(user) has taken away \(override.name) \(override.type)")
        }
        return UnsetResult(overrides: gone)
    }

    private func checkView(_ view: String?) throws(ControlError) {
        guard let view else { return }
        let views = configuration.views.map(\.name)
        guard views.contains(view) else { throw ControlError(view: view, amongThose: views) }
    }

    // MARK: The cache

    private func flush(_ request: Request) throws(ControlError) -> FlushResult {
        guard let text = request.name else { return FlushResult(answers: cache.removeAll()) }
        let name = try OverrideRecords.name(text)
        return FlushResult(answers: cache.remove(name, includingBelow: request.tree ?? false))
    }

    // MARK: Explanations

    private func explain(_ request: Request) throws(ControlError) -> Explanation {
        guard let text = request.name else {
            throw ControlError(.malformed, "'explain' needs a name")
        }
        let name = try OverrideRecords.name(text)
        guard let type = RecordType(scanning: request.type ?? "A") else {
            throw ControlError(.invalid, "'\(request.type ?? "")' is not a record type")
        }
        let client = try ExplainedClient(
            client: request.client,
            server: request.server,
            view: request.view,
            isStream: request.stream ?? false
        ).client(under: policy)
        let report = try? server.report()
        var origins = origins
        origins.overrides = overrides.overrides
        return Explanation(
            name,
            type,
            from: client,
            under: policy,
            origins,
            knowing: ServerKnowledge(
                cache: cache,
                upstreams: report?.upstreams ?? [],
                at: Instant(nanoseconds: Clock.monotonic)
            )
        )
    }

    // MARK: The log

    /// Tells what was logged, and what will be, if that is wanted.
    private func beginLog(_ request: Request, _ session: Session) -> Bool {
        // Others are told what came since before this one is told all.
        tellFollowers()
        for line in log.lines(from: 0).lines {
            guard reply(LogResult(message: line), to: session) else { return false }
        }
        guard request.follow == true else {
            session.end()
            return true
        }
        session.isFollowing = true
        chooseQueries()
        return true
    }
}
