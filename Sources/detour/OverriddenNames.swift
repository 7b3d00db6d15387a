import Configuration
import DNS
import Platform
import PolicyLoading
import Resolver
import Zones

/// The names that a configuration's zones have addresses for, resolved as the daemon resolves them:
/// by the same policy, or by the daemon itself.
///
/// Each view is asked apart. A name that has addresses in several of them comes once for each that
/// adds some, so that each address is there once.
struct OverriddenNames {
    /// A name, and what became of it.
    struct Entry {
        /// Without the trailing dot.
        let name: String
        /// The zone file's path.
        let file: String
        let line: Int
        /// Of four or sixteen octets.
        var addresses: [[UInt8]] = []
        /// The daemon's answers that the addresses are from; empty where none was asked.
        var answers: [[UInt8]: [UInt8]] = [:]
        /// Why there is nothing to verify.
        var reason: String?
    }

    /// Names with addresses, and names that are skipped for a reason, in the order of the zones.
    private(set) var entries: [Entry] = []
    /// Whether the daemon left questions open.
    private(set) var isIncomplete = false

    private let keepsAnswers: Bool
    private let isWanted: (String) -> Bool
    private var seen: [Name: Set<[UInt8]>] = [:]
    private var skipped: [Name: Entry] = [:]
    private var order: [Name] = []

    /// The names of a configuration's zones that are wanted. Throws what is wrong with the zones or the section for
    /// the verifier, before anybody is asked.
    init(
        _ configuration: Configuration,
        server: SocketAddress?,
        where isWanted: @escaping (String) -> Bool
    ) throws(RejectedOverrides) {
        keepsAnswers = server != nil
        self.isWanted = isWanted
        let samples = try OverriddenNames.samples(configuration)
        let policy = try OverriddenNames.policy(configuration)
        var zones = configuration.zones
        if let server {
            var nameServer = NameServer(server)
            for view in configuration.views { zones += view.zones }
            add(OverriddenNames.owners(of: zones), samples) { name, type in
                nameServer.answer(name, type)
            }
            isIncomplete = nameServer.hasUnanswered
        } else {
            var resolver = Resolver(
                policy: policy,
                cache: Cache(bytes: 1 << 20, seed: 0),
                random: .system
            )
            var store = OctetStore(zeroed: 65_535)
            let now = Instant(nanoseconds: Clock.monotonic)
            for view in [nil] + configuration.views.map(Optional.some) {
                guard let client = policy.client(of: view?.name, over: .tcp) else { continue }
                let owners = OverriddenNames.owners(of: (view?.zones ?? []) + zones)
                add(owners, samples) { name, type in
                    let query = StubQuery.octets(name, type, wantsRecursion: false)
                    var reply = store.mutableSpan
                    guard
                        case .respond(let count) = resolver.handle(
                            query.span,
                            from: client,
                            at: now,
                            into: &reply
                        ), let answer = AddressAnswer(copying: reply.span.extracting(0..<count))
                    else { return .dropped }
                    return .answered(answer)
                }
            }
        }
        finish()
    }

    /// What a question came to.
    enum Reply {
        case answered(AddressAnswer)
        case dropped
        /// The daemon cannot be asked, and why.
        case silent(String)
    }

    private mutating func add(
        _ owners: [AddressOwner],
        _ samples: [Name: [Name]],
        _ ask: (Name, RecordType) -> Reply
    ) {
        var asked: Set<Name> = []
        for owner in owners {
            guard owner.name.isWildcard else {
                if asked.insert(owner.name).inserted { add(owner.name, owner, ask) }
                continue
            }
            let names = samples[owner.name] ?? []
            if names.isEmpty {
                skip(owner.name, owner, "a wildcard without sample names (verify.samples)")
            }
            for name in names where asked.insert(name).inserted { add(name, owner, ask) }
        }
    }

    private mutating func add(
        _ name: Name,
        _ owner: AddressOwner,
        _ ask: (Name, RecordType) -> Reply
    ) {
        var entry = Entry(name, owner)
        guard isWanted(entry.name) else { return }
        for type in [RecordType.a, .aaaa] {
            switch ask(name, type) {
            case .dropped: break
            case .silent(let reason): entry.reason = reason
            case .answered(let answer):
                for address in answer.addresses
                where seen[name, default: []].insert(address).inserted {
                    entry.addresses.append(address)
                    if keepsAnswers { entry.answers[address] = answer.message }
                }
                if entry.reason == nil { entry.reason = reason(owner, answer) }
            }
        }
        if !entry.addresses.isEmpty {
            entry.reason = nil
            entries.append(entry)
        } else if let reason = entry.reason, !name.hasUnderscore {
            skip(name, owner, reason)
        }
    }

