public import DNS

/// A sink that keeps records as they come, in two allocations: for checks and listings.
///
/// About 32 octets a record and what its owner and data take.
public struct RecordCollection: RecordSink, Sendable {
    /// One record's place and numbers.
    struct Entry: BitwiseCopyable {
        /// The offset of the owner in `octets`; the data follow it.
        let offset: Int
        let ttl: UInt32
        let line: UInt32
        let dataLength: UInt16
        let type: RecordType
        let file: UInt16
        let ownerLength: UInt8
    }

    private(set) var octets: [UInt8] = []
    private(set) var entries: [Entry] = []

    /// A collection without records.
    public init() {}

    /// How many records there are.
    public var count: Int { entries.count }

    /// Keeps a record.
    public mutating func add(
        owner: Span<UInt8>,
        type: RecordType,
        class: RecordClass,
        ttl: UInt32,
        explicitTTL: Bool,
        rdata: Span<UInt8>,
        line: UInt32,
        file: UInt16
    ) {
        precondition(owner.count <= 255 && rdata.count <= 65535, "a record's own limits")
        entries.append(
            Entry(
                offset: octets.count,
                ttl: ttl,
                line: line,
                dataLength: UInt16(truncatingIfNeeded: rdata.count),
                type: type,
                file: file,
                ownerLength: UInt8(truncatingIfNeeded: owner.count)
            )
        )
        for index in 0..<owner.count { octets.append(owner[index]) }
        for index in 0..<rdata.count { octets.append(rdata[index]) }
    }

    /// The record at an index, as it would stand in a master file.
    public func text(at index: Int) -> String {
        let entry = entries[index]
        let data = RData.text(rdata(of: entry), type: entry.type)
        return "\(owner(of: entry)) \(entry.ttl) IN \(entry.type) \(data)"
    }

    func owner(of entry: Entry) -> Name {
        (try? Name(parsing: ownerOctets(of: entry))) ?? .root
    }

    @_lifetime(borrow self)
    func ownerOctets(of entry: Entry) -> Span<UInt8> {
        octets.span.extracting(entry.offset..<(entry.offset + Int(entry.ownerLength)))
    }

    @_lifetime(borrow self)
    func rdata(of entry: Entry) -> Span<UInt8> {
        let start = entry.offset + Int(entry.ownerLength)
        return octets.span.extracting(start..<(start + Int(entry.dataLength)))
    }
}
