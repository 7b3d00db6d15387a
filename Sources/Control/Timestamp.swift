import FoundationEssentials
import Platform

/// A point in time as people write it: RFC 3339 in UTC, to the millisecond.
public struct Timestamp: Comparable, Hashable, Sendable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public var milliseconds: Int64

    /// The time so many milliseconds after 1970-01-01 00:00 UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Now.
    public static var now: Timestamp { Timestamp(milliseconds: Clock.millisecondsSince1970) }

    /// Whether `a` is before `b`.
    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// The time so many seconds later.
    public func advanced(bySeconds seconds: UInt32) -> Timestamp {
        Timestamp(milliseconds: milliseconds + Int64(seconds) * 1000)
    }
}

extension Timestamp: CustomStringConvertible {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// `2026-11-30T08:15:00.000Z`.
    public var description: String {
        // Half a millisecond more, so that a fraction that is not exact is not cut to the one below.
        Date(timeIntervalSince1970: (Double(milliseconds) + 0.25) / 1000).formatted(Self.style)
    }

    /// The time that text says; nil where it says none.
    public init?(scanning text: String) {
        guard
            let date = (try? Date(text, strategy: Self.style))
                ?? (try? Date(text, strategy: .iso8601))
        else { return nil }
        milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
    }
}

extension Timestamp: Codable {
    /// Reads RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = Timestamp(scanning: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a time such as 2026-11-30T08:15:00Z"
            )
        }
        self = time
    }

    /// Writes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
