internal import CLinux

/// Waits for many descriptors at once (epoll, level-triggered).
@safe
public struct Poller: ~Copyable {
    /// What the owner of a descriptor registers it with, and gets back with each event.
    ///
    /// The generation tells apart the descriptors that have used the same slot one after the other:
    /// an event that was collected before a descriptor was closed may be looked at after.
    @frozen
    public struct Token: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
        /// Kind in bits 63-56, slot in bits 55-32, generation in bits 31-0.
        public let rawValue: UInt64

        /// A token of its packed form.
        @inlinable
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// A token of its parts; a slot has 24 bits.
        @inlinable
        public init(kind: UInt8, slot: Int, generation: UInt32 = 0) {
            precondition(slot >= 0 && slot < 1 << 24, "a slot of 24 bits")
            rawValue = UInt64(kind) << 56 | UInt64(slot) << 32 | UInt64(generation)
        }

        /// What sort of thing is registered; the owner's own numbering.
        @inlinable
        public var kind: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 56) }
        /// Which of its sort.
        @inlinable
        public var slot: Int { Int(rawValue >> 32 & 0xFF_FFFF) }
        /// Which of those that have used the slot.
        @inlinable
        public var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
    }

    /// What to wait for, or what has come.
    @frozen
    public struct Readiness: OptionSet, Sendable, BitwiseCopyable {
        /// The bits.
        public let rawValue: UInt32

        /// A set of its bits.
        @inlinable
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Something can be read, or the peer has finished.
        public static let readable = Readiness(rawValue: 1)
        /// Something can be written.
        public static let writable = Readiness(rawValue: 4)
        /// An error or a hang-up; reported whether asked for or not.
        public static let failed = Readiness(rawValue: 8 | 16)
        /// When several pollers wait for one descriptor, not all of them need to wake.
        public static let exclusive = Readiness(rawValue: 1 << 28)
    }

    private let descriptor: FileDescriptor
    // Points to `capacity` events for as long as the poller lives.
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity: Int

    /// A poller that reports up to `capacity` events at a time.
    public init(capacity: Int = 128) throws(Errno) {
        descriptor = FileDescriptor(adopting: try check(epoll_create1(Int32(EPOLL_CLOEXEC))))
        self.capacity = capacity
        // Safe: freed in deinit; the kernel writes an event before we read it.
        unsafe events = .allocate(capacity: capacity)
        unsafe events.initialize(repeating: epoll_event(), count: capacity)
    }

    /// Begins to watch a descriptor.
    public func add(
        _ watched: borrowing FileDescriptor,
        for readiness: Readiness,
        as token: Token
    ) throws(Errno) {
        try control(EPOLL_CTL_ADD, watched, readiness, token)
    }

    /// Watches a descriptor for something else from now on.
    public func change(
        _ watched: borrowing FileDescriptor,
        to readiness: Readiness,
        as token: Token
    ) throws(Errno) {
        try control(EPOLL_CTL_MOD, watched, readiness, token)
    }

    /// Watches a descriptor no more. Closing the last descriptor of a file does the same.
    public func remove(_ watched: borrowing FileDescriptor) {
        try? control(EPOLL_CTL_DEL, watched, [], Token(rawValue: 0))
    }

    /// Waits until something is ready or `deadline` (a time of `Clock.monotonic`) has come, and
    /// gives the number of events.
    ///
    /// Without a deadline it waits as long as it takes. A deadline is met late by less than a
    /// millisecond, and never early.
    public mutating func wait(until deadline: UInt64?, now: UInt64) -> Int {
        var timeout: Int32 = -1
        if let deadline {
            let left = deadline > now ? (deadline - now + 999_999) / 1_000_000 : 0
            timeout = Int32(clamping: left)
        }
        // Safe: room for `capacity` events.
        let count = unsafe epoll_wait(descriptor.rawValue, events, Int32(capacity), timeout)
        // The only error of a sound call is a signal; the loop turns once more.
        return max(0, Int(count))
    }

    /// The token of event `index` of the last wait.
    public func token(at index: Int) -> Token {
        precondition(index >= 0 && index < capacity, "an event of the last wait")
        // Safe: inside the allocation.
        return Token(rawValue: unsafe clinux_token(events + index))
    }

    /// What has come with event `index` of the last wait.
    public func readiness(at index: Int) -> Readiness {
        precondition(index >= 0 && index < capacity, "an event of the last wait")
        // Safe: inside the allocation.
        return Readiness(rawValue: unsafe events[index].events)
    }

    private func control(
        _ operation: Int32,
        _ watched: borrowing FileDescriptor,
        _ readiness: Readiness,
        _ token: Token
    ) throws(Errno) {
        try check(
            clinux_epoll_control(
                descriptor.rawValue,
                operation,
                watched.rawValue,
                readiness.rawValue,
                token.rawValue
            )
        )
    }

    deinit {
        // Safe: allocated in init, and nobody can reach them any more.
        unsafe events.deallocate()
    }
}
