/// Walks the labels of a name in a message, following compression pointers, which must each point
/// strictly before what has been read (RFC 1035, 4.1.4): so every walk ends.
@frozen
public struct LabelCursor: BitwiseCopyable {
    /// Where the current label's length octet stands; after the last label, the root's.
    public private(set) var position: Int
    /// Where the name ends in place, known once a pointer or the root has been met.
    public private(set) var end: Int
    private var limit: Int
    private var length: Int

    /// A cursor before the name at `offset`.
    public init(at offset: Int) {
        position = offset
        end = -1
        limit = offset
        length = 0
    }

    /// Moves onto a label (through pointers) and gives the label's length; 0 is the root.
    ///
    /// `advance(past:)` then leaves it.
    public mutating func label(in message: Span<UInt8>) throws(WireError) -> Int {
        while true {
            guard position < message.count else { throw WireError(.truncated, at: position) }
            let octet = Int(message[position])
            if octet <= 63 {
                guard position &+ octet < message.count else {
                    throw WireError(.truncated, at: position)
                }
                guard length &+ octet &+ 1 <= 255 else {
                    throw WireError(.nameTooLong, at: position)
                }
                if octet == 0 && end < 0 { end = position &+ 1 }
                return octet
            }
            guard octet >= 0xC0 else { throw WireError(.reservedLabelType, at: position) }
            guard position &+ 1 < message.count else { throw WireError(.truncated, at: position) }
            if end < 0 { end = position &+ 2 }
            let target = (octet & 0x3F) << 8 | Int(message[position &+ 1])
            guard target < limit, target >= Header.size else {
                throw WireError(.badPointer, at: position)
            }
            position = target
            limit = target
        }
    }

    /// Leaves a label of the given length.
    public mutating func advance(past label: Int) {
        position &+= label &+ 1
        length &+= label &+ 1
    }

    /// Whether the rest of this name and the rest of another are the same (RFC 4343).
    func rest(in message: Span<UInt8>, isSameAs other: LabelCursor, in otherMessage: Span<UInt8>)
        throws(WireError) -> Bool
    {
        var a = self
        var b = other
        while true {
            let length = try a.label(in: message)
            guard try b.label(in: otherMessage) == length else { return false }
            if length == 0 { return true }
            let label = message.extracting(a.position...(a.position &+ length))
            let otherLabel = otherMessage.extracting(b.position...(b.position &+ length))
            if !label.hasSameOctets(as: otherLabel) {
                for index in 1...length
                where asciiLowercased(label[index]) != asciiLowercased(otherLabel[index]) {
                    return false
                }
            }
            a.advance(past: length)
            b.advance(past: length)
        }
    }
}
