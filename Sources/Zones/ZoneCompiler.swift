import DNS

/// Zone files compiled into one layer, and what was found on the way.
public struct CompiledLayer: ~Copyable {
    /// The layer; what had errors is not in it.
    public let index: ZoneIndex
    /// Errors and warnings, in the order of the files.
    public let findings: [ZoneFileError]
    /// Whether it may be served: an RPZ or a hosts file may with errors, other kinds may not.
    public let isUsable: Bool

    /// Takes the index out.
    public consuming func take() -> ZoneIndex { index }
}

/// A file of records, still to be read, and what it is for.
public struct ZoneFile: Sendable {
    /// Where it is; findings call it so.
    public var path: String
    /// What it is for.
    public var source: ZoneSource

    /// A file at a path.
    public init(path: String, source: ZoneSource) {
        self.path = path
        self.source = source
    }
}

extension ZoneFile {
    /// Reads the file's text into a sink; `reader` gives the octets of an included file by its path.
    public func scan<Sink: RecordSink & ~Copyable>(
        _ text: Span<UInt8>,
        reader: (_ path: String) throws(IncludeError) -> [UInt8],
        into sink: inout Sink
    ) -> ScanReport {
        let settings = ScanSettings(
            kind: source.kind,
            origin: source.origin,
            defaultTTL: source.ttl
        )
        if source.kind == .hosts {
            return HostsFileScanner.scan(text, file: path, settings: settings, into: &sink)
        }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        return MasterFileScanner.scan(
            text,
            file: path,
            settings: settings,
            including: { path throws(IncludeError) in try reader(folder + path) },
            into: &sink
        )
    }
}

/// From files to layers.
public enum ZoneCompiler {
    /// Files grouped as layers, in the order in which a query asks them.
    ///
    /// Neighbouring sparse files share a layer, in which the first that defines a name owns it; each
    /// RPZ is a layer. Authoritative zones come last, the deepest apex first, so that an override
    /// can stand inside one.
    public static func layers(of files: [ZoneFile]) -> [[ZoneFile]] {
        var layers: [[ZoneFile]] = []
        var authoritative: [ZoneFile] = []
        for file in files {
            switch file.source.kind {
            case .authoritative: authoritative.append(file)
            case .rpz: layers.append([file])
            case .override, .hosts:
                let last = layers.last?.first?.source.kind
                if last == .override || last == .hosts {
                    layers[layers.count - 1].append(file)
                } else {
                    layers.append([file])
                }
            }
        }
        authoritative.sort { $0.source.origin.labelCount > $1.source.origin.labelCount }
        return layers + authoritative.map { [$0] }
    }

    /// Compiles the files of one layer; `seed` keys its hash table and must not be guessable.
    ///
    /// `reader` gives the octets of a file by its path, or of an included one by a path beside it.
    public static func compile(
        _ files: [ZoneFile],
        seed: UInt64,
        reader: (_ path: String) throws(IncludeError) -> [UInt8]
    ) -> CompiledLayer {
        let kind = files.first?.source.kind ?? .override
        var builder = ZoneIndexBuilder(kind: kind, seed: seed)
        var findings: [ZoneFileError] = []
        var isUsable = true
        for file in files {
            let text: [UInt8]
            do throws(IncludeError) {
                text = try reader(file.path)
                builder.begin(file.source, size: text.count)
            } catch {
                builder.begin(file.source)
                builder.end(files: [file.path])
                findings.append(
                    ZoneFileError(
                        .unreadable(error.reason),
                        .error,
                        file: file.path,
                        line: 0,
                        token: file.path
                    )
                )
                isUsable = false
                continue
            }
            let report = file.scan(text.span, reader: reader, into: &builder)
            builder.end(files: report.files)
            findings += report.findings
            let mayHaveErrors = file.source.kind == .rpz || file.source.kind == .hosts
            if report.errorCount > 0 && !mayHaveErrors { isUsable = false }
        }
        let index = builder.build()
        findings += builder.findings
        if kind != .rpz, builder.findings.contains(where: { $0.severity == .error }) {
            isUsable = false
        }
        return CompiledLayer(index: index, findings: findings, isUsable: isUsable)
    }
}
