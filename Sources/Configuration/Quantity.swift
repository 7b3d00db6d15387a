// Sizes and durations: numbers with a unit behind them.

extension Setting {
    /// A duration in whole seconds: a number, or text as `45m` or `1h30m`.
    func seconds(_ decoding: inout Decoding, upTo limit: UInt32 = 0x7FFF_FFFF) -> UInt32? {
        var value: UInt64?
        switch node.value {
        case .number(let number, _): value = UInt64(exactly: number)
        case .string(let text):
            value = Quantity.scan(text, units: Quantity.durations)
        default: break
        }
        if let value, value <= UInt64(limit) { return UInt32(value) }
        decoding.reject(
            self,
            allowing:
                "seconds as a number, or a duration such as \"30s\", \"45m\", \"12h\" or \"1d\""
                + (limit < 0x7FFF_FFFF ? ", \(limit) seconds at most" : "")
        )
        return nil
    }

    /// A size in octets: a number, or text as `64MiB`.
    func octets(_ decoding: inout Decoding, atLeast least: UInt64 = 0) -> Int? {
        var value: UInt64?
        switch node.value {
        case .number(let number, _): value = UInt64(exactly: number)
        case .string(let text): value = Quantity.scan(text, units: Quantity.sizes)
        default: break
        }
        if let value, value >= least, value <= 1 << 46 { return Int(value) }
        decoding.reject(
            self,
            allowing: "octets as a number, or a size such as \"512KiB\", \"64MiB\" or \"2GiB\""
                + (least > 0 ? ", \(least) octets at least" : "")
        )
        return nil
    }
}

/// Sizes and durations as people write them.
public enum Quantity {
    static let durations: [String: UInt64] = [
        "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800,
    ]

    /// The whole seconds that text says: `90`, `45m`, `1h30m`; nil where it says none.
    public static func seconds(_ text: String) -> UInt32? {
        (UInt64(text) ?? scan(text, units: durations)).flatMap { UInt32(exactly: $0) }
    }

    static let sizes: [String: UInt64] = [
        "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
        "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000,
    ]

    /// The sum of numbers with units: each number has one, which may be left out nowhere.
    static func scan(_ text: String, units: [String: UInt64]) -> UInt64? {
        var rest = Substring(text.filter { $0 != " " })
        guard !rest.isEmpty else { return nil }
        var sum: UInt64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { !("0"..."9").contains($0) }
            rest = rest.dropFirst(unit.count)
            guard let number = UInt64(digits), let factor = units[String(unit)] else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: factor)
            let (total, overflowed) = sum.addingReportingOverflow(product)
            guard !overflows, !overflowed else { return nil }
            sum = total
        }
        return sum
    }
}
