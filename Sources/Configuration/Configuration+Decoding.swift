// From the document to values, key by key. What is wrong is reported and has its default, so that
// all errors of a file are told at once.

import DNS
import Zones

extension Configuration {
    enum Key: String, SettingKey {
        case listen, allow, zones, ttl, negativeTTL, servedTTL, pointers, blockBypass
        case upstreams, upstreamAnchors, policy, forward, views, cache, control, state, metrics
        case user, workers, limits, log, chaos, verify
    }

    init(_ root: Setting, _ decoding: inout Decoding) {
        self.init()
        guard let section = root.section(Key.self, &decoding) else { return }
        listen = section[.listen]?.addresses(&decoding)
        if let listen, listen.isEmpty, let setting = section[.listen] {
            decoding.reject(setting, "the list is empty; leave the key out to serve on loopback")
        }
        allow = section[.allow]?.prefixes(&decoding)
        ttl = section[.ttl]?.seconds(&decoding) ?? ttl
        negativeTTL = section[.negativeTTL]?.seconds(&decoding) ?? negativeTTL
        servedTTL = section[.servedTTL]?.seconds(&decoding) ?? servedTTL
        makesPointers = section[.pointers]?.bool(&decoding) ?? makesPointers
        blocksBypass = section[.blockBypass]?.bool(&decoding) ?? blocksBypass
        zones = section[.zones].map { zoneFiles($0, &decoding) } ?? []
        upstreams = section[.upstreams]?.upstreams(&decoding)
        upstreamAnchors = section[.upstreamAnchors]?.path(&decoding)
        strategy = section[.policy]?.choice(Strategy.self, &decoding) ?? strategy
        forward = section[.forward]?.list(&decoding, of: "rules", Configuration.rule) ?? []
        views = section[.views].map { decodedViews($0, &decoding) } ?? []
        if let setting = section[.cache] { cache = Cache(setting, &decoding) }
        control = section[.control]?.path(&decoding)
        state = section[.state]?.path(&decoding)
        metrics = section[.metrics]?.address(&decoding, port: 9153)
        user = section[.user]?.text(&decoding, allowing: "a user's name, or \"name:group\"")
        workers = section[.workers]?.integer(1...256, &decoding)
        if let setting = section[.limits] { limits = Limits(setting, &decoding) }
        if let setting = section[.log] { log = Log(setting, &decoding) }
        if let setting = section[.chaos] { chaos = Chaos(setting, &decoding) }
        if let setting = section[.verify] { verify = Verify(setting, &decoding) }
    }

    // MARK: Zones

    enum ZoneKey: String, SettingKey {
        case file, kind, origin, ttl, negativeTTL, passthrough, pointers
    }

    private func zoneFiles(_ setting: Setting, _ decoding: inout Decoding) -> [ZoneFile] {
        setting.list(&decoding, of: "zone files") { zoneFile($0, &$1) } ?? []
    }

    private func zoneFile(_ setting: Setting, _ decoding: inout Decoding) -> ZoneFile? {
        let short = "a file, or an object such as { file: \"corp.zone\", kind: \"override\" }"
        if case .string = setting.node.value {
            guard let path = setting.path(&decoding, allowing: short) else { return nil }
            return zoneFile(path, .override)
        }
        guard
            let section = setting.section(ZoneKey.self, &decoding, allowing: short)
        else { return nil }
        let kind = section[.kind].map { $0.choice(KindWord.self, &decoding)?.kind } ?? .override
        let origin = section[.origin].map { $0.name(&decoding) } ?? .root
        guard let kind, let origin else { return nil }
        guard let path = section[.file] else {
            decoding.reject(setting, "the key file is missing")
            return nil
        }
        if section[.origin] == nil, kind == .authoritative || kind == .rpz {
            decoding.reject(setting, "a zone of the kind \(kind) needs its origin")
            return nil
        }
        guard let path = path.path(&decoding) else { return nil }
        var file = zoneFile(path, kind)
        file.source.origin = origin
        file.source.ttl = section[.ttl]?.seconds(&decoding) ?? file.source.ttl
        file.source.negativeTTL =
            section[.negativeTTL]?.seconds(&decoding) ?? file.source.negativeTTL
        file.source.makesPointers = section[.pointers]?.bool(&decoding) ?? makesPointers
        file.source.passthrough =
            section[.passthrough]?.list(&decoding, of: "record types") {
                $0.scanned(&$1, allowing: "a record type such as \"MX\" or \"TYPE65280\"") {
                    RecordType(scanning: $0)
                }
            } ?? []
        return file
    }

