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
        // Nearly all others are told from these by their last label's length and first letter.
        switch (name.octets[name.start(ofLabel: last)], name.firstOctet(ofLabel: last)) {
        case (3, UInt8(ascii: "n")) where name.hasLabel("net", at: last):
            self =
                policy.settings.blocksBypass && name.labelCount == 2
                    && name.hasLabel("use-application-dns", at: 0) ? .nxDomain : .none
        case (3, UInt8(ascii: "c")) where name.hasLabel("com", at: last):
            self =
                policy.settings.blocksBypass && name.labelCount == 3
                    && name.hasLabel("icloud", at: 1)
                    && (name.hasLabel("mask", at: 0) || name.hasLabel("mask-h2", at: 0))
                ? .nxDomain : .none
        case (4, UInt8(ascii: "a")) where name.hasLabel("arpa", at: last):
            self = SpecialName.arpa(name, type)
        case (4, UInt8(ascii: "t")) where name.hasLabel("test", at: last):
            self = policy.settings.forwardsTestNames ? .none : .nxDomain
        case (5, UInt8(ascii: "l")) where name.hasLabel("local", at: last):
            self = .nxDomain
        case (5, UInt8(ascii: "o")) where name.hasLabel("onion", at: last):
            self = .nxDomain
        case (7, UInt8(ascii: "i")) where name.hasLabel("invalid", at: last):
            self = .nxDomain
        case (9, UInt8(ascii: "l")) where name.hasLabel("localhost", at: last):
            self = .loopback
        default:
            self = .none
        }
    }

    private static func arpa(_ name: borrowing FoldedName, _ type: RecordType) -> SpecialName {
        guard name.labelCount >= 2 else { return .none }
        // A forwarded designation would move the device to the upstream's encrypted service.
        if name.hasLabel("resolver", at: name.labelCount - 2) { return .noData }
        guard let zone = LocalReverseZone(name) else { return .none }
        // Whether a private reverse zone is signed is for the public zone above it to say.
        return zone.isTop && type == .ds ? .none : .nxDomain
    }
}
