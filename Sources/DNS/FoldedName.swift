/// A name in wire format with its ASCII letters in lower case: the key of every lookup.
///
/// Lives in the worker's scratch memory and is read into again for each query, so that nothing is
/// allocated. Invariants: `count` octets are a well-formed name; the 16 octets behind them are
/// zero, so that words may be loaded past the end; from `labels` on the storage holds where each
/// label begins.
@frozen
public struct FoldedName: ~Copyable {
    // On the heap, allocated once a worker: each span of an InlineArray and each call that borrows
    // one takes a copy of it, as the compiler is now, and a query takes dozens of both.
    @usableFromInline
    var storage = OctetStore(zeroed: FoldedName.labels + 128)
    @usableFromInline
    static var labels: Int { 272 }

    /// How many octets the name takes, its root label included: 1 to 255.
    public internal(set) var count = 1
    /// How many labels it has, the root's not counted: 0 to 127.
    public internal(set) var labelCount = 0

    /// The root.
    public init() {}

    /// The octets, folded.
    @inlinable
    public var octets: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(0..<count) }
    }

    /// Where the label with an index begins; the index `labelCount` is the root label.
    @inlinable
    public func start(ofLabel index: Int) -> Int { Int(storage.span[FoldedName.labels &+ index]) }

    /// The octets from label `index` on: the name without its first `index` labels.
    @inlinable
    @_lifetime(borrow self)
    public func suffix(fromLabel index: Int) -> Span<UInt8> {
        storage.span.extracting(start(ofLabel: index)..<count)
    }

    /// Appends the octets from label `index` on.
    public func appendSuffix(fromLabel index: Int, to octets: inout [UInt8]) {
        octets.append(suffix(fromLabel: index))
    }

    /// The first octet of a label's text.
    @inlinable
    public func firstOctet(ofLabel index: Int) -> UInt8 { storage.span[start(ofLabel: index) &+ 1] }

    /// A keyed hash of the name without its first `index` labels. Complexity: O(octets / 8).
    @inlinable
    public func hash(fromLabel index: Int, seed: UInt64) -> UInt64 {
        var position = start(ofLabel: index)
        var hash = seed ^ UInt64(truncatingIfNeeded: count &- position)
        let octets = storage.span
        while position < count {
            hash = FoldedName.mix(hash ^ octets.word(at: position), 0x9E37_79B9_7F4A_7C15)
            position &+= 8
        }
        return hash
    }

    /// Whether the name without its first `index` labels is what `padded` holds at `offset`.
    ///
    /// `padded` must be zero from the name's end to the next multiple of eight octets from `offset`.
    @inlinable
    public func matches(_ padded: Span<UInt8>, at offset: Int, fromLabel index: Int) -> Bool {
        var position = start(ofLabel: index)
        var other = offset
        let octets = storage.span
        while position < count {
            if octets.word(at: position) != padded.word(at: other) { return false }
            position &+= 8
            other &+= 8
        }
        return true
    }

    /// Writes the name to a store; traps where it does not fit.
    public func write(to store: inout OctetStore, at offset: Int) {
        store.copy(octets, at: offset)
    }

    /// Reads the uncompressed name at `offset` of a message and gives where it ends.
    public mutating func read(
        from message: Span<UInt8>,
        at offset: Int
    ) throws(WireError) -> Int {
        var position = offset
        var labels = 0
        var octets = storage.mutableSpan
        while true {
            guard position < message.count else { throw WireError(.truncated, at: position) }
            let length = Int(message[position])
            octets[FoldedName.labels &+ labels] = UInt8(truncatingIfNeeded: position &- offset)
            if length == 0 { break }
            guard length <= 63 else {
                throw WireError(length >= 0xC0 ? .badPointer : .reservedLabelType, at: position)
            }
            position &+= length &+ 1
            labels &+= 1
            guard position &- offset < 255 else { throw WireError(.nameTooLong, at: position) }
        }
        labelCount = labels
        count = position &- offset &+ 1
        fold(message, at: offset)
        return position &+ 1
    }

    /// Reads the uncompressed name at `offset` of an array; false where there is none.
    public mutating func read(from octets: [UInt8], at offset: Int) -> Bool {
        (try? read(from: octets.span, at: offset)) != nil
    }

    /// Reads the name at `offset` of a message, following compression pointers, and gives where it
    /// ends there. Each pointer must point before the octets already read (RFC 1035, 4.1.4).
    public mutating func readCompressed(
        from message: Span<UInt8>,
        at offset: Int
    ) throws(WireError) -> Int {
        var position = offset
        var limit = offset
        var end = -1
        var length = 0
        var labels = 0
        while true {
            guard position < message.count else { throw WireError(.truncated, at: position) }
            let octet = Int(message[position])
            if octet >= 0xC0 {
                guard position &+ 1 < message.count else {
                    throw WireError(.truncated, at: position)
                }
                if end < 0 { end = position &+ 2 }
                let target = (octet & 0x3F) << 8 | Int(message[position &+ 1])
                guard target < limit, target >= Header.size else {
                    throw WireError(.badPointer, at: position)
                }
                position = target
                limit = target
                continue
            }
            guard octet <= 63 else { throw WireError(.reservedLabelType, at: position) }
            guard length &+ octet &+ 1 <= 255, labels < 128 else {
                throw WireError(.nameTooLong, at: position)
            }
            guard position &+ octet < message.count else {
                throw WireError(.truncated, at: position)
            }
            var octets = storage.mutableSpan
            octets[FoldedName.labels &+ labels] = UInt8(truncatingIfNeeded: length)
            var index = 0
            // A whole word at a time: what is behind the label is overwritten by the next.
            while index <= octet {
                let word = message.paddedWord(at: position &+ index)
                octets.store(word: FoldedName.folded(word), at: length &+ index)
                index &+= 8
            }
            length &+= octet &+ 1
            position &+= octet &+ 1
            if octet == 0 { break }
            guard length < 255 else { throw WireError(.nameTooLong, at: position) }
            labels &+= 1
        }
        var octets = storage.mutableSpan
        for index in length..<(length &+ 16) { octets[index] = 0 }
        labelCount = labels
        count = length
        return end < 0 ? position : end
    }

    /// Whether the first label is a single asterisk (RFC 4592, 2.1.1).
    public var isWildcard: Bool { storage.span[0] == 1 && storage.span[1] == UInt8(ascii: "*") }

    /// Whether the label with an index is a single asterisk.
    @inlinable
    public func isWildcard(atLabel index: Int) -> Bool {
        let start = start(ofLabel: index)
        return storage.span[start] == 1 && storage.span[start &+ 1] == UInt8(ascii: "*")
    }

    /// Takes the last `labels` labels before the root away; at most all of them.
    public mutating func dropLast(labels: Int) {
        let kept = max(0, labelCount &- max(0, labels))
        let end = start(ofLabel: kept)
        let padded = count &+ 8
        var octets = storage.mutableSpan
        for index in end..<padded { octets[index] = 0 }
        labelCount = kept
        count = end &+ 1
    }

    /// Becomes `other`. Complexity: O(octets / 8), which is less than to copy all the room.
    public mutating func assign(_ other: borrowing FoldedName) {
        let octets = other.storage.span
        var copy = storage.mutableSpan
        var index = 0
        // Eight octets more: the zeros behind the name.
        while index < other.count &+ 8 {
            copy.store(word: octets.word(at: index), at: index)
            index &+= 8
        }
        for label in FoldedName.labels...(FoldedName.labels &+ other.labelCount) {
            copy[label] = octets[label]
        }
        count = other.count
        labelCount = other.labelCount
    }

    /// Copies `count` octets from `message`, folded eight at a time, and pads them with zeros.
    private mutating func fold(_ message: Span<UInt8>, at offset: Int) {
        let count = count
        var octets = storage.mutableSpan
        var index = 0
        while index &+ 8 <= count {
            octets.store(word: FoldedName.folded(message.word(at: offset &+ index)), at: index)
            index &+= 8
        }
        let mask = (1 as UInt64 &<< UInt64(truncatingIfNeeded: (count &- index) &* 8)) &- 1
        let rest = message.paddedWord(at: offset &+ index) & mask
        octets.store(word: FoldedName.folded(rest), at: index)
        octets.store(word: 0, at: index &+ 8)
    }

    /// Eight octets with each ASCII capital in lower case. Length octets are below `A`, so that a
    /// whole name can be folded without looking at its labels.
    @inlinable
    @inline(__always)
    static func folded(_ word: UInt64) -> UInt64 {
        word | word.octets(from: UInt8(ascii: "A"), through: UInt8(ascii: "Z")) &>> 2
    }

    @inlinable
    @inline(__always)
    static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
