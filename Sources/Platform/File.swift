internal import CLinux

/// A file could not be read: which, and why.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path as it was given.
    public let path: String
    /// Why.
    public let error: Errno

    /// An error at a path.
    public init(path: String, error: Errno) {
        self.path = path
        self.error = error
    }

    /// `zones/a.zone: No such file or directory (ENOENT)`.
    public var description: String { "\(path): \(error)" }
}

/// Whole files.
public enum File {
    /// All octets of the file at `path`, which may be a pipe or a device too.
    ///
    /// Throws `fileTooLarge` beyond `limit` octets, and `timedOut` where nobody writes to a pipe for
    /// `patience` milliseconds. Complexity: O(size), one allocation for a regular file.
    public static func octets(
        at path: String,
        limit: Int = 1 << 31,
        patience: Int32 = 30_000
    ) throws(FileError) -> [UInt8] {
        do throws(Errno) {
            return try read(path, limit: limit, patience: patience)
        } catch {
            throw FileError(path: path, error: error)
        }
    }

    private static func read(
        _ path: String,
        limit: Int,
        patience: Int32
    ) throws(Errno) -> [UInt8] {
        // Not blocking: to open a pipe that nobody writes to would wait for ever.
        // Safe: NUL-terminated for the call.
        let result = unsafe clinux_open(path, O_RDONLY | O_NONBLOCK)
        let file = FileDescriptor(adopting: try check(result))
        var status = stat()
        // Safe: the call writes one struct of ours.
        try check(unsafe fstat(file.rawValue, &status))
        if status.st_mode & UInt32(S_IFMT) == UInt32(S_IFDIR) { throw .isDirectory }
        let isPipe = status.st_mode & UInt32(S_IFMT) == UInt32(S_IFIFO)
        if !isPipe { try check(clinux_set_blocking(file.rawValue)) }
        guard status.st_size <= limit else { throw .fileTooLarge }
        // The size is a hint: a pipe has none, and a file can grow while it is read.
        var room = max(4096, Int(clamping: status.st_size))
        var octets: [UInt8] = []
        while true {
            // Until somebody writes, or the last who did is done.
            if isPipe { try wait(for: file, milliseconds: patience) }
            var failure: Errno?
            // Safe: the kernel writes at most `room` octets to memory that is reserved for them.
            let chunk = unsafe [UInt8](unsafeUninitializedCapacity: room) { memory, count in
                let result = unsafe CLinux.read(file.rawValue, memory.baseAddress, room)
                if result < 0 { failure = Errno.last }
                count = max(0, result)
            }
            if failure == .interrupted || failure == .wouldBlock { continue }
            if let failure { throw failure }
            if chunk.isEmpty { return octets }
            if octets.isEmpty { octets = chunk } else { octets += chunk }
            guard octets.count <= limit else { throw .fileTooLarge }
            room = 1 << 16
        }
    }

    private static func wait(
        for pipe: borrowing FileDescriptor,
        milliseconds: Int32
    ) throws(Errno) {
        var watched = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
        // Safe: the call reads and writes one struct of ours.
        guard try check(unsafe poll(&watched, 1, milliseconds)) > 0 else { throw .timedOut }
    }
}
