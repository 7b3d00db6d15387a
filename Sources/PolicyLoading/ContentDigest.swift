import DNS
import Platform

/// Tells whether a file's content is still what it was: 128 bits of a hash that is not for secrets.
public struct ContentDigest: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64

    /// The digest of octets. Complexity: O(octets), some gigabytes a second.
    public init(_ octets: [UInt8]) {
        var first: UInt64 = 0x9E37_79B9_7F4A_7C15
        var second = UInt64(octets.count)
        func mix(_ word: UInt64) {
            let a = (first ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
            first = a.high ^ a.low
            let b = (second &+ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
            second = (b.high ^ b.low) &+ first
        }
        let span = octets.span
        var offset = 0
        while offset + 8 <= span.count {
            mix(span.word(at: offset))
            offset += 8
        }
        var last: UInt64 = 0
        while offset < span.count {
            last = last << 8 | UInt64(span[offset])
            offset += 1
        }
        mix(last)
        self.first = first
        self.second = second
    }

    /// The digest of the file at a path; nil where it cannot be read.
    public init?(ofFileAt path: String) {
        guard let octets = try? File.octets(at: path) else { return nil }
        self.init(octets)
    }
}
