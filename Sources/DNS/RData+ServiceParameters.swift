// SvcParams of SVCB and HTTPS records (RFC 9460; ech of RFC 9848, dohpath of RFC 9461, ohttp of
// RFC 9540, tls-supported-groups). On the wire the keys ascend and each stands there once.

/// The key of a service parameter, an open set.
enum ServiceKey {
    static let mandatory: UInt16 = 0
    static let alpn: UInt16 = 1
    static let noDefaultALPN: UInt16 = 2
    static let port: UInt16 = 3
    static let ipv4Hint: UInt16 = 4
    static let ech: UInt16 = 5
    static let ipv6Hint: UInt16 = 6
    static let dohPath: UInt16 = 7
    static let ohttp: UInt16 = 8
    static let tlsSupportedGroups: UInt16 = 9

    /// The key that `text` names: a registered name, or `key` and a number below 65535.
    static func scan(_ text: Span<UInt8>) -> UInt16? {
        Mnemonics.serviceKeys.number(of: text) ?? scanGeneric(text)
    }

    /// The key of the form `key123`, whose value is written as its octets (RFC 9460, 2.1).
    static func scanGeneric(_ text: Span<UInt8>) -> UInt16? {
        guard
            text.count > 3 && text[0] | 0x20 == UInt8(ascii: "k")
                && text[1] | 0x20 == UInt8(ascii: "e") && text[2] | 0x20 == UInt8(ascii: "y"),
            text[3] != UInt8(ascii: "0") || text.count == 4,
            let number = text.extracting(droppingFirst: 3).decimal(upTo: 65534)
        else { return nil }
        return UInt16(number)
    }

    /// The name of a key.
    static func name(of key: UInt16) -> String {
        Mnemonics.serviceKeys.name(of: key) ?? "key\(key)"
    }
}

extension RData {
    /// Service parameters in any order to the end of the entry.
    @_lifetime(text: copy text)
    @_lifetime(out: copy out)
    static func scanServiceParameters(
        from text: inout TextScanner,
        into out: inout OctetWriter
    ) throws(PresentationError) {
        _ = try text.hasMore()
        let start = text.position
        var parameters: [(key: UInt16, value: [UInt8], token: Token)] = []
        while let token = try text.next() {
            let parameter = try scanParameter(token, from: &text)
            guard !parameters.contains(where: { $0.key == parameter.key }) else {
                throw PresentationError(.duplicateServiceKey, token)
            }
            parameters.append((parameter.key, parameter.value, token))
        }
        parameters.sort { $0.key < $1.key }
        for parameter in parameters {
            guard isValidParameter(parameter.value.span, of: parameter.key) else {
                throw PresentationError(.badServiceValue, parameter.token)
            }
            if parameter.key == ServiceKey.mandatory {
                for index in stride(from: 0, to: parameter.value.count, by: 2) {
                    let key = parameter.value.span.uint16(at: index)
                    guard parameters.contains(where: { $0.key == key }) else {
                        throw PresentationError(.mandatoryKeyMissing, parameter.token)
                    }
                }
            }
            out.append(parameter.key)
            out.append(UInt16(truncatingIfNeeded: parameter.value.count))
            out.append(parameter.value.span)
        }
        let keys = parameters.map(\.key)
        guard !keys.contains(ServiceKey.noDefaultALPN) || keys.contains(ServiceKey.alpn) else {
            throw PresentationError(.noDefaultWithoutALPN, at: start)
        }
    }

