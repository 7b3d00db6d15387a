/// Unpredictable numbers for ids and ports, drawn in bulk so that a draw costs no system call.
public struct RandomPool: ~Copyable {
    private var words: [UInt64]
    private var next: Int
    private let fill: @Sendable (inout [UInt64]) -> Void

    /// A pool that `fill` fills: it must overwrite every word with fresh random bits.
    public init(fill: @escaping @Sendable (inout [UInt64]) -> Void) {
        words = Array(repeating: 0, count: 512)
        next = words.count
        self.fill = fill
    }

    /// A pool that the system fills.
    public static var system: RandomPool {
        RandomPool { words in
            var random = SystemRandomNumberGenerator()
            for index in words.indices { words[index] = random.next() }
        }
    }

    /// 64 random bits.
    public mutating func word() -> UInt64 {
        if next == words.count {
            fill(&words)
            next = 0
        }
        let word = words[next]
        // What was handed out must not be found in memory later.
        words[next] = 0
        next &+= 1
        return word
    }

    /// A number below `bound`, which must not be 0; all equally likely but for 2^-32.
    public mutating func below(_ bound: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: (word() &>> 32 &* UInt64(bound)) &>> 32)
    }
}
