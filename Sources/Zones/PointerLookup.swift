// PTR records made from private addresses (SEMANTICS 5): a table from addresses to nodes, so that
// a million overrides need no million names below in-addr.arpa.

import DNS

extension ZoneIndex {
    /// The node of the first name that has the address which a reverse name stands for.
    func addressNode(for name: borrowing FoldedName) -> Node? {
        guard let address = IPAddress(reverseName: name) else { return nil }
        var position = ZoneIndex.pointerSlot(address, seed: seed, of: pointers.count)
        while pointers[position] != 0 {
            let node = Node(offset: Int(pointers[position] &- 1) &* 8)
            if has(address, at: node) { return node }
            position &+= 1
            if position == pointers.count { position = 0 }
        }
        return nil
    }

    /// The slot of an address in a table of `count`: its keyed hash, scaled.
    static func pointerSlot(_ address: IPAddress, seed: UInt64, of count: Int) -> Int {
        let product = (address.high ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        let mixed = (product.high ^ product.low ^ address.low)
            .multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        let hash = mixed.high ^ mixed.low
        return Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(count)).high)
    }

    private func has(_ address: IPAddress, at node: Node) -> Bool {
        guard let rrset = rrset(address.isIPv4 ? .a : .aaaa, at: node) else { return false }
        let octets = store.span.extracting(rrset.start..<rrset.end)
        let size = address.isIPv4 ? 16 : 28
        var offset = 12
        while offset < octets.count {
            if address.isIPv4
                ? octets.uint32(at: offset) == UInt32(truncatingIfNeeded: address.low)
                : UInt64(bigEndian: octets.word(at: offset)) == address.high
                    && UInt64(bigEndian: octets.word(at: offset + 8)) == address.low
            {
                return true
            }
            offset += size
        }
        return false
    }
}