    /// One `key`, `key=value` or `key="value"`.
    @_lifetime(text: copy text)
    private static func scanParameter(
        _ token: Token,
        from text: inout TextScanner
    ) throws(PresentationError) -> (key: UInt16, value: [UInt8]) {
        let octets = text.octets(of: token)
        var equals = 0
        while equals < octets.count && octets[equals] != UInt8(ascii: "=") { equals += 1 }
        guard !token.isQuoted, let key = ServiceKey.scan(octets.extracting(first: equals)) else {
            throw PresentationError(.unknownServiceKey, token)
        }
        var value: [UInt8] = []
        var hasValue = equals + 1 < octets.count
        if equals + 1 == octets.count, text.position == token.end, !text.isAtEnd,
            text.text[text.position] == UInt8(ascii: "\""), let quoted = try text.next()
        {
            hasValue = true
            value = try unescaped(text.octets(of: quoted), at: quoted.start)
        } else if hasValue {
            value = try unescaped(
                octets.extracting(droppingFirst: equals + 1),
                at: token.start + equals + 1
            )
        }
        guard value.count <= 0xFFFF else { throw PresentationError(.dataTooLong, token) }
        if ServiceKey.scanGeneric(octets.extracting(first: equals)) != nil { return (key, value) }
        return (key, try encode(value, hasValue: hasValue, of: key, token))
    }

    private static func unescaped(
        _ octets: Span<UInt8>,
        at offset: Int
    ) throws(PresentationError) -> [UInt8] {
        var value: [UInt8] = []
        var position = 0
        while position < octets.count {
            let start = position
            guard let octet = unescape(octets, &position) else {
                throw PresentationError(.badEscape, at: offset + start, length: 1)
            }
            value.append(octet)
        }
        return value
    }

    /// The wire format of a value, whose escapes as a character-string are resolved.
    private static func encode(
        _ value: [UInt8],
        hasValue: Bool,
        of key: UInt16,
        _ token: Token
    ) throws(PresentationError) -> [UInt8] {
        let malformed = PresentationError(.badServiceValue, token)
        switch key {
        case ServiceKey.noDefaultALPN, ServiceKey.ohttp:
            guard !hasValue else { throw PresentationError(.surplusServiceValue, token) }
            return []
        default:
            guard !value.isEmpty else { throw PresentationError(.missingServiceValue, token) }
        }
        var wire: [UInt8] = []
        switch key {
        case ServiceKey.alpn:
            guard let protocols = valueList(value) else { throw malformed }
            for name in protocols {
                guard name.count >= 1 && name.count <= 255 else { throw malformed }
                wire.append(UInt8(name.count))
                wire += name
            }
        case ServiceKey.port:
            guard let port = value.span.decimal(upTo: 65535) else { throw malformed }
            wire = [UInt8(port >> 8), UInt8(port & 0xFF)]
        case ServiceKey.dohPath:
            wire = value
        case ServiceKey.ech:
            guard let octets = decodeBase64(value) else { throw malformed }
            wire = octets
        default:
            // Lists of items that hold no comma: nothing is escaped in them.
            for item in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            {
                guard let octets = encodeItem(Array(item), of: key) else { throw malformed }
                wire += octets
            }
            if key == ServiceKey.mandatory {
                let keys = stride(from: 0, to: wire.count, by: 2).map { wire.span.uint16(at: $0) }
                wire = keys.sorted().flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            }
        }
        return wire
    }

    private static func encodeItem(_ item: [UInt8], of key: UInt16) -> [UInt8]? {
        func bigEndian(_ value: UInt64, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (size - 1 - $0))) }
        }
        switch key {
        case ServiceKey.mandatory:
            return ServiceKey.scan(item.span).map { bigEndian(UInt64($0), 2) }
        case ServiceKey.ipv4Hint:
            return IPAddress.ipv4(scanning: item.span).map { bigEndian(UInt64($0), 4) }
        case ServiceKey.ipv6Hint:
            return IPAddress.ipv6(scanning: item.span).map {
                bigEndian($0.high, 8) + bigEndian($0.low, 8)
            }
        default:
            return item.span.decimal(upTo: 65535).map { bigEndian($0, 2) }
        }
    }

    /// Items between commas; `\,` and `\\` are a comma and a backslash in an item (RFC 9460, A.1).
    private static func valueList(_ value: [UInt8]) -> [[UInt8]]? {
        var items: [[UInt8]] = [[]]
        var isEscaped = false
        for octet in value {
            if isEscaped {
                guard octet == UInt8(ascii: ",") || octet == UInt8(ascii: "\\") else { return nil }
                items[items.count - 1].append(octet)
                isEscaped = false
            } else if octet == UInt8(ascii: "\\") {
                isEscaped = true
            } else if octet == UInt8(ascii: ",") {
                items.append([])
            } else {
                items[items.count - 1].append(octet)
            }
        }
        return isEscaped ? nil : items
    }

    private static func decodeBase64(_ text: [UInt8]) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: text.count)
        var count = 0
        do {
            var writer = OctetWriter(octets.mutableSpan)
            var decoder = Base64Decoder()
            guard decoder.decode(text.span, into: &writer), decoder.isComplete else { return nil }
            count = writer.count
        }
        octets.removeLast(octets.count - count)
        return octets
    }
}

