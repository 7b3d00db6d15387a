internal import CLinux

/// Tells which entries of directories have changed (inotify).
public struct DirectoryWatch: ~Copyable, Sendable {
    /// The descriptor, to register with a poller; readable while there are events.
    public let descriptor: FileDescriptor

    /// What the kernel says has happened.
    public struct Event: Equatable, Sendable {
        /// The directory, by the number that `add` gave; negative where events were lost.
        public let directory: Int32
        /// The entry; empty where it is the directory itself.
        public let name: String
        /// A file or directory was made, which has nothing in it yet; links are made complete.
        public let isNew: Bool
        /// The entry is a directory.
        public let isDirectory: Bool
        /// The directory is not watched any more: it has gone.
        public let isEnd: Bool
    }

    /// A watch over no directory.
    public init() throws(Errno) {
        descriptor = FileDescriptor(
            adopting: try check(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
        )
    }

    /// Begins to watch a directory, and gives its number; again the same where it is watched.
    ///
    /// Events are entries that were written and closed, moved here, or made.
    public func add(_ path: String) throws(Errno) -> Int32 {
        let mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_MOVE_SELF | IN_DELETE_SELF
        // Safe: NUL-terminated for the call.
        return try check(
            unsafe inotify_add_watch(descriptor.rawValue, path, UInt32(mask | IN_ONLYDIR))
        )
    }

    /// Watches a directory no more.
    public func remove(_ directory: Int32) { inotify_rm_watch(descriptor.rawValue, directory) }

    /// What has happened since the last call.
    public func events() -> [Event] {
        var events: [Event] = []
        while true {
            // Safe: the kernel writes at most `count` octets to memory that is reserved for them.
            let octets = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 14) { memory, count in
                count = max(
                    0,
                    unsafe read(descriptor.rawValue, memory.baseAddress, memory.count)
                )
            }
            guard !octets.isEmpty else { return events }
            DirectoryWatch.parse(octets, into: &events)
        }
    }

    private static func parse(_ octets: [UInt8], into events: inout [Event]) {
        var offset = 0
        var watch: Int32 = 0
        var mask: UInt32 = 0
        // Safe: the call stays inside the octets that are lent, and names end with a zero.
        unsafe octets.withUnsafeBufferPointer { memory in
            guard let start = memory.baseAddress else { return }
            var name: UnsafePointer<CChar>?
            while true {
                offset = unsafe clinux_inotify_event(
                    start,
                    offset,
                    memory.count,
                    &watch,
                    &mask,
                    &name
                )
                guard offset > 0, let text = unsafe name else { return }
                events.append(
                    Event(
                        directory: watch,
                        name: unsafe String(cString: text),
                        isNew: mask & UInt32(IN_CREATE) != 0,
                        isDirectory: mask & UInt32(IN_ISDIR) != 0,
                        isEnd: mask & UInt32(IN_IGNORED) != 0
                    )
                )
            }
        }
    }
}
