import DNS

extension ZoneIndexBuilder {
    /// The index's memory while it is being filled.
    struct Layout: ~Copyable {
        private var store: OctetStore
        /// Where the next octet of the arena goes.
        private(set) var position: Int
        private let slots: Int
        var wildcardDepths = DepthSet()
        var cutDepths = DepthSet()
        var nameCount = 0
        /// Private addresses and the nodes that have them, in the order of the files.
        var addresses: [(address: IPAddress, node: UInt32)] = []

        init(slots: Int, arena: Int) {
            self.slots = slots
            store = OctetStore(count: slots * 8 + arena)
            position = slots * 8
            var octets = store.mutableSpan
            for slot in 0..<slots { octets.store(word: 0, at: slot * 8) }
        }

        consuming func finish() -> OctetStore { store }

        mutating func append(_ value: UInt8) {
            let end = position
            var octets = store.mutableSpan
            octets[end] = value
            position = end + 1
        }

        mutating func append(uint16 value: UInt16) {
            set(uint16: value, at: position)
            position += 2
        }

        mutating func append(uint32 value: UInt32) {
            let end = position
            var octets = store.mutableSpan
            octets.store(value, at: end)
            position = end + 4
        }

        mutating func append(_ source: Span<UInt8>) {
            let end = position
            var octets = store.mutableSpan
            octets.copy(source, at: end)
            position = end + source.count
        }

        mutating func set(uint16 value: UInt16, at offset: Int) {
            var octets = store.mutableSpan
            octets.store(value, at: offset)
        }

        mutating func set(_ value: UInt8, at offset: Int) {
            var octets = store.mutableSpan
            octets[offset] = value
        }

        mutating func rewind(to offset: Int) { position = offset }

        mutating func align() {
            while position % 8 != 0 { append(0) }
        }

        /// Enters a node into the table.
        mutating func enter(_ node: Int, hash: UInt64) {
            let mask = slots - 1
            var octets = store.mutableSpan
            var slot = Int(truncatingIfNeeded: hash) & mask
            while octets.span.word(at: slot * 8) != 0 { slot = (slot + 1) & mask }
            octets.store(word: hash & ~0xFFFF_FFFF | UInt64(node / 8 + 1), at: slot * 8)
        }
    }
}
