public import DNS

/// What a zone's records mean (SEMANTICS 1): which names they own, and what stands around them.
@frozen
public enum ZoneKind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// A sparse zone in master-file format: it owns the names that it holds and nothing else.
    case override
    /// An RFC 1034 zone: it owns its apex and all that lies below.
    case authoritative
    /// A response policy zone: its owner names are triggers below the zone's origin.
    case rpz
    /// A hosts file: addresses with names, sparse like an override zone.
    case hosts
}

/// One file of records and the settings that its records are served under.
public struct ZoneSource: Sendable {
    /// What its records mean.
    public var kind: ZoneKind
    /// What answers call it: the file's name without its folders.
    public var label: String
    /// Relative names are relative to it; an authoritative zone's apex, an RPZ's own name.
    public var origin: Name
    /// The TTL of records that say none, in seconds.
    public var ttl: UInt32
    /// The TTL of negative answers of a sparse zone, in seconds.
    public var negativeTTL: UInt32
    /// Types that are forwarded at the names of this zone, rather than NODATA.
    public var passthrough: [RecordType]
    /// Whether PTR records are made from private addresses (SEMANTICS 5).
    public var makesPointers: Bool

    /// A source of records, with the defaults of a short-lived override.
    public init(
        kind: ZoneKind,
        label: String,
        origin: Name = .root,
        ttl: UInt32 = 5,
        negativeTTL: UInt32 = 5,
        passthrough: [RecordType] = [],
        makesPointers: Bool = true
    ) {
        self.kind = kind
        self.label = label
        self.origin = origin
        self.ttl = ttl
        self.negativeTTL = negativeTTL
        self.passthrough = passthrough
        self.makesPointers = makesPointers
    }
}

/// What a policy entry does instead of answering with records (the CNAME targets of RPZ).
@frozen
public enum ZoneAction: UInt8, Sendable, BitwiseCopyable {
    /// Answer with the records that are there.
    case answer
    /// `CNAME .`: the name does not exist.
    case nxDomain
    /// `CNAME *.`: the name exists and has no records.
    case noData
    /// `CNAME rpz-passthru.`: forward, whatever broader entries say.
    case pass
    /// `CNAME rpz-drop.`: do not answer at all.
    case drop
    /// `CNAME rpz-tcp-only.`: truncate over UDP, forward over TCP.
    case tcpOnly

    /// The action that a CNAME's target stands for; `answer` for an ordinary target.
    init(cnameTarget target: Span<UInt8>) {
        switch target.count {
        case 1: self = .nxDomain
        case 3 where target[0] == 1 && target[1] == UInt8(ascii: "*"): self = .noData
        case 10 where target.spells("rpz-drop"): self = .drop
        case 14 where target.spells("rpz-passthru"): self = .pass
        case 14 where target.spells("rpz-tcp-only"): self = .tcpOnly
        default: self = .answer
        }
    }
}

extension Span where Element == UInt8 {
    /// Whether this is the wire format of the one-label name `label`, in any case.
    fileprivate func spells(_ label: String) -> Bool {
        guard count == label.utf8.count + 2, Int(self[0]) == label.utf8.count else { return false }
        var index = 1
        for octet in label.utf8 {
            if asciiLowercased(self[index]) != octet { return false }
            index += 1
        }
        return self[index] == 0
    }
}
