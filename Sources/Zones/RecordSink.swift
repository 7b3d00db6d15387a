public import DNS

/// Where a scanner puts the records that it reads, in the order of the text.
public protocol RecordSink: ~Copyable {
    /// Takes one record. The spans are valid during the call only.
    ///
    /// `owner` is in wire format with the case of the text, `rdata` in wire format without
    /// compression. `explicitTTL` is false where the text gives no TTL and `ttl` is the setting's.
    /// `line` is where the record starts, from 1; `file` counts the report's files, from 0.
    mutating func add(
        owner: Span<UInt8>,
        type: RecordType,
        class: RecordClass,
        ttl: UInt32,
        explicitTTL: Bool,
        rdata: Span<UInt8>,
        line: UInt32,
        file: UInt16
    )
}

/// How zone text is read.
public struct ScanSettings: Sendable {
    /// What names without a dot at the end are relative to, before an `$ORIGIN`.
    public var origin: Name
    /// The TTL of records for which the text gives none, in seconds.
    public var defaultTTL: UInt32
    /// The class that all records must have.
    public var recordClass: RecordClass = .in
    /// What the zone is for.
    public var kind: ZoneKind
    /// How many findings a report keeps; what is more is only counted.
    public var maximumFindings = 100
    /// How deep files may include each other.
    public var maximumIncludeDepth = 16
    /// How many records the `$GENERATE` lines of a zone may make.
    public var maximumGenerated = 1 << 20

    /// Settings for a zone of a kind; the TTL is the override default of five seconds unless told.
    public init(kind: ZoneKind, origin: Name = .root, defaultTTL: UInt32 = 5) {
        self.kind = kind
        self.origin = origin
        self.defaultTTL = defaultTTL
    }
}
