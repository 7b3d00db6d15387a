/// Writes a message front to back into memory that somebody else owns, compressing names.
///
/// A write that would pass `limit` throws `noSpace` and may leave a part behind: the caller takes a
/// `mark` before each record and goes back to it. The first name written belongs at offset 12.
public struct MessageWriter: ~Copyable, ~Escapable {
    private var buffer: MutableSpan<UInt8>
    /// How many octets have been written.
    public private(set) var count: Int
    /// How many octets the message may take; at most the memory's size.
    public private(set) var limit: Int
    /// Where names were written that later names may point to; ascending.
    private var targets = InlineArray<64, UInt16>(repeating: 0)
    private var targetCount = 0

    /// A writer behind the first `count` octets of `buffer`, for at most `limit` in all.
    @_lifetime(&buffer)
    public init(_ buffer: inout MutableSpan<UInt8>, count: Int, limit: Int) {
        self.limit = min(limit, buffer.count)
        self.count = count
        self.buffer = buffer._mutatingExtracting(0..<buffer.count)
    }

    /// All that has been written.
    public var message: Span<UInt8> {
        @_lifetime(borrow self)
        get { buffer.span.extracting(0..<count) }
    }

    /// Lets the message take another number of octets, never more than the memory has.
    @_lifetime(self: copy self)
    public mutating func setLimit(_ octets: Int) { limit = min(octets, buffer.count) }

    /// Forgets all that stands at or behind `mark`, a former `count`.
    @_lifetime(self: copy self)
    public mutating func rewind(to mark: Int) {
        count = min(count, mark)
        while targetCount > 0 && Int(targets[targetCount &- 1]) >= mark { targetCount &-= 1 }
    }

    /// Appends octets as they are.
    @_lifetime(self: copy self)
    public mutating func append(_ octets: Span<UInt8>) throws(WireError) {
        guard octets.count <= limit &- count else { throw WireError(.noSpace, at: count) }
        buffer.copy(octets, at: count)
        count &+= octets.count
    }

    /// Appends octets that stand in the message already.
    @_lifetime(self: copy self)
    public mutating func append(again range: Range<Int>) throws(WireError) {
        for index in range {
            precondition(index < count, "only what was written is repeated")
            try append(buffer[index])
        }
    }

    /// Appends one octet.
    @_lifetime(self: copy self)
    public mutating func append(_ octet: UInt8) throws(WireError) {
        guard count < limit else { throw WireError(.noSpace, at: count) }
        buffer[count] = octet
        count &+= 1
    }

    /// Appends a 16-bit integer, big-endian.
    @_lifetime(self: copy self)
    public mutating func append(_ value: UInt16) throws(WireError) {
        guard limit &- count >= 2 else { throw WireError(.noSpace, at: count) }
        buffer.store(value, at: count)
        count &+= 2
    }

    /// Appends a 32-bit integer, big-endian.
    @_lifetime(self: copy self)
    public mutating func append(_ value: UInt32) throws(WireError) {
        guard limit &- count >= 4 else { throw WireError(.noSpace, at: count) }
        buffer.store(value, at: count)
        count &+= 4
    }

    /// Appends an OPT record without options (RFC 6891, 6.1.2); the lower bits of `code` are the
    /// header's.
    @_lifetime(self: copy self)
    public mutating func appendOPT(udpSize: UInt16, code: ResponseCode, wantsDNSSEC: Bool)
        throws(WireError)
    {
        guard limit &- count >= EDNS.emptySize else { throw WireError(.noSpace, at: count) }
        buffer[count] = 0
        buffer.store(RecordType.opt.rawValue, at: count &+ 1)
        buffer.store(udpSize, at: count &+ 3)
        let upper = UInt32(code.rawValue &>> 4) &<< 24
        buffer.store(upper | (wantsDNSSEC ? 0x8000 : 0), at: count &+ 5)
        buffer.store(0 as UInt16, at: count &+ 9)
        count &+= EDNS.emptySize
    }

    /// Appends an EDNS option whose payload is a 16-bit integer and some octets.
    @_lifetime(self: copy self)
    public mutating func appendOption(_ code: OptionCode, _ value: UInt16, _ octets: Span<UInt8>)
        throws(WireError)
    {
        guard limit &- count >= 6 &+ octets.count else { throw WireError(.noSpace, at: count) }
        buffer.store(code.rawValue, at: count)
        buffer.store(UInt16(truncatingIfNeeded: 2 &+ octets.count), at: count &+ 2)
        buffer.store(value, at: count &+ 4)
        buffer.copy(octets, at: count &+ 6)
        count &+= 6 &+ octets.count
    }

    /// Overwrites a 16-bit integer that has been written.
    @_lifetime(self: copy self)
    public mutating func overwrite(_ value: UInt16, at offset: Int) {
        precondition(offset &+ 2 <= count, "only what was written is overwritten")
        buffer.store(value, at: offset)
    }

    /// Overwrites a 32-bit integer that has been written.
    @_lifetime(self: copy self)
    public mutating func overwrite(_ value: UInt32, at offset: Int) {
        precondition(offset &+ 4 <= count, "only what was written is overwritten")
        buffer.store(value, at: offset)
    }

    /// Writes the header over the first twelve octets.
    @_lifetime(self: copy self)
    public mutating func overwrite(_ header: Header) { header.write(to: &buffer) }

    /// Lets later names point to the name at `offset` and to each of its parents.
    ///
    /// The name must have been written there.
    @_lifetime(self: copy self)
    public mutating func registerName(at offset: Int) {
        var position = offset
        while position < count, buffer[position] != 0, buffer[position] <= 63 {
            register(position)
            position &+= Int(buffer[position]) &+ 1
        }
    }

