/// The RDATA of an SVCB or HTTPS record, looked into (RFC 9460, 2.2).
public struct ServiceBinding: ~Escapable {
    /// Whether it is an alias of its target (priority 0).
    public let isAlias: Bool
    private let parameters: Span<UInt8>

    /// A view of well-formed RDATA; nil where it is not.
    @_lifetime(copy rdata)
    public init?(_ rdata: Span<UInt8>) {
        guard rdata.count >= 3 else { return nil }
        isAlias = rdata.uint16(at: 0) == 0
        guard let end = try? ResourceRecord.skipName(in: rdata, at: 2),
            RData.areValidParameters(rdata.extracting(end..<rdata.count))
        else { return nil }
        parameters = rdata.extracting(end..<rdata.count)
    }

    /// Whether it has parameters that clients ignore, as it is an alias.
    public var hasIdleParameters: Bool { isAlias && parameters.count > 0 }

    /// The protocols' identifiers (alpn).
    public var protocols: [[UInt8]] {
        guard let range = value(of: ServiceKey.alpn) else { return [] }
        var protocols: [[UInt8]] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let end = position + 1 + Int(parameters[position])
            var name: [UInt8] = []
            name.append(parameters.extracting((position + 1)..<end))
            protocols.append(name)
            position = end
        }
        return protocols
    }

    /// Whether it says at which path DNS is asked over HTTP.
    public var hasDoHPath: Bool { value(of: ServiceKey.dohPath) != nil }

    /// Whether a protocol is HTTP of any version.
    public static func isHTTP(_ identifier: [UInt8]) -> Bool {
        ["h2", "h3", "h2c", "http/1.0", "http/1.1"].contains { identifier.elementsEqual($0.utf8) }
    }

    private func value(of key: UInt16) -> Range<Int>? {
        var position = 0
        while position < parameters.count {
            let start = position + 4
            let end = start + Int(parameters.uint16(at: position + 2))
            if parameters.uint16(at: position) == key { return start..<end }
            position = end
        }
        return nil
    }
}
