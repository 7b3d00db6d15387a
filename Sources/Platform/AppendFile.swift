internal import CLinux

/// A file that grows at its end, and is on the disk when it says so.
public struct AppendFile: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    /// How many octets it has.
    public private(set) var size: Int

    /// The file at a path, made empty where there is none, for its user and group alone to read.
    ///
    /// Throws `invalidArgument` where a pipe or a device stands there, which keeps nothing, or a link,
    /// behind which anything of somebody else's may be.
    public init(at path: String, emptied: Bool = false) throws(Errno) {
        let flags = O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW | (emptied ? O_TRUNC : 0)
        // Safe: NUL-terminated for the call, and the second call writes one struct of ours.
        let result = unsafe clinux_create(path, flags, 0o640)
        if result < 0, Errno.last == Errno(rawValue: ELOOP) { throw .invalidArgument }
        let file = FileDescriptor(adopting: try check(result))
        var status = stat()
        try check(unsafe fstat(file.rawValue, &status))
        guard status.st_mode & UInt32(S_IFMT) == UInt32(S_IFREG) else { throw .invalidArgument }
        descriptor = file
        size = Int(status.st_size)
    }

    /// Appends all of the octets, or throws and leaves the file as it was.
    public mutating func append(_ octets: [UInt8]) throws(Errno) {
        var written = 0
        while written < octets.count {
            // Safe: the rest of the array is lent for the call.
            let count = unsafe octets[written...].withUnsafeBytes { rest in
                unsafe write(descriptor.rawValue, rest.baseAddress, rest.count)
            }
            if count > 0 {
                written += count
                continue
            }
            let error = count == 0 ? Errno.noSpace : Errno.last
            if error == .interrupted { continue }
            // What was written of it would make whatever comes next unreadable.
            try? truncate(to: size)
            throw error
        }
        size += octets.count
    }

    /// Returns when all that was written is on the disk (fdatasync).
    public func synchronize() throws(Errno) { try check(fdatasync(descriptor.rawValue)) }

    /// Drops what is behind so many octets.
    public mutating func truncate(to size: Int) throws(Errno) {
        try check(ftruncate(descriptor.rawValue, size))
        self.size = size
    }
}

/// A folder and its entries.
public enum Folder {
    /// Makes a folder where there is none, for an account (nil: for our own), whose group may read it;
    /// `isPublic`: for everybody to read.
    public static func make(
        _ path: String,
        for account: Account? = nil,
        isPublic: Bool = false
    ) throws(Errno) {
        // Safe: NUL-terminated for the call.
        if unsafe mkdir(path, isPublic ? 0o755 : 0o750) < 0 {
            if Errno.last == .fileExists { return }
            throw Errno.last
        }
        guard let account else { return }
        // By its descriptor: the path may be another's by now.
        // Safe: NUL-terminated for the call.
        let result = unsafe clinux_open(path, O_DIRECTORY | O_NOFOLLOW)
        let folder = FileDescriptor(adopting: try check(result))
        try check(fchown(folder.rawValue, account.user, account.group))
    }

    /// Whether we may make and replace files in a folder.
    public static func isWritable(_ path: String) -> Bool {
        // Safe: NUL-terminated for the call.
        unsafe faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0
    }

    /// Returns when the folder's entries, as they are, are on the disk.
    public static func synchronize(_ path: String) throws(Errno) {
        // Safe: NUL-terminated for the call.
        let folder = FileDescriptor(adopting: try check(unsafe clinux_open(path, O_DIRECTORY)))
        try check(fsync(folder.rawValue))
    }

    /// Puts a file in another's place, at once.
    public static func replace(_ path: String, with other: String) throws(Errno) {
        // Safe: NUL-terminated for the call.
        try check(unsafe rename(other, path))
    }

    /// Takes a file away.
    public static func remove(_ path: String) throws(Errno) {
        // Safe: NUL-terminated for the call.
        try check(unsafe unlink(path))
    }

    /// What a symbolic link says; nil for anything else.
    public static func target(ofLink path: String) -> String? {
        // Safe: writes at most as many octets as there is room for.
        let octets = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { memory, count in
            unsafe memory.withMemoryRebound(to: CChar.self) { memory in
                guard let start = memory.baseAddress else { return }
                count = max(0, unsafe readlink(path, start, memory.count))
            }
        }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }
}

/// Keeps a second process out for as long as it lives, however this one ends (flock).
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// Locks the file at a path, which is made; throws `wouldBlock` where another process has it.
    public init(at path: String) throws(Errno) {
        // Safe: NUL-terminated for the call.
        let file = FileDescriptor(
            adopting: try check(unsafe clinux_create(path, O_RDWR | O_NOFOLLOW, 0o640))
        )
        try check(flock(file.rawValue, LOCK_EX | LOCK_NB))
        descriptor = file
    }
}
