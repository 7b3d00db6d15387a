import DNS

// What SVCB records of name servers must have, so that clients can use them (RFC 9461).

extension RecordCollection {
    /// Judges the SVCB records of `_dns` or `_853._dns`: a client passes over those that name no
    /// protocol, and one over HTTP is of no use without a path.
    func checkResolverService(
        _ group: ArraySlice<Int>,
        _ found: inout [Finding]
    ) {
        guard let first = group.first, isResolverService(ownerOctets(of: entries[first])) else {
            return
        }
        for index in group where entries[index].type == .svcb {
            guard let service = ServiceBinding(rdata(of: entries[index])), !service.isAlias else {
                continue
            }
            let protocols = service.protocols
            if protocols.isEmpty {
                found.append(Finding(.noProtocol, .warning, index))
            } else if protocols.contains(where: ServiceBinding.isHTTP), !service.hasDoHPath {
                found.append(Finding(.noDoHPath, .error, index))
            }
        }
    }

    private func isResolverService(_ owner: Span<UInt8>) -> Bool {
        var start = 0
        // The port's label, where there is one.
        if owner[0] > 1, owner[1] == UInt8(ascii: "_"), owner[2] &- UInt8(ascii: "0") < 10 {
            start = Int(owner[0]) + 1
        }
        let length = Int(owner[start])
        return owner.extracting((start + 1)..<(start + 1 + length)).isDirective("_dns")
    }
}
