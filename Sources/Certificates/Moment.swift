/// A point in time in whole seconds since 1970-01-01T00:00:00Z, the resolution of certificates.
public struct Moment: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since 1970, negative before.
    public let seconds: Int64

    /// The moment that many seconds after 1970.
    public init(seconds: Int64) { self.seconds = seconds }

    /// Orders earlier before later.
    public static func < (a: Moment, b: Moment) -> Bool { a.seconds < b.seconds }

    /// The seconds from this moment to `other`, negative where that is earlier.
    public func seconds(until other: Moment) -> Int64 { other.seconds - seconds }

    /// The moment `seconds` later; a sum that does not fit stops at the end of time.
    public func advanced(bySeconds seconds: Int64) -> Moment {
        let (sum, overflow) = self.seconds.addingReportingOverflow(seconds)
        return Moment(seconds: overflow ? (seconds < 0 ? .min : .max) : sum)
    }

    /// RFC 3339 in UTC: `2026-11-30T06:40:00Z`.
    public var description: String {
        // Days to a civil date, counting years from March so that the leap day comes last.
        let days = seconds.flooredQuotient(86_400)
        let clock = seconds - days * 86_400
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T"
            + padded(clock / 3_600, 2) + ":" + padded(clock / 60 % 60, 2) + ":"
            + padded(clock % 60, 2) + "Z"
    }

    /// The moment of a civil date and time in UTC, or nil where a field is out of its range.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let lengths = [31, year.isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (0...9_999).contains(year), (1...12).contains(month),
            (1...lengths[month - 1]).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        seconds = Int64(days * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    /// The moment that RFC 3339 text spells; a fraction of a second is cut off. Nil for other text.
    public init?(_ text: String) {
        let octets = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= octets.count else { return nil }
            return decimal(octets[range])
        }
        guard octets.count >= 10, octets[4] == 0x2D, octets[7] == 0x2D, let year = number(0..<4),
            let month = number(5..<7), let day = number(8..<10)
        else { return nil }
        if octets.count == 10 {
            self.init(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
            return
        }
        guard octets.count >= 20, [0x54, 0x74, 0x20].contains(octets[10]), octets[13] == 0x3A,
            octets[16] == 0x3A, let hour = number(11..<13), let minute = number(14..<16),
            let second = number(17..<19),
            let local = Moment(
                year: year,
                month: month,
                day: day,
                hour: hour,
                minute: minute,
                second: second
            )
        else { return nil }
        var rest = octets[19...]
        if rest.first == 0x2E {
            rest = rest.dropFirst().drop { (0x30...0x39).contains($0) }
        }
        if rest.count == 1, let zone = rest.first, zone == 0x5A || zone == 0x7A {
            self = local
            return
        }
        let start = rest.startIndex
        guard rest.count == 6, rest[start] == 0x2B || rest[start] == 0x2D,
            rest[start + 3] == 0x3A, let hours = decimal(rest[start + 1..<start + 3]),
            let minutes = decimal(rest[start + 4..<start + 6])
        else { return nil }
        let offset = Int64(hours * 3_600 + minutes * 60)
        self = Moment(seconds: local.seconds + (rest[start] == 0x2B ? -offset : offset))
    }

    init(_ element: DERElement) throws(DERError) {
        // RFC 5280, 4.1.2.5: seconds are there, the zone is Z, and nothing else is allowed.
        let octets = Array(element.content)
        let digits = element.tag == DERTag.utcTime ? 12 : 14
        guard element.tag == DERTag.utcTime || element.tag == DERTag.generalizedTime,
            octets.count == digits + 1, octets.last == 0x5A
        else { throw .value }
        let fields = try stride(from: digits - 10, to: digits, by: 2).map {
            index throws(DERError) -> Int in
            guard let value = decimal(octets[index..<index + 2]) else { throw .value }
            return value
        }
        guard var year = decimal(octets[..<(digits - 10)]) else { throw .value }
        if digits == 12 { year += year < 50 ? 2_000 : 1_900 }
        guard
            let moment = Moment(
                year: year,
                month: fields[0],
                day: fields[1],
                hour: fields[2],
                minute: fields[3],
                second: fields[4]
            )
        else { throw .value }
        self = moment
    }
}

/// The number that ASCII digits spell; nil for anything else, or for nothing.
func decimal(_ octets: ArraySlice<UInt8>) -> Int? {
    guard !octets.isEmpty, octets.count <= 9 else { return nil }
    var value = 0
    for octet in octets {
        guard (0x30...0x39).contains(octet) else { return nil }
        value = value * 10 + Int(octet - 0x30)
    }
    return value
}

private func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(abs(value))
    return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count))
        + digits
}

extension Int {
    fileprivate var isLeapYear: Bool { self % 4 == 0 && (self % 100 != 0 || self % 400 == 0) }
}

extension SignedInteger {
    fileprivate func flooredQuotient(_ divisor: Self) -> Self {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
