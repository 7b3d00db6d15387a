import DNS
public import Resolver
import Zones

/// What has been set while the daemon runs: changed in the journal first, then in the layers that
/// queries see.
public struct RuntimeOverrides: ~Copyable {
    private struct Entry {
        var override: Override
        let records: OverrideRecords
        let order: Int
    }

    /// What an override is served under where it does not say.
    public struct Defaults: Equatable, Sendable {
        /// The TTL of its records, in seconds.
        public var ttl: UInt32
        /// The TTL of negative answers, in seconds.
        public var negativeTTL: UInt32
        /// Whether PTR records are made from private addresses.
        public var makesPointers: Bool

        /// Defaults.
        public init(ttl: UInt32 = 5, negativeTTL: UInt32 = 5, makesPointers: Bool = true) {
            self.ttl = ttl
            self.negativeTTL = negativeTTL
            self.makesPointers = makesPointers
        }
    }

    private var journal: Journal?
    private var entries: [Override.Key: Entry] = [:]
    private var orderOfLast = 0
    private let seed: UInt64
    /// What is served under where an override does not say.
    public var defaults: Defaults

    /// So many at most: they are compiled anew at each change.
    public static let most = 10_000

    /// Overrides that end with the process.
    public init(seed: UInt64, defaults: Defaults = Defaults()) {
        self.seed = seed
        self.defaults = defaults
    }

    /// The overrides of the journal in a folder, as they were; `warnings` says what was damaged.
    public init(
        in folder: String,
        seed: UInt64,
        defaults: Defaults = Defaults(),
        warnings: inout [String]
    ) throws(ControlError) {
        self.seed = seed
        self.defaults = defaults
        var contents = Journal.Contents()
        journal = try Journal(in: folder, contents: &contents)
        warnings = contents.warnings
        let now = Timestamp.now
        for override in contents.overrides where override.expiresAt.map({ $0 > now }) ?? true {
            do throws(ControlError) {
                let records = try OverrideRecords(
                    name: override.name,
                    type: override.type,
                    records: override.records
                )
                keep(override, records)
            } catch {
                warnings.append("the override of \(override.name) is left out: \(error.sentence)")
            }
        }
    }

    /// Whether overrides are there again after a restart.
    public var isPersistent: Bool { journal != nil }

    /// How many there are.
    public var count: Int { entries.count }

    /// All of them, the oldest first.
    public var overrides: [Override] { ordered(entries).map(\.override) }

    /// When the next one ends by itself.
    public var nextExpiry: Timestamp? { entries.values.compactMap(\.override.expiresAt).min() }

    // MARK: Changes

    /// Sets an override in the place of the one with its name, type and view; gives it as it is kept.
    public mutating func set(_ override: Override) throws(ControlError) -> Override {
        let records = try OverrideRecords(
            name: override.name,
            type: override.type,
            records: override.records
        )
        var override = override
        override.name = records.owner.description
        override.type = records.type.description
        override.records = records.texts
        guard entries[override.key] != nil || entries.count < RuntimeOverrides.most else {
            throw ControlError(
                .invalid,
                "there are \(entries.count) overrides already; put so many into a zone file"
            )
        }
        var proposed = entries
        proposed[override.key] = Entry(
            override: override,
            records: records,
            order: orderOfLast + 1
        )
        let layer = compile(view: override.view, of: proposed)
        if let error = layer.errors.first {
            throw ControlError(.invalid, "\(override.name) \(override.type): \(error)")
        }
        let kept = ordered(proposed).map(\.override)
        try journal?.append([JournalLine(set: override)], leaving: kept)
        keep(override, records)
        return override
    }

    /// Takes away what is set at a name: one type, or all; gives what it was.
    public mutating func unset(
        name: String,
        type: String?,
        view: String?
    ) throws(ControlError) -> [Override] {
        let name = try OverrideRecords.name(name).description
        var recordType: String?
        if let type {
            guard let scanned = RecordType(scanning: type) else {
                throw ControlError(.invalid, "'\(type)' is not a record type")
            }
            recordType = scanned.description
        }
        let key = Override.Key(name: name, type: recordType ?? "", view: view)
        let gone = ordered(entries).map(\.override).filter {
            $0.key.name == key.name && $0.view == view
                && (recordType == nil || $0.type == recordType)
        }
        guard !gone.isEmpty else {
            let what = recordType.map { "\(name) \($0)" } ?? name
            throw ControlError(
                .notFound,
                "nothing is set at \(what)" + (view.map { " in the view \($0)" } ?? "")
            )
        }
        try remove(gone)
        return gone
    }

    /// Takes away what has come to its end, and gives what it was. The journal need not know: whoever
    /// reads it looks at the time.
    public mutating func expire(at now: Timestamp) -> [Override] {
        let gone = ordered(entries).map(\.override).filter {
            $0.expiresAt.map { $0 <= now } ?? false
        }
        for override in gone { entries[override.key] = nil }
        return gone
    }

    private mutating func remove(_ gone: [Override]) throws(ControlError) {
        var rest = entries
        for override in gone { rest[override.key] = nil }
        let kept = ordered(rest).map(\.override)
        try journal?.append(gone.map { JournalLine(unset: $0.key) }, leaving: kept)
        entries = rest
    }

    private mutating func keep(_ override: Override, _ records: OverrideRecords) {
        orderOfLast += 1
        entries[override.key] = Entry(override: override, records: records, order: orderOfLast)
    }

    private func ordered(_ entries: [Override.Key: Entry]) -> [Entry] {
        entries.values.sorted { $0.order < $1.order }
    }

    // MARK: Layers

    /// The layers of the base and of all views. Complexity: O(overrides).
    public func layers() -> Policy.Runtime {
        var runtime = Policy.Runtime()
        for view in Set(entries.values.map(\.override.view)) {
            let layer = Policy.Layer(compile(view: view, of: entries).index())
            if let view { runtime.views[view] = layer } else { runtime.base = layer }
        }
        return runtime
    }

    private struct Compiled: ~Copyable {
        var built: ZoneIndex
        let errors: [String]

        consuming func index() -> ZoneIndex { built }
    }

    private func compile(view: String?, of entries: [Override.Key: Entry]) -> Compiled {
        var builder = ZoneIndexBuilder(kind: .override, seed: seed)
        builder.begin(
            ZoneSource(
                kind: .override,
                label: "runtime",
                ttl: defaults.ttl,
                negativeTTL: defaults.negativeTTL,
                makesPointers: defaults.makesPointers
            )
        )
        var line: UInt32 = 0
        for entry in ordered(entries) {
            // What `list` shows as its number.
            line += 1
            guard entry.override.view == view else { continue }
            for data in entry.records.data {
                builder.add(
                    owner: entry.records.owner.octets.span,
                    type: entry.records.type,
                    class: .in,
                    ttl: entry.override.ttl,
                    explicitTTL: true,
                    rdata: data.span,
                    line: line,
                    file: 0
                )
            }
        }
        builder.end(files: ["runtime"])
        let index = builder.build()
        let errors = builder.findings.filter { $0.severity == .error }.map(\.sentence)
        return Compiled(built: index, errors: errors)
    }
}
