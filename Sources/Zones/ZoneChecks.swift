public import DNS

/// What a check of a zone as a whole found.
public enum ZoneCheck: Equatable, Sendable {
    /// An authoritative zone without an SOA record at its name.
    case noSOA
    /// SOA records that differ, or one that is not at the zone's name.
    case severalSOA
    /// An authoritative zone without an NS record at its name.
    case noNS
    /// A record whose owner is not in the zone; it is left out.
    case outOfZone
    /// Records of a type beside a CNAME (RFC 1034, 3.6.2).
    case besideCNAME(RecordType)
    /// Two CNAME records that differ.
    case severalCNAMEs
    /// Two DNAME records that differ (RFC 6672, 2.4).
    case severalDNAMEs
    /// A record below a DNAME, which hides it (RFC 6672, 2.4).
    case belowDNAME
    /// A DNAME at a zone cut (RFC 6672, 2.3).
    case dnameAtCut
    /// A DS record at the zone's own name, which is the parent's to have (RFC 4035, 2.4).
    case dsAtApex
    /// A DS record at a name that is not delegated.
    case dsWithoutDelegation
    /// Service parameters of an alias, which clients ignore (RFC 9460, 2.4.2).
    case aliasWithParameters(RecordType)
    /// An SVCB record of a name server without a protocol, which clients pass over (RFC 9461, 4.1).
    case noProtocol
    /// An SVCB record of a name server over HTTP without the path to ask at (RFC 9461, 5.1).
    case noDoHPath
    /// A CNAME chain that leads back to the name, all within the zones at hand.
    case aliasLoop
    /// A name that an earlier file owns: the entry, as file and line.
    case shadowed(by: String)
    /// The same record twice; it counts once.
    case duplicate(RecordType)
    /// An RRset that fits into no message.
    case rrsetTooLarge(RecordType)
    /// Records of one RRset with different TTLs (RFC 2181, 5.2); the lowest counts.
    case differentTTLs(RecordType)
    /// A name server in the zone without an address in it.
    case noAddress
    /// A trigger on name servers, of which a forwarder never learns; it is left out.
    case nameServerTrigger
    /// A name below `rpz-ip` or `rpz-client-ip` that is no address block; it is left out.
    case badTrigger
    /// An RRset that is cut over UDP, with the octets of a response that holds it.
    case overDatagram(RecordType, octets: Int)
    /// Records that mean something in a signed zone only, which an override is not.
    case needsSignedZone(RecordType)
    /// A wildcard whose own name, here, is not owned.
    case wildcardAlone(Name)
    /// Records at a wildcard that are asked for at underscore names, which it does not match.
    case serviceAtWildcard(RecordType)
    /// A name under `local`, which clients ask by multicast (RFC 6762).
    case multicastName
    /// A name under a top-level domain that browsers enter by HTTPS only.
    case preloadedDomain

    /// What was found about the name that is given, in one clause.
    func sentence(about name: String) -> String {
        switch self {
        case .noSOA: "the zone \(name) has no SOA record"
        case .severalSOA: "\(name) has another SOA record than the zone"
        case .noNS: "the zone \(name) has no NS record"
        case .outOfZone: "\(name) is not in the zone; the record is left out"
        case .besideCNAME(let type): "\(name) has a CNAME record, and beside it \(type)"
        case .severalCNAMEs: "\(name) has several CNAME records"
        case .severalDNAMEs: "\(name) has several DNAME records"
        case .belowDNAME: "\(name) is below a DNAME record, which hides it"
        case .dnameAtCut: "\(name) has a DNAME record and is delegated"
        case .dsAtApex: "\(name) is the zone's own name; its DS record belongs into the zone above"
        case .dsWithoutDelegation: "\(name) has a DS record and is not delegated"
        case .aliasWithParameters(let type):
            "the \(type) record of \(name) is an alias (priority 0): clients ignore its parameters"
        case .noProtocol:
            "the SVCB record of \(name) has no alpn: clients know no protocol to ask it by"
        case .noDoHPath: "the SVCB record of \(name) is for DNS over HTTP, and has no dohpath"
        case .aliasLoop: "the CNAME of \(name) leads back to itself"
        case .shadowed(let entry): "\(name) is owned by \(entry); this entry is never served"
        case .duplicate(let type): "\(name) has the same \(type) record twice"
        case .rrsetTooLarge(let type): "the \(type) records of \(name) fit into no message"
        case .differentTTLs(let type): "the \(type) records of \(name) have different TTLs"
        case .noAddress: "the name server \(name) has no address in the zone"
        case .nameServerTrigger:
            "\(name) is a trigger on name servers, which a forwarder never sees; it is left out"
        case .badTrigger:
            "\(name) is no address block; write it as 24.0.2.0.192.rpz-ip or 48.zz.2.db8.2001.rpz-ip"
        case .overDatagram(let type, let octets):
            "the \(type) records of \(name) take \(octets) octets; over UDP, 1232 are sent"
        case .needsSignedZone(let type):
            "\(name) has \(type) records, which only a signed zone can use: an override is not one"
        case .wildcardAlone(let above):
            "\(name) does not match \(above) itself, which is forwarded; give it an entry of its own"
        case .serviceAtWildcard(let type):
            "\(type) is asked for at names with an underscore, which \(name) does not match"
        case .multicastName: "clients ask for \(name) by multicast, not here (.local)"
        case .preloadedDomain: "browsers open \(name) by HTTPS only; it needs a certificate"
        }
    }
}
