internal import CLinux

/// Numbers that nobody can foretell, from getrandom(2), drawn 512 octets at a time.
public struct Random: ~Copyable, Sendable {
    private var words = InlineArray<64, UInt64>(repeating: 0)
    private var left = 0

    /// A source with nothing drawn yet.
    public init() {}

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        if left == 0 { refill() }
        left -= 1
        let word = words[left]
        // What was handed out is not kept.
        words[left] = 0
        return word
    }

    private mutating func refill() {
        // Safe: the kernel fills the octets of 64 integers, any of which is a valid value.
        var span = words.mutableSpan
        let filled = unsafe span.withUnsafeMutableBytes { room in
            unsafe getrandom(room.baseAddress, room.count, 0)
        }
        // Cannot fail for so few octets (getrandom(2)); without randomness we must not go on.
        precondition(filled == 512, "the kernel's random numbers")
        left = 64
    }
}
