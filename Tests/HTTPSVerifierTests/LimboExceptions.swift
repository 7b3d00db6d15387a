/// Cases of x509-limbo where Detour's verdict is another than the suite's, each with its reason.
/// LimboTests fails on an entry that is not needed any more. Cases that the data here lacks are
/// not stale: they belong to the whole suite.
let limboExceptions: [String: String] = [
    "rfc5280::nc::permitted-dns-match-noncritical":
        "Conflicts with webpki::nc::permitted-dns-match-noncritical. The constraint is applied, "
        + "which is stricter than to ignore it; that its criticality is missing harms nobody.",
    "rfc5280::ca-as-leaf":
        "Conflicts with webpki::ca-as-leaf. The leaf's key usage allows no TLS handshake.",
    "pathlen::validation-ignores-pathlen-in-leaf":
        "Its leaf is an authority whose key usage allows no TLS handshake; the path length, which "
        + "is the case's subject, is not what refuses it.",
    "webpki::eku::ee-without-eku":
        "Conflicts with rfc5280::eku::ee-without-eku, and with all leaves of the BetterTLS suite. "
        + "Clients accept it; Apple's line in the report says that they do not.",
]