    /// Appends the name at `offset` of `source`, which may be compressed there.
    ///
    /// Where `compressing`, the longest suffix that stands in this message already becomes a
    /// pointer. Gives where the name ends in `source`. Complexity: O(labels x names written).
    @discardableResult
    @_lifetime(self: copy self)
    public mutating func appendName(
        from source: Span<UInt8>,
        at offset: Int,
        compressing: Bool = true
    ) throws(WireError) -> Int {
        var cursor = LabelCursor(at: offset)
        let first = count
        while true {
            let length = try cursor.label(in: source)
            if length == 0 { break }
            if compressing, let target = try target(like: cursor, in: source, before: first) {
                try append(0xC000 | target)
                return try end(of: cursor, in: source)
            }
            if count < 0x4000 { register(count) }
            try append(source.extracting(cursor.position...(cursor.position &+ length)))
            cursor.advance(past: length)
        }
        try append(UInt8(0))
        return cursor.end
    }

    private func end(of cursor: LabelCursor, in source: Span<UInt8>) throws(WireError) -> Int {
        var rest = cursor
        while rest.end < 0 {
            let length = try rest.label(in: source)
            if length == 0 { break }
            rest.advance(past: length)
        }
        return rest.end
    }

    private func target(like name: LabelCursor, in source: Span<UInt8>, before first: Int)
        throws(WireError) -> UInt16?
    {
        let message = buffer.span.extracting(0..<count)
        var index = 0
        while index < targetCount && Int(targets[index]) < first {
            let candidate = LabelCursor(at: Int(targets[index]))
            if try name.rest(in: source, isSameAs: candidate, in: message) {
                return targets[index]
            }
            index &+= 1
        }
        return nil
    }

    private mutating func register(_ position: Int) {
        guard targetCount < targets.count, position < 0x4000 else { return }
        targets[targetCount] = UInt16(truncatingIfNeeded: position)
        targetCount &+= 1
    }

    /// Counts TTLs down: those of the `records` records from `start` on lose `seconds`, and none is
    /// left above `cap`.
    @_lifetime(self: copy self)
    public mutating func ageRecords(
        _ records: Int,
        from start: Int,
        by seconds: UInt32,
        cap: UInt32
    )
        throws(WireError)
    {
        var position = start
        for _ in 0..<records {
            let fixed = try ResourceRecord.skipName(in: message, at: position)
            guard fixed &+ 10 <= count else { throw WireError(.truncated, at: fixed) }
            let ttl = buffer.span.uint32(at: fixed &+ 4)
            buffer.store(min(ttl > seconds ? ttl &- seconds : 0, cap), at: fixed &+ 4)
            position = fixed &+ 10 &+ Int(buffer.span.uint16(at: fixed &+ 8))
        }
    }

    /// Appends a record of another message, its names rewritten for this one.
    ///
    /// Names in RDATA are compressed where RFC 3597 allows it, else spelled out. Throws `badRData`
    /// where the RDATA's names do not agree with its length. Where the owner is known to stand in
    /// this message already, `ownerAt` says where: it is not looked for then.
    @_lifetime(self: copy self)
    public mutating func appendRecord(
        _ record: ResourceRecord,
        of source: Span<UInt8>,
        ttl: UInt32,
        ownerAt: Int? = nil
    ) throws(WireError) {
        if let ownerAt {
            try append(0xC000 | UInt16(truncatingIfNeeded: ownerAt))
        } else {
            try appendName(from: source, at: record.owner)
        }
        try append(record.type.rawValue)
        try append(record.class.rawValue)
        try append(ttl)
        try appendRData(of: record, in: source)
    }

    /// Appends a record whose RDATA is one name, spelled out so that answers may build on it, and
    /// gives where that name stands.
    @_lifetime(self: copy self)
    public mutating func appendAlias(
        _ record: ResourceRecord,
        of source: Span<UInt8>,
        ttl: UInt32
    ) throws(WireError) -> Int {
        try appendName(from: source, at: record.owner)
        try append(record.type.rawValue)
        try append(record.class.rawValue)
        try append(ttl)
        try append(UInt16(0))
        let target = count
        try appendName(from: source, at: record.rdata, compressing: false)
        overwrite(UInt16(truncatingIfNeeded: count &- target), at: target &- 2)
        return target
    }

    /// Appends RDLENGTH and RDATA of a record of another message, its names rewritten.
    @_lifetime(self: copy self)
    public mutating func appendRData(
        of record: ResourceRecord,
        in source: Span<UInt8>
    ) throws(WireError) {
        let lengthOffset = count
        try append(UInt16(0))
        var position = record.rdata
        // Octets that were walked over and not yet copied start here.
        var pending = position
        var format = RDataFormat(record.type)
        var field = format.next()
        while field != .end {
            if field == .name || field == .plainName {
                guard position < record.end else { throw WireError(.badRData, at: position) }
                try append(source.extracting(pending..<position))
                position = try appendName(
                    from: source,
                    at: position,
                    compressing: field == .name
                )
                guard position <= record.end else { throw WireError(.badRData, at: position) }
                pending = position
            } else {
                position &+= try RData.size(
                    of: field,
                    in: source,
                    at: position,
                    limit: record.end
                )
            }
            field = format.next()
        }
        guard position == record.end else { throw WireError(.badRData, at: position) }
        try append(source.extracting(pending..<position))
        overwrite(UInt16(truncatingIfNeeded: count &- lengthOffset &- 2), at: lengthOffset)
    }
}
