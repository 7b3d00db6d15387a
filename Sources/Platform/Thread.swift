internal import CLinux

/// A thread of our own, with a stack of a known size. To be joined exactly once.
public struct Thread: ~Copyable, Sendable {
    private let handle: pthread_t

    /// Starts a thread that runs `body`; its name (at most 15 octets) is what top and perf show.
    ///
    /// Signals that are to be blocked must be so before: a thread inherits the mask.
    public init(
        named name: String,
        stackOctets: Int = 1 << 20,
        body: @escaping @Sendable () -> Void
    ) throws(Errno) {
        var attributes = pthread_attr_t()
        var started = pthread_t()
        let box = Body(run: body)
        // Safe: the attributes live for the call; the box is retained for the new thread, which
        // releases it, or here when there is no new thread.
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, stackOctets)
        let pointer = unsafe Unmanaged.passRetained(box)
        let error = unsafe pthread_create(&started, &attributes, Thread.enter, pointer.toOpaque())
        unsafe pthread_attr_destroy(&attributes)
        guard error == 0 else {
            unsafe pointer.release()
            throw Errno(rawValue: error)
        }
        handle = started
        // Safe: NUL-terminated for the call.
        unsafe pthread_setname_np(started, String(name.prefix(15)))
    }

    /// Waits until the thread has ended. Consumes the thread: it can be joined once.
    public consuming func join() {
        pthread_join(handle, nil)
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    // Nonisolated and static: a closure from top-level code would belong to the main actor.
    private static let enter:
        @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
            { argument in
                // Safe: the pointer that `init` made of one retained Body, taken once.
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                body.run()
                return nil
            }
}
