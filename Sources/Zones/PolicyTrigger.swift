// What an owner name in a response policy zone stands for (the RPZ draft's section 4): a name that is
// asked for, or an address in the form of a name.

import DNS

/// What makes an entry of a response policy zone apply, beside the name that is asked for.
enum PolicyTrigger: Equatable {
    /// The client's address.
    case client(IPPrefix)
    /// An address in a forwarded answer.
    case response(IPPrefix)
    /// A name server's name or address: a forwarder never learns of it.
    case nameServer
    /// A name below `rpz-client-ip` or `rpz-ip` that is no address block.
    case malformed

    /// The trigger that an owner name, without the zone's own labels, stands for; nil for a name.
    init?(_ name: borrowing FoldedName) {
        let last = name.labelCount - 1
        guard last >= 1 else { return nil }
        if name.hasLabel("rpz-client-ip", at: last) {
            self = PolicyTrigger.block(name).map { .client($0) } ?? .malformed
        } else if name.hasLabel("rpz-ip", at: last) {
            self = PolicyTrigger.block(name).map { .response($0) } ?? .malformed
        } else if name.hasLabel("rpz-nsdname", at: last) || name.hasLabel("rpz-nsip", at: last) {
            self = .nameServer
        } else {
            return nil
        }
    }

    /// `24.0.2.0.192` is 192.0.2.0/24; `48.zz.2.db8.2001` is hard to misread: 2001:db8:2::/48.
    private static func block(_ name: borrowing FoldedName) -> IPPrefix? {
        var words: [String] = []
        for label in 0..<(name.labelCount - 1) {
            let start = name.start(ofLabel: label)
            let octets = name.octets.extracting((start + 1)..<name.start(ofLabel: label + 1))
            var word = ""
            for index in octets.indices {
                word.unicodeScalars.append(Unicode.Scalar(octets[index]))
            }
            words.append(word)
        }
        guard let length = words.first.flatMap({ UInt8($0) }), words[0].first != "+" else {
            return nil
        }
        words.removeFirst()
        words.reverse()
        if words.count == 4, !words.contains("zz") {
            guard let address = IPAddress(scanning: words.joined(separator: ".")), length <= 32
            else { return nil }
            return IPPrefix(address, length: length + 96)
        }
        guard length <= 128, words.count(where: { $0 == "zz" }) <= 1 else { return nil }
        // `zz` stands for the `::` of the address as text.
        var text = words.map { $0 == "zz" ? "" : $0 }.joined(separator: ":")
        if words.first == "zz" { text = ":" + text }
        if words.last == "zz" { text += ":" }
        guard words.count > 1 || words == ["zz"], words.allSatisfy({ $0.utf8.count <= 4 }),
            let address = IPAddress(scanning: words == ["zz"] ? "::" : text)
        else { return nil }
        return IPPrefix(address, length: length)
    }
}
