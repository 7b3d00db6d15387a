internal import CLinux

/// A connection to a program on this machine (a Unix stream socket), non-blocking.
public struct LocalStream: ~Copyable, Sendable {
    /// The descriptor, to register with a poller.
    public private(set) var descriptor: FileDescriptor

    init(adopting descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// No connection, for an empty slot of a table.
    public static var none: LocalStream { LocalStream(adopting: .none) }

    /// Connects to the socket at a path.
    ///
    /// Throws `wouldBlock` where too many wait to be accepted.
    public init(connectingTo path: String) throws(Errno) {
        let socket = try FileDescriptor.socket(family: AF_UNIX, type: SOCK_STREAM)
        // Safe: NUL-terminated for the call.
        try check(unsafe clinux_connect_unix(socket.rawValue, path))
        descriptor = socket
    }

    /// Whether there is a connection.
    public var isOpen: Bool { descriptor.isOpen }

    /// Who connected: as it was then, whatever the process has become since.
    public func peer() throws(Errno) -> LocalPeer {
        var process: pid_t = 0
        var user: uid_t = 0
        var group: gid_t = 0
        // Safe: the call writes three integers of ours.
        try check(unsafe clinux_peer(descriptor.rawValue, &process, &user, &group))
        return LocalPeer(process: process, user: user, group: group)
    }

    /// Whether who connected is in a group.
    public func isPeer(inGroup group: UInt32) -> Bool {
        if let peer = try? peer(), peer.group == group { return true }
        return clinux_peer_is_in(descriptor.rawValue, group)
    }

    /// What can be read now, `limit` octets at most; nil when nothing is there, empty at the end.
    public func read(limit: Int = 1 << 16) throws(Errno) -> [UInt8]? {
        while true {
            var result = 0
            // Safe: the kernel writes at most `limit` octets to memory that is reserved for them.
            let octets = unsafe [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
                result = unsafe recv(descriptor.rawValue, memory.baseAddress, limit, 0)
                count = max(0, result)
            }
            if result >= 0 { return octets }
            switch Errno.last {
            case .interrupted: continue
            case .wouldBlock: return nil
            case let error: throw error
            }
        }
    }

    /// Writes as many octets as the socket takes now, and gives their number.
    public func write(_ octets: ArraySlice<UInt8>) throws(Errno) -> Int {
        while true {
            // Safe: the slice is lent for the call.
            let result = unsafe octets.withUnsafeBytes { memory in
                unsafe send(
                    descriptor.rawValue,
                    memory.baseAddress,
                    memory.count,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if result >= 0 { return result }
            switch Errno.last {
            case .interrupted: continue
            case .wouldBlock: return 0
            case let error: throw error
            }
        }
    }

    /// Waits until something can be read, or written, for at most so many milliseconds (-1: as long
    /// as it takes); gives whether it can.
    public func wait(toWrite: Bool = false, milliseconds: Int32) -> Bool {
        let events = Int16(toWrite ? POLLOUT : POLLIN)
        var watched = pollfd(fd: descriptor.rawValue, events: events, revents: 0)
        // Safe: the call reads and writes one struct of ours.
        return unsafe poll(&watched, 1, milliseconds) > 0
    }

    /// Closes the connection.
    public mutating func close() { descriptor.close() }
}

/// Who is at the other end of a `LocalStream`.
public struct LocalPeer: Hashable, Sendable {
    /// The process that connected.
    public let process: Int32
    /// Its user.
    public let user: UInt32
    /// Its group.
    public let group: UInt32

    /// The user that this process acts as.
    public static var ownUser: UInt32 { geteuid() }

    /// What the machine calls a user; its number where it has no name.
    public static func name(ofUser user: UInt32) -> String {
        // Safe: the call writes at most as many octets as there is room for.
        let name = unsafe [UInt8](unsafeUninitializedCapacity: 256) { memory, count in
            unsafe memory.withMemoryRebound(to: CChar.self) { memory in
                count = unsafe clinux_user_name(user, memory.baseAddress, memory.count)
            }
        }
        return name.isEmpty ? "\(user)" : String(decoding: name, as: UTF8.self)
    }
}

/// A Unix socket that accepts connections. Its path goes when it does.
public struct LocalListener: ~Copyable, Sendable {
    /// The descriptor, to register with a poller.
    public let descriptor: FileDescriptor
    /// Where it is.
    public let path: String
    /// The group of its path, whose members may connect.
    public let group: UInt32
    /// Somebody else has made the path, and takes it away.
    private let isInherited: Bool

    /// A socket at a path, for its user and group (mode 0660).
    ///
    /// A path that nobody serves any more is taken over; throws `addressInUse` where somebody does.
    /// It is given to an account, if one is named.
    public init(serving path: String, for account: Account? = nil) throws(Errno) {
        if (try? LocalStream(connectingTo: path)) != nil { throw .addressInUse }
        let socket = try FileDescriptor.socket(family: AF_UNIX, type: SOCK_STREAM)
        // Moved to its place when it is its user's: nobody can connect before.
        let draft = path + ".new"
        var status = stat()
        // Safe: paths are NUL-terminated for the calls, which write one struct of ours.
        unsafe unlink(draft)
        // Made with its mode: whoever may write in the folder could have put a link to something else
        // there before a chmod.
        let mask = umask(0o117)
        let bound = unsafe clinux_bind_unix(socket.rawValue, draft)
        let error = Errno.last
        umask(mask)
        guard bound >= 0 else { throw error }
        if let account {
            try check(unsafe clinux_give_socket(draft, account.user, account.group))
        }
        try check(listen(socket.rawValue, 64))
        try check(unsafe lstat(draft, &status))
        try check(unsafe rename(draft, path))
        descriptor = socket
        group = status.st_gid
        isInherited = false
        self.path = path
    }

    /// A socket that a service manager has bound, at a path that stays the manager's.
    public init(adopting descriptor: consuming FileDescriptor) throws(Errno) {
        var name = [UInt8](repeating: 0, count: 128)
        // Safe: writes at most `count` octets to the array, which is lent for the call.
        let length = unsafe name.withUnsafeMutableBytes { room in
            unsafe clinux_unix_path(descriptor.rawValue, room.baseAddress, room.count)
        }
        try check(listen(descriptor.rawValue, 64))
        path = String(decoding: name.prefix(length), as: UTF8.self)
        var status = stat()
        // Safe: NUL-terminated for the call, which writes one struct of ours.
        group = unsafe stat(path, &status) == 0 ? status.st_gid : getegid()
        isInherited = true
        self.descriptor = descriptor
    }

    /// The next connection that waits, or nil.
    public func accept() throws(Errno) -> LocalStream? {
        while true {
            var endpoint = clinux_endpoint()
            // Safe: the call writes one struct of ours.
            let accepted = unsafe clinux_accept(descriptor.rawValue, &endpoint)
            if accepted >= 0 {
                return LocalStream(adopting: FileDescriptor(adopting: accepted))
            }
            switch Errno.last {
            case .wouldBlock: return nil
            case .interrupted, .connectionAborted: continue
            case let error: throw error
            }
        }
    }

    deinit {
        // Safe: NUL-terminated for the call.
        if !isInherited { unsafe unlink(path) }
    }
}