    /// Why an answer has no addresses, where that is worth a line: it is none for a name that does
    /// not exist, has no such data, or is let pass.
    private func reason(_ owner: AddressOwner, _ answer: AddressAnswer) -> String? {
        guard answer.addresses.isEmpty else { return nil }
        switch answer.code {
        case .nxDomain: return nil
        case .serverFailure: return "the answer is SERVFAIL"
        case .refused where keepsAnswers: return "the daemon refuses"
        case .noError, .refused:
            // Without an SOA the alias leads away: to another server's name, or below a delegation.
            guard !answer.hasSOA, let alias = answer.lastAlias ?? owner.alias else { return nil }
            return "an alias of \(alias.bare), which is forwarded"
                + (keepsAnswers ? "" : "; --server asks the daemon")
        default: return "the answer has the code \(answer.code.rawValue)"
        }
    }

    private mutating func skip(_ name: Name, _ owner: AddressOwner, _ reason: String) {
        guard skipped[name] == nil else { return }
        var entry = Entry(name, owner)
        entry.reason = reason
        skipped[name] = entry
        order.append(name)
    }

    /// A name that one view has addresses for is not skipped.
    private mutating func finish() {
        for name in order where seen[name] == nil {
            if let entry = skipped[name] { entries.append(entry) }
        }
    }
}

extension OverriddenNames.Entry {
    init(_ name: Name, _ owner: AddressOwner) {
        self.init(name: name.bare, file: owner.file, line: Int(owner.line))
    }
}

/// Why there are no names: what is wrong, a line each.
struct RejectedOverrides: Error {
    let lines: [String]
}

extension OverriddenNames {
    /// The names and aliases of zone files; of one that several have, the first.
    private static func owners(of files: [ZoneFile]) -> [AddressOwner] {
        files.flatMap { ZoneLint($0).addressOwners }
    }

    private static func policy(_ configuration: Configuration) throws(RejectedOverrides) -> Policy {
        var configuration = configuration
        // Every name is asked for as a client that is served would ask.
        configuration.allow = [IPPrefix(IPAddress(high: 0, low: 0), length: 0)]
        // Nothing is forwarded from here; this machine need not have the daemon's interfaces.
        configuration.forward = []
        for index in configuration.views.indices { configuration.views[index].upstreams = nil }
        // Never asked, as no query wants recursion; what is not owned is refused for its sake.
        let upstreams = [Policy.Upstream(address: IPAddress(ipv4: 0x7F00_0001))]
        let loaded = PolicyLoader(configuration).load(generation: 1, upstreams: upstreams)
        guard let policy = loaded.policy else {
            throw RejectedOverrides(
                lines: loaded.errors.map(\.description)
                    + loaded.findings.filter { $0.severity == .error }.map(\.description)
            )
        }
        return policy
    }

    private static func samples(
        _ configuration: Configuration
    ) throws(RejectedOverrides) -> [Name: [Name]] {
        var samples: [Name: [Name]] = [:]
        for (wildcard, names) in configuration.verify.samples {
            guard let owner = try? Name(scanning: wildcard) else {
                throw wrong(configuration, "\(wildcard) is not a name")
            }
            for text in names {
                guard let name = try? Name(scanning: text), name != owner,
                    name.isWithin(owner.parent), name.labelCount >= owner.labelCount
                else { throw wrong(configuration, "\(text) is not below \(wildcard)") }
                samples[owner, default: []].append(name)
            }
        }
        return samples
    }

    private static func wrong(
        _ configuration: Configuration,
        _ sentence: String
    ) -> RejectedOverrides {
        let error = SettingError(
            file: configuration.file,
            path: "verify.samples",
            sentence: sentence
        )
        return RejectedOverrides(lines: [error.description])
    }
}

extension Name {
    /// As text without the trailing dot.
    var bare: String { isRoot ? "." : String(description.dropLast()) }

    fileprivate var hasUnderscore: Bool {
        var position = 0
        while octets[position] != 0 {
            if octets[position + 1] == UInt8(ascii: "_") { return true }
            position += Int(octets[position]) + 1
        }
        return false
    }
}
