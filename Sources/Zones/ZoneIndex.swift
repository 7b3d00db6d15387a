// The compiled form of one layer of zones: a hash table over case-folded wire names, and an arena
// of nodes that hold each name's records as they go into an answer.
//
// A slot of the table: the hash's upper 32 bits, and the node's offset / 8 + 1 (0: empty).
// A node, at a multiple of 8:
//
//      0  name length    1  flags    2  RRsets (16)    4  line (32)    8  zone (16)    10  action    12  file (16)
//     16  the folded name, zeros up to a multiple of 8
//         then each RRset: type (16), records (16), octets (16), line - node's line (16), and the
//         records themselves: owner as a pointer to offset 12, TYPE, CLASS, TTL, RDLENGTH, RDATA
//
// A wildcard's node has the name behind its asterisk, and the wildcard flag.

public import DNS

/// An immutable layer of zones, compiled for lookup. Lookups allocate and lock nothing.
public struct ZoneIndex: ~Copyable, Sendable {
    /// The table's slots, then the arena.
    let store: OctetStore
    /// How many slots the table has: a power of two.
    let slotCount: Int
    /// PTR synthesis: a hash table of node offsets / 8 by the private addresses that they hold.
    let pointers: [UInt32]
    let seed: UInt64
    /// Triggers of a policy zone on the client's address: node offsets / 8 by address block.
    let clientTriggers: PrefixTable
    /// Triggers of a policy zone on addresses in forwarded answers, likewise.
    let responseTriggers: PrefixTable
    /// A policy zone's own SOA, as a record of a message with its owner spelled out; or nothing.
    let policySOA: [UInt8]

    /// The label depths (of the name behind the asterisk) at which there are wildcards.
    let wildcardDepths: DepthSet
    /// The label depths at which there are zone cuts or DNAMEs.
    let cutDepths: DepthSet

    /// The sources that were compiled in, in the order of their precedence.
    public let zones: [ZoneSource]
    /// The names of the files that nodes came from, without their folders.
    let labels: OctetStore
    let labelEnds: [UInt32]
    /// What kind of lookup the layer takes: `override` (hosts files too), `rpz` or `authoritative`.
    public let kind: ZoneKind
    /// How many labels the apex of an authoritative layer has.
    public let apexLabelCount: Int
    /// How many names own records or an action.
    public let nameCount: Int

    /// How many octets the index takes.
    public var memory: Int { store.count + pointers.count * 4 }

    /// A name in the index.
    @frozen
    public struct Node: BitwiseCopyable, Equatable, Sendable {
        let offset: Int
    }

    /// What a node is, beside holding records.
    struct NodeFlags: OptionSet {
        let rawValue: UInt8
        /// The node stands for everything below its name, not for the name.
        static let wildcard = NodeFlags(rawValue: 1)
        /// The node has records or an action; without it, it is an empty non-terminal.
        static let owned = NodeFlags(rawValue: 2)
        /// Owned names, or a wildcard, lie below.
        static let hasDescendants = NodeFlags(rawValue: 4)
        /// NS records below the apex of an authoritative zone.
        static let zoneCut = NodeFlags(rawValue: 8)
        /// A DNAME record.
        static let dname = NodeFlags(rawValue: 16)
        /// A CNAME record, to be followed.
        static let cname = NodeFlags(rawValue: 32)
        /// Stands for the clients of an address block, not for its name.
        static let clientTrigger = NodeFlags(rawValue: 64)
        /// Stands for answers with an address of a block, not for its name.
        static let responseTrigger = NodeFlags(rawValue: 128)
        static let triggers: NodeFlags = [.clientTrigger, .responseTrigger]
    }

    /// The records of one type at a node, as they go into an answer.
    @frozen
    public struct RRset: BitwiseCopyable, Sendable {
        /// Their type.
        public let type: RecordType
        /// How many they are.
        public let count: Int
        /// Where they stand in the arena.
        let start: Int
        let end: Int
        /// The line of the first.
        public let line: UInt32

        /// How many octets they take.
        public var size: Int { end - start }
    }

    static let nodeHeaderSize = 16
    static let rrsetHeaderSize = 8
    static let wildcardSalt: UInt64 = 0xA5A5_0F0F_3C3C_9696

    /// The node of `name` without its first `label` labels, or of the wildcard above that name.
    func node(
        of name: borrowing FoldedName,
        fromLabel label: Int,
        isWildcard: Bool = false
    ) -> Node? {
        let hash =
            name.hash(fromLabel: label, seed: seed) ^ (isWildcard ? ZoneIndex.wildcardSalt : 0)
        let octets = store.span
        let mask = slotCount &- 1
        let length = UInt8(truncatingIfNeeded: name.count &- name.start(ofLabel: label))
        var position = Int(truncatingIfNeeded: hash) & mask
        while true {
            let slot = octets.word(at: position &* 8)
            if slot == 0 { return nil }
            if slot &>> 32 == hash &>> 32 {
                let offset = Int(truncatingIfNeeded: slot & 0xFFFF_FFFF &- 1) &* 8
                if octets[offset] == length, octets[offset &+ 1] & 1 == (isWildcard ? 1 : 0),
                    name.matches(octets, at: offset &+ ZoneIndex.nodeHeaderSize, fromLabel: label)
                {
                    return Node(offset: offset)
                }
            }
            position = (position &+ 1) & mask
        }
    }

