// Names that never go upstream (SEMANTICS 5): RFC 6303, 6761, 6762, 7686, 9462, and the names by which
// devices learn that they may route around the local resolver.

import DNS

/// What a special name is answered with, where no override owns it.
enum SpecialName {
    /// Not special: forward.
    case none
    /// The name does not exist.
    case nxDomain
    /// The name exists and has nothing of the type.
    case noData
    /// `localhost`: the loopback addresses.
    case loopback

    init(_ name: borrowing FoldedName, type: RecordType, policy: Policy) {
        let last = name.labelCount - 1
        guard last >= 0 else {
            self = .none
            return
        }
        switch name.octets[name.start(ofLabel: last)] {
        case 3 where name.hasLabel("net", at: last):
            self =
                policy.settings.blocksBypass && name.labelCount == 2
                    && name.hasLabel("use-application-dns", at: 0) ? .nxDomain : .none
        case 3 where name.hasLabel("com", at: last):
            self =
                policy.settings.blocksBypass && name.labelCount == 3
                    && name.hasLabel("icloud", at: 1)
                    && (name.hasLabel("mask", at: 0) || name.hasLabel("mask-h2", at: 0))
                ? .nxDomain : .none
        case 4 where name.hasLabel("arpa", at: last):
            self = SpecialName.arpa(name)
            // Whether a private reverse zone is signed is for the public zone above it to say.
            if type == .ds, self == .nxDomain, SpecialName.isTopOfReverseZone(name) { self = .none }
        case 4 where name.hasLabel("test", at: last):
            self = policy.settings.forwardsTestNames ? .none : .nxDomain
        case 5 where name.hasLabel("local", at: last) || name.hasLabel("onion", at: last):
            self = .nxDomain
        case 7 where name.hasLabel("invalid", at: last):
            self = .nxDomain
        case 9 where name.hasLabel("localhost", at: last):
            self = .loopback
        default:
            self = .none
        }
    }

    private static func arpa(_ name: borrowing FoldedName) -> SpecialName {
        guard name.labelCount >= 2 else { return .none }
        let second = name.labelCount - 2
        // A forwarded designation would move the device to the upstream's encrypted service.
        if name.hasLabel("resolver", at: second) { return .noData }
        if let address = IPAddress(reverseName: name) {
            return address.isPrivate ? .nxDomain : .none
        }
        return isPrivateReverseZone(name) ? .nxDomain : .none
    }

    /// Whether a reverse name of fewer labels than an address has lies in a zone of RFC 6303.
    private static func isPrivateReverseZone(_ name: borrowing FoldedName) -> Bool {
        let second = name.labelCount - 2
        guard second >= 1 else { return false }
        if name.hasLabel("in-addr", at: second) {
            let first = second - 1
            if name.hasLabel("10", at: first) || name.hasLabel("127", at: first) { return true }
            guard first >= 1 else { return false }
            if name.hasLabel("168", at: first - 1) { return name.hasLabel("192", at: first) }
            if name.hasLabel("254", at: first - 1) { return name.hasLabel("169", at: first) }
            if name.hasLabel("172", at: first) { return isIn16To31(name, label: first - 1) }
            return false
        }
        if name.hasLabel("ip6", at: second) {
            let first = second - 1
            return name.hasLabel("f", at: first) && first >= 1
                && (name.hasLabel("c", at: first - 1) || name.hasLabel("d", at: first - 1))
        }
        return false
    }

    /// Whether a name in a zone of RFC 6303 is that zone's own.
    private static func isTopOfReverseZone(_ name: borrowing FoldedName) -> Bool {
        let first = name.labelCount - 3
        if name.hasLabel("10", at: first) || name.hasLabel("127", at: first) { return first == 0 }
        return first == 1
    }

    private static func isIn16To31(_ name: borrowing FoldedName, label: Int) -> Bool {
        let octets = name.octets
        let start = name.start(ofLabel: label)
        guard octets[start] == 2 else { return false }
        let value = Int(octets[start + 1] &- 0x30) * 10 + Int(octets[start + 2] &- 0x30)
        return (16...31).contains(value)
    }
}
