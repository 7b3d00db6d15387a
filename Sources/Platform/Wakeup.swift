internal import CLinux

/// Lets one thread wake another that waits in a `Poller` (eventfd).
public struct Wakeup: ~Copyable, Sendable {
    /// The descriptor, to register with a poller; readable after `signal` until `clear`.
    public let descriptor: FileDescriptor

    /// A wakeup that nobody has signalled.
    public init() throws(Errno) {
        descriptor = FileDescriptor(
            adopting: try check(eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)))
        )
    }

    /// Wakes the thread that watches; may be called from any thread.
    public func signal() {
        // Fails only when it is signalled already, 2^64 times.
        _ = eventfd_write(descriptor.rawValue, 1)
    }

    /// Makes the descriptor unreadable until the next signal.
    public func clear() {
        var count: eventfd_t = 0
        // Safe: the call writes one integer of ours. It fails when there was no signal.
        _ = unsafe eventfd_read(descriptor.rawValue, &count)
    }

    /// Waits for a signal for at most so many milliseconds, and gives whether one came.
    public func wait(milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        // Safe: the call reads and writes one struct of ours.
        return unsafe poll(&watched, 1, milliseconds) > 0
    }
}