    /// The node of a name as it is written: an asterisk is a label like any other (RFC 4592, 2.1.1),
    /// but the node that it is the first label of is kept as the wildcard above the rest.
    func ownNode(of name: borrowing FoldedName, fromLabel label: Int) -> Node? {
        name.isWildcard(atLabel: label)
            ? node(of: name, fromLabel: label &+ 1, isWildcard: true)
            : node(of: name, fromLabel: label)
    }

    func flags(of node: Node) -> NodeFlags { NodeFlags(rawValue: store.span[node.offset + 1]) }

    /// What the node does instead of answering with its records.
    public func action(of node: Node) -> ZoneAction {
        ZoneAction(rawValue: store.span[node.offset + 10]) ?? .answer
    }

    /// The number, in `zones`, of the zone that owns the node.
    public func zone(of node: Node) -> Int { Int(store.span.uint16(at: node.offset + 8)) }

    /// The line of the node's first record, 0 where nothing in a file stands for it.
    public func line(of node: Node) -> UInt32 { store.span.uint32(at: node.offset + 4) }

    /// The name of the node's file, without its folders, as text.
    @_lifetime(borrow self)
    public func label(of node: Node) -> Span<UInt8> {
        let file = Int(store.span.uint16(at: node.offset + 12))
        guard file < labelEnds.count else { return labels.span.extracting(0..<0) }
        let start = file == 0 ? 0 : Int(labelEnds[file - 1])
        return labels.span.extracting(start..<Int(labelEnds[file]))
    }

    /// The node's name (without the asterisk of a wildcard), folded, uncompressed.
    @_lifetime(borrow self)
    public func name(of node: Node) -> Span<UInt8> {
        let start = node.offset + ZoneIndex.nodeHeaderSize
        return store.span.extracting(start..<(start + Int(store.span[node.offset])))
    }

    /// How many RRsets the node has.
    public func rrsetCount(of node: Node) -> Int { Int(store.span.uint16(at: node.offset + 2)) }

    /// The node's RRset of a type. Complexity: O(RRsets at the node).
    public func rrset(_ type: RecordType, at node: Node) -> RRset? {
        let octets = store.span
        var remaining = Int(octets.uint16(at: node.offset &+ 2))
        var offset = firstRRset(at: node)
        while remaining > 0 {
            if octets.uint16(at: offset) == type.rawValue {
                return parseRRset(at: offset, node: node)
            }
            offset &+= ZoneIndex.rrsetHeaderSize &+ Int(octets.uint16(at: offset &+ 4))
            remaining &-= 1
        }
        return nil
    }

    /// The node's RRset number `index`, in the order of their types' first appearance.
    public func rrset(number index: Int, at node: Node) -> RRset? {
        guard index < rrsetCount(of: node) else { return nil }
        var offset = firstRRset(at: node)
        for _ in 0..<index {
            offset += ZoneIndex.rrsetHeaderSize + Int(store.span.uint16(at: offset + 4))
        }
        return parseRRset(at: offset, node: node)
    }

    /// The records of an RRset: owners are pointers to offset 12, names in RDATA are spelled out.
    @_lifetime(borrow self)
    public func octets(of rrset: RRset) -> Span<UInt8> {
        store.span.extracting(rrset.start..<rrset.end)
    }

    /// Where the node's RRsets begin.
    private func firstRRset(at node: Node) -> Int {
        let padded = (Int(store.span[node.offset]) &+ 7) & ~7
        return node.offset &+ ZoneIndex.nodeHeaderSize &+ padded
    }

    private func parseRRset(at offset: Int, node: Node) -> RRset {
        let octets = store.span
        let start = offset &+ ZoneIndex.rrsetHeaderSize
        return RRset(
            type: RecordType(rawValue: octets.uint16(at: offset)),
            count: Int(octets.uint16(at: offset &+ 2)),
            start: start,
            end: start &+ Int(octets.uint16(at: offset &+ 4)),
            line: octets.uint32(at: node.offset &+ 4) &+ UInt32(octets.uint16(at: offset &+ 6))
        )
    }
}

/// A set of label depths, 0 to 127.
struct DepthSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    var isEmpty: Bool { low | high == 0 }

    mutating func insert(_ depth: Int) {
        if depth < 64 { low |= 1 &<< UInt64(depth) } else { high |= 1 &<< UInt64(depth &- 64) }
    }

    func contains(_ depth: Int) -> Bool {
        (depth < 64 ? low &>> UInt64(depth) : high &>> UInt64(depth &- 64)) & 1 != 0
    }
}
