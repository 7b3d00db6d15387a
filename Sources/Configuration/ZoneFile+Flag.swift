public import DNS
public import Zones

// Zone files as command lines name them.

extension ZoneFile {
    /// A file at a path, called by its name without the folders.
    public init(path: String, kind: ZoneKind, origin: Name = .root) {
        let label = path.split(separator: "/").last.map(String.init) ?? path
        self.init(path: path, source: ZoneSource(kind: kind, label: label, origin: origin))
    }

    /// The file that `ORIGIN=FILE` names; nil where it does not.
    public init?(flag: String, kind: ZoneKind) {
        let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty,
            let origin = try? Name(scanning: String(parts[0]))
        else { return nil }
        self.init(path: String(parts[1]), kind: kind, origin: origin)
    }
}

extension Configuration {
    /// Adds zone files that a command line names, with the configuration's settings for zones.
    public mutating func add(_ files: [ZoneFile]) {
        for var file in files {
            file.source.ttl = ttl
            file.source.negativeTTL = negativeTTL
            file.source.makesPointers = makesPointers
            zones.append(file)
        }
    }
}
