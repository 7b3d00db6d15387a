internal import CLinux

/// The service manager that started us, as far as it has told us in the environment.
///
/// Speaks systemd's two protocols, sd_notify(3) and sd_listen_fds(3), which other managers speak
/// as well. Without one, every call does nothing.
public enum Supervisor {
    /// Tells the manager a state: `READY=1`, `RELOADING=1`, `STOPPING=1`, `STATUS=…`; several go
    /// together with newlines between.
    ///
    /// Throws when there is a manager and it cannot be reached.
    public static func notify(_ state: String) throws(Errno) {
        guard let name = environment("NOTIFY_SOCKET") else { return }
        let socket = try FileDescriptor.socket(family: AF_UNIX, type: SOCK_DGRAM)
        let octets = Array(state.utf8)
        // Safe: name and octets are lent for the call.
        let sent = unsafe clinux_send_unix(socket.rawValue, name, octets, octets.count)
        guard sent == octets.count else { throw Errno.last }
    }

    /// What `notify` has to say when a reload begins, so that the manager knows since when
    /// (`Type=notify-reload` compares it with its own clock).
    public static var reloading: String {
        "RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonic / 1000)"
    }

    /// The number of this process, by which a manager knows it.
    public static var ownProcess: Int32 { getpid() }

    /// How many sockets the manager has opened for us: they have the descriptors 3 and following.
    public static var inheritedCount: Int {
        // The process id guards against a child that inherits the environment of its parent.
        guard let process = environment("LISTEN_PID"), Int32(process) == getpid(),
            let count = environment("LISTEN_FDS"), let number = Int32(count), number > 0
        else { return 0 }
        return Int(number)
    }

    /// Takes over what the manager has opened for us; to be called once, before anything is opened.
    ///
    /// The environment is cleared, so that a child takes nothing over. Throws where a descriptor that
    /// was announced is not there.
    public static func adoptSockets() throws(Errno) -> FixedArray<InheritedSocket> {
        let count = inheritedCount
        let names = (environment("LISTEN_FDNAMES") ?? "")
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
            // Safe: NUL-terminated for the call. No other thread reads the environment so early.
            _ = unsafe unsetenv(name)
        }
        for number in 0..<count { try check(clinux_make_ours(3 + Int32(number))) }
        return FixedArray(count: count) { number in
            InheritedSocket(
                adopting: FileDescriptor(adopting: 3 + Int32(number)),
                named: number < names.count ? names[number] : ""
            )
        }
    }

    /// How often the manager wants to be told that we are well, in nanoseconds; nil: never. It is
    /// told twice in the time after which it would end us (sd_watchdog_enabled(3)).
    public static var watchdogInterval: UInt64? {
        if let process = environment("WATCHDOG_PID"), Int32(process) != getpid() { return nil }
        guard let text = environment("WATCHDOG_USEC"), let limit = UInt64(text),
            (1...(1 << 50)).contains(limit)
        else { return nil }
        return limit * 1000 / 2
    }

    private static func environment(_ name: String) -> String? {
        // Safe: the text is copied before anything can change the environment.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}

/// A socket that was bound before we started.
public enum InheritedSocket: ~Copyable, Sendable {
    /// A bound UDP socket.
    case datagram(FileDescriptor)
    /// A bound TCP socket, listening or about to.
    case stream(FileDescriptor)
    /// A bound TCP socket that the manager calls `metrics`.
    case metrics(FileDescriptor)
    /// A bound Unix stream socket, listening or about to.
    case local(FileDescriptor)
    /// Something that is of no use here.
    case other
    /// It has been taken out.
    case taken

    init(adopting descriptor: consuming FileDescriptor, named name: String) {
        let domain = clinux_get_option(descriptor.rawValue, SOL_SOCKET, SO_DOMAIN)
        let type = clinux_get_option(descriptor.rawValue, SOL_SOCKET, SO_TYPE)
        switch (domain, type) {
        case (AF_INET, Int32(SOCK_DGRAM.rawValue)), (AF_INET6, Int32(SOCK_DGRAM.rawValue)):
            self = .datagram(descriptor)
        case (AF_INET, Int32(SOCK_STREAM.rawValue)), (AF_INET6, Int32(SOCK_STREAM.rawValue)):
            self = name == "metrics" ? .metrics(descriptor) : .stream(descriptor)
        case (AF_UNIX, Int32(SOCK_STREAM.rawValue)): self = .local(descriptor)
        default: self = .other
        }
    }

    /// Takes the socket out, and leaves `taken`.
    public mutating func take() -> InheritedSocket {
        var taken = InheritedSocket.taken
        swap(&taken, &self)
        return taken
    }
}
