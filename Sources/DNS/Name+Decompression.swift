extension Name {
    /// Copies the name at `position` of `message`, uncompressed, to `end` of `out`.
    ///
    /// Returns the offset behind the name in `message` and moves `end` behind the copy; on a throw
    /// what is at `end` is undefined. The labels in front of a pointer must lie below `limit`. Each
    /// pointer must point in front of the labels that it ends (RFC 1035, 4.1.4: a *prior*
    /// occurrence), so that the walk ends. Throws `truncated`, `reservedLabelType`, `nameTooLong`,
    /// `badPointer` or `noSpace`. Allocates nothing. Complexity: O(octets).
    @_lifetime(out: copy out)
    public static func decompress(
        in message: Span<UInt8>,
        at position: Int,
        limit: Int,
        into out: inout MutableSpan<UInt8>,
        end: inout Int
    ) throws(WireError) -> Int {
        let start = end
        var position = position
        var limit = min(limit, message.count)
        // The first octet of the labels since the last pointer.
        var run = position
        var behind: Int?
        while true {
            guard position >= 0 && position < limit else {
                throw WireError(.truncated, at: position)
            }
            let length = Int(message[position])
            if length < 64 {
                let next = position &+ length &+ 1
                guard next <= limit else { throw WireError(.truncated, at: position) }
                guard end &- start &+ length < 255 else {
                    throw WireError(.nameTooLong, at: position)
                }
                guard end >= 0 && length &+ 1 <= out.count &- end else {
                    throw WireError(.noSpace, at: position)
                }
                out.copy(message.extracting(position..<next), at: end)
                end = end &+ length &+ 1
                if length == 0 { return behind ?? next }
                position = next
            } else {
                guard length >= 0xC0 else { throw WireError(.reservedLabelType, at: position) }
                guard position &+ 2 <= limit else { throw WireError(.truncated, at: position) }
                let target = Int(message.uint16(at: position) & 0x3FFF)
                guard target < run else { throw WireError(.badPointer, at: position) }
                behind = behind ?? position &+ 2
                limit = run
                position = target
                run = target
            }
        }
    }
}

/// The names in uncompressed data, in their order: what a writer compresses and a check follows.
public struct RDataNames: BitwiseCopyable {
    /// Where a name is.
    public struct Place: BitwiseCopyable, Equatable, Sendable {
        /// The offset of its first octet in the data.
        public let offset: Int
        /// How many octets it takes, the root's label included.
        public let length: Int
        /// Whether a message may compress it: in RFC 1035's types only (RFC 3597, 4).
        public let isCompressible: Bool
    }

    private var format: RDataFormat
    private var position = 0

    /// The names in data of `type`.
    public init(_ type: RecordType) { format = RDataFormat(type) }

    /// The next name in `rdata`, the same at each call; nil when there is none.
    ///
    /// Ends early where the data do not have the type's format. Does not enter the fields whose
    /// names stand there under a condition (IPSECKEY, AMTRELAY, HIP, A6).
    public mutating func next(in rdata: Span<UInt8>) -> Place? {
        while true {
            let field = format.next()
            guard field != .end,
                let size = try? RData.size(of: field, in: rdata, at: position, limit: rdata.count)
            else { return nil }
            let offset = position
            position += size
            if field == .name || field == .plainName {
                return Place(offset: offset, length: size, isCompressible: field == .name)
            }
        }
    }
}