    private func zoneFile(_ path: String, _ kind: ZoneKind) -> ZoneFile {
        ZoneFile(
            path: path,
            source: ZoneSource(
                kind: kind,
                label: path.split(separator: "/").last.map(String.init) ?? path,
                ttl: ttl,
                negativeTTL: negativeTTL,
                makesPointers: makesPointers
            )
        )
    }

    // MARK: Forwarding

    enum ForwardKey: String, SettingKey {
        case suffix, upstreams, upstreamAnchors, policy
    }

    private static func rule(_ setting: Setting, _ decoding: inout Decoding) -> ForwardRule? {
        guard
            let section = setting.section(
                ForwardKey.self,
                &decoding,
                allowing: "an object such as { suffix: \"corp.\", upstreams: [\"10.0.0.2\"] }"
            )
        else { return nil }
        guard let suffix = section[.suffix], let upstreams = section[.upstreams] else {
            let missing = section[.suffix] == nil ? "suffix" : "upstreams"
            decoding.reject(setting, "the key \(missing) is missing")
            return nil
        }
        let strategy = section[.policy]?.choice(Strategy.self, &decoding)
        guard let name = suffix.name(&decoding), let addresses = upstreams.upstreams(&decoding)
        else { return nil }
        return ForwardRule(
            suffix: name,
            upstreams: addresses,
            upstreamAnchors: section[.upstreamAnchors].flatMap {
                anchors($0, of: addresses, &decoding)
            },
            strategy: strategy
        )
    }

    /// A file of anchors, which only upstreams over TLS have a use for.
    private static func anchors(
        _ setting: Setting,
        of upstreams: [Address]?,
        _ decoding: inout Decoding
    ) -> String? {
        if upstreams?.contains(where: { $0.identity != nil }) != true {
            decoding.reject(setting, "none of the upstreams here is asked over TLS (tls://…)")
        }
        return setting.path(&decoding)
    }

    // MARK: Views

    enum ViewKey: String, SettingKey {
        case name, clients, addresses, zones, upstreams, upstreamAnchors, policy
    }

    private func decodedViews(_ setting: Setting, _ decoding: inout Decoding) -> [View] {
        var names: Set<String> = []
        return setting.list(&decoding, of: "views") { setting, decoding in
            guard let section = setting.section(ViewKey.self, &decoding) else { return nil }
            guard let name = section[.name]?.text(&decoding, allowing: "a name") else {
                if section[.name] == nil { decoding.reject(setting, "the key name is missing") }
                return nil
            }
            if !names.insert(name).inserted {
                decoding.reject(setting, "another view is named \(name)")
            }
            if section[.clients] == nil, section[.addresses] == nil {
                decoding.reject(
                    setting,
                    "no client can have this view; give it clients, addresses that they ask, "
                        + "or both"
                )
            }
            let upstreams = section[.upstreams]?.upstreams(&decoding)
            return View(
                name: name,
                clients: section[.clients]?.prefixes(&decoding) ?? [],
                addresses: section[.addresses]?.list(&decoding, of: "addresses") {
                    $0.scanned(&$1, allowing: "an address such as \"10.0.0.2\" without a port") {
                        IPAddress(scanning: $0)
                    }
                } ?? [],
                zones: section[.zones].map { zoneFiles($0, &decoding) } ?? [],
                upstreams: upstreams,
                upstreamAnchors: section[.upstreamAnchors].flatMap {
                    Configuration.anchors($0, of: upstreams, &decoding)
                },
                strategy: section[.policy]?.choice(Strategy.self, &decoding)
            )
        } ?? []
    }
}

/// A zone's kind as it is spelled: the registry of Zones counts its kinds instead.
private enum KindWord: String, CaseIterable {
    case override, authoritative, rpz, hosts

    var kind: ZoneKind {
        switch self {
        case .override: .override
        case .authoritative: .authoritative
        case .rpz: .rpz
        case .hosts: .hosts
        }
    }
}
