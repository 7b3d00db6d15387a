public import Configuration
public import Platform
import PolicyLoading
public import Resolver
import Synchronization
import Zones

/// Reads configuration and zones on a thread of its own, so that whoever asked goes on meanwhile.
public final class PolicyReader: Sendable {
    /// Gives the configuration as it is now, and the base's upstreams, which may be the system's own;
    /// nil where one of them cannot be asked from here.
    public typealias Source =
        @Sendable () throws(RejectedConfiguration) -> (Configuration, [Policy.Upstream]?)

    /// What was read.
    enum Outcome: Sendable {
        /// What is served already.
        case unchanged
        /// The configuration is wrong.
        case rejected([String])
        /// The zones, which may be wrong.
        case read(Configuration, PolicyLoader.Loaded)
    }

    /// What two policies differ in.
    struct Comparison: Sendable {
        /// Nil where their layers are not the same.
        let differences: ZoneDifferences?
    }

    /// What an outcome was read from.
    typealias Digests = [String: ContentDigest?]

    private let source: Source
    /// The configuration's file, if there is one.
    private let path: String?
    private let finished = Mutex<(outcome: Outcome, digests: Digests)?>(nil)
    private let compared = Mutex<Comparison?>(nil)
    /// Signalled when an outcome is there, or a comparison.
    let wakeup: Wakeup

    /// A reader of a source; `path` is the configuration's file.
    public init(
        path: String?,
        source: @escaping Source
    ) throws(Errno) {
        self.path = path
        self.source = source
        wakeup = try Wakeup()
    }

    /// Begins to read. Where the files are as `known` says, nothing is compiled.
    func begin(generation: UInt32, known: Digests?) throws(Errno) -> Thread {
        try Thread(named: "reload") { [self] in
            let result = read(generation, known)
            finished.withLock { $0 = result }
            wakeup.signal()
        }
    }

    /// Takes the outcome, once.
    func take() -> (outcome: Outcome, digests: Digests)? {
        wakeup.clear()
        return finished.withLock { finished in
            defer { finished = nil }
            return finished
        }
    }

    /// Begins to compare the names of two policies.
    func beginComparing(_ new: Policy, with old: Policy) throws(Errno) -> Thread {
        try Thread(named: "compare") { [self] in
            let differences = new.differences(from: old)
            compared.withLock { $0 = Comparison(differences: differences) }
            wakeup.signal()
        }
    }

    /// Takes what comparing came to, once; nil: nothing has been compared.
    func takeComparison() -> Comparison? {
        compared.withLock { compared in
            defer { compared = nil }
            return compared
        }
    }

    /// What is in the files that a policy was made of, beside those that were read for it.
    func digests(of loaded: PolicyLoader.Loaded) -> Digests {
        var digests = loaded.digests
        if let path { digests[path] = .some(ContentDigest(ofFileAt: path)) }
        return digests
    }

    private func read(_ generation: UInt32, _ known: Digests?) -> (Outcome, Digests) {
        if let known, !known.isEmpty,
            known.allSatisfy({ ContentDigest(ofFileAt: $0.key) == $0.value })
        {
            return (.unchanged, known)
        }
        var digests: Digests = [:]
        // Before it is read: what is written in between is read once more.
        if let path { digests[path] = .some(ContentDigest(ofFileAt: path)) }
        do throws(RejectedConfiguration) {
            let (configuration, upstreams) = try source()
            guard let upstreams else {
                digests.merge(known ?? [:]) { first, _ in first }
                return (.rejected(["upstreams: this machine has no interface for one"]), digests)
            }
            let loaded = PolicyLoader(configuration).load(
                generation: generation,
                upstreams: upstreams
            )
            digests.merge(loaded.digests) { first, _ in first }
            return (.read(configuration, loaded), digests)
        } catch {
            // The zones are still those that are watched.
            digests.merge(known ?? [:]) { first, _ in first }
            return (.rejected(error.errors.map(\.description)), digests)
        }
    }
}