// The octets of a value, from text or from the wire.
extension RData {
    /// Whether a record's parameters ascend, fit, and have values that their keys allow.
    static func areValidParameters(_ octets: Span<UInt8>) -> Bool {
        var last = -1
        var position = 0
        while position < octets.count {
            guard octets.count - position >= 4 else { return false }
            let key = octets.uint16(at: position)
            let length = Int(octets.uint16(at: position + 2))
            position += 4
            guard Int(key) > last, length <= octets.count - position,
                isValidParameter(octets.extracting(position..<(position + length)), of: key)
            else { return false }
            last = Int(key)
            position += length
        }
        return true
    }

    /// Whether a key allows a value; any value where the key is not known.
    static func isValidParameter(_ value: Span<UInt8>, of key: UInt16) -> Bool {
        switch key {
        case ServiceKey.mandatory:
            return value.count > 0 && value.count.isMultiple(of: 2) && ascends(value)
                && value.uint16(at: 0) != ServiceKey.mandatory
        case ServiceKey.alpn:
            var position = 0
            while position < value.count {
                guard value[position] > 0 else { return false }
                position += 1 + Int(value[position])
            }
            return position == value.count && position > 0
        case ServiceKey.noDefaultALPN, ServiceKey.ohttp: return value.isEmpty
        case ServiceKey.port: return value.count == 2
        case ServiceKey.ipv4Hint: return value.count > 0 && value.count.isMultiple(of: 4)
        case ServiceKey.ech: return value.count > 0
        case ServiceKey.ipv6Hint: return value.count > 0 && value.count.isMultiple(of: 16)
        case ServiceKey.dohPath: return isPathTemplate(value)
        case ServiceKey.tlsSupportedGroups:
            return value.count > 0 && value.count.isMultiple(of: 2) && isDistinct(value)
        case 65535: return false
        default: return true
        }
    }

    private static func ascends(_ words: Span<UInt8>) -> Bool {
        for index in stride(from: 2, to: words.count, by: 2)
        where words.uint16(at: index) <= words.uint16(at: index - 2) {
            return false
        }
        return true
    }

    private static func isDistinct(_ words: Span<UInt8>) -> Bool {
        var seen: Set<UInt16> = []
        for index in stride(from: 0, to: words.count, by: 2)
        where !seen.insert(words.uint16(at: index)).inserted {
            return false
        }
        return true
    }

    /// Whether it is a relative URI Template in UTF-8 with a variable `dns` (RFC 9461, 5).
    private static func isPathTemplate(_ value: Span<UInt8>) -> Bool {
        var octets: [UInt8] = []
        for index in 0..<value.count { octets.append(value[index]) }
        guard octets.first == UInt8(ascii: "/"), String(validating: octets, as: UTF8.self) != nil
        else { return false }
        var rest = octets[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            guard let close = rest[open...].firstIndex(of: UInt8(ascii: "}")) else { return false }
            var variables = rest[(open + 1)..<close]
            if let first = variables.first, "+#./;?&".utf8.contains(first) {
                variables = variables.dropFirst()
            }
            if variables.split(separator: UInt8(ascii: ",")).contains(where: {
                $0.elementsEqual("dns".utf8)
            }) {
                return true
            }
            rest = rest[(close + 1)...]
        }
        return false
    }
}
