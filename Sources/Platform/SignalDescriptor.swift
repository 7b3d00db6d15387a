internal import CLinux

/// Signals as something to read, so that no code runs inside a handler (signalfd).
public struct SignalDescriptor: ~Copyable, Sendable {
    /// A signal's number.
    @frozen
    public struct Signal: RawRepresentable, Hashable, Sendable {
        /// The C library's number.
        public let rawValue: Int32

        /// The signal with a C number.
        @inlinable
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The terminal went away; by custom: reload (SIGHUP).
        public static let hangUp = Signal(rawValue: SIGHUP)
        /// The terminal's Ctrl-C (SIGINT).
        public static let interrupt = Signal(rawValue: SIGINT)
        /// A polite end (SIGTERM).
        public static let terminate = Signal(rawValue: SIGTERM)
        /// Free for the program's use (SIGUSR1).
        public static let user1 = Signal(rawValue: SIGUSR1)
    }

    /// The descriptor, to register with a poller; readable while a signal waits.
    public let descriptor: FileDescriptor
    private let mask: sigset_t

    /// Takes `signals` from now on, and ignores SIGPIPE.
    ///
    /// To be made before any thread is started: threads inherit that the signals are blocked, and
    /// one that did not would be killed by them.
    public init(taking signals: [Signal]) throws(Errno) {
        var set = sigset_t()
        // Safe: the calls read and write one set of ours.
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal.rawValue) }
        let error = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard error == 0 else { throw Errno(rawValue: error) }
        clinux_ignore_sigpipe()
        let flags = Int32(SFD_NONBLOCK | SFD_CLOEXEC)
        descriptor = FileDescriptor(adopting: try check(unsafe signalfd(-1, &set, flags)))
        mask = set
    }

    /// Lets the signals do in the calling thread what they do by default; those of this descriptor
    /// end the process. Other threads keep them blocked, so this one must go on to live.
    public func letThrough() {
        var set = mask
        // Safe: the call reads one set of ours.
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// The next signal that waits, or nil.
    public func next() -> Signal? {
        var info = signalfd_siginfo()
        // Safe: the kernel writes one struct of ours, or nothing.
        let count = unsafe read(descriptor.rawValue, &info, MemoryLayout<signalfd_siginfo>.size)
        guard count == MemoryLayout<signalfd_siginfo>.size else { return nil }
        return Signal(rawValue: Int32(info.ssi_signo))
    }

    /// Waits for the next signal.
    public func wait() -> Signal {
        while true {
            if let signal = next() { return signal }
            var watched = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            // Safe: the call reads and writes one struct of ours.
            _ = unsafe poll(&watched, 1, -1)
        }
    }
}
