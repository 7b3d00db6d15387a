import Glibc
import Synchronization

/// SIGINT and SIGTERM, received once: the run is stopped and its reports are written. A second
/// signal ends the program at once.
struct Interruption {
    /// The signal that came; nil as long as none did.
    var received: Int32? {
        let number = Interruption.number.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }

    private static let number = Atomic<Int32>(0)

    /// Calls `stop` on a thread of its own when a signal comes. Must be called before other
    /// threads start: they inherit that both signals are blocked.
    static func watch(_ stop: @escaping @Sendable () -> Void) -> Interruption {
        // Safe: the set is a local of this call.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        // Safe: the thread takes the one reference that this hands over.
        let body = unsafe Unmanaged.passRetained(Body(stop)).toOpaque()
        var thread = pthread_t()
        let failed = unsafe pthread_create(&thread, nil, { unsafe Interruption.wait($0) }, body)
        if failed == 0 { pthread_detach(thread) }
        return Interruption()
    }

    private static func wait(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument = unsafe argument else { return nil }
        // Safe: `watch` passed a retained Body.
        let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
        number.store(signal, ordering: .releasing)
        body.stop()
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        return unsafe sigwaitForever()
    }

    /// The signals are let through in this thread only, so it must stay.
    private static func sigwaitForever() -> UnsafeMutableRawPointer? {
        while true { pause() }
    }

    private final class Body {
        let stop: @Sendable () -> Void
        init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }
    }
}
