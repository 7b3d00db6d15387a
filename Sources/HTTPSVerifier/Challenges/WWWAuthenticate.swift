/// The challenges of a 401 response (RFC 9110, 11.6.1): `Digest realm="a", nonce="b", Basic …`.
enum WWWAuthenticate {
    /// A scheme and its parameters.
    struct Offer: Equatable {
        let scheme: String
        let parameters: [String: String]

        var method: AuthenticationMethod {
            switch scheme.lowercased() {
            case "basic": .basic
            case "digest": .digest
            case "ntlm": .ntlm
            case "negotiate": .negotiate
            default: .unknown
            }
        }

        var realm: String? { parameters["realm"] }
    }

    /// The offers of all field values, strongest first, otherwise in their order.
    static func offers(_ values: [String]) -> [Offer] {
        let offers = values.flatMap { parse(Array($0.utf8)) }
        return offers.enumerated().sorted {
            ($1.element.method.strength, $0.offset) < ($0.element.method.strength, $1.offset)
        }.map(\.element)
    }

    private static func parse(_ text: [UInt8]) -> [Offer] {
        var offers: [Offer] = []
        var scheme: String?
        var parameters: [String: String] = [:]
        var position = 0
        func close() {
            if let scheme { offers.append(Offer(scheme: scheme, parameters: parameters)) }
            parameters = [:]
        }
        func skip(_ octets: [UInt8]) {
            while position < text.count, octets.contains(text[position]) { position += 1 }
        }
        func token() -> String {
            let start = position
            while position < text.count, !separators.contains(text[position]) { position += 1 }
            return String(decoding: text[start..<position], as: UTF8.self)
        }
        while true {
            skip([0x20, 0x09, 0x2C])
            guard position < text.count else { break }
            let name = token()
            guard !name.isEmpty else {
                position += 1
                continue
            }
            skip([0x20, 0x09])
            if position < text.count, text[position] == 0x3D, scheme != nil {
                position += 1
                skip([0x20, 0x09])
                parameters[name.lowercased()] = quoted(text, &position) ?? token()
            } else {
                close()
                scheme = name
                // token68, as Negotiate and NTLM have it, is of no interest.
                if position < text.count, text[position] == 0x3D { _ = token() }
            }
        }
        close()
        return offers
    }

    private static let separators = Array(" \t,=\"".utf8)

    private static func quoted(_ text: [UInt8], _ position: inout Int) -> String? {
        guard position < text.count, text[position] == 0x22 else { return nil }
        var value: [UInt8] = []
        position += 1
        while position < text.count, text[position] != 0x22 {
            if text[position] == 0x5C, position + 1 < text.count { position += 1 }
            value.append(text[position])
            position += 1
        }
        position += 1
        return String(decoding: value, as: UTF8.self)
    }
}
