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
    /// Throws `fileTooLarge` beyond `limit` octets. Complexity: O(size), one allocation for a
    /// regular file.
    public static func octets(
        at path: String,
        limit: Int = 1 << 31
    ) throws(FileError) -> [UInt8] {
        do throws(Errno) {
            return try read(path, limit: limit)
        } catch {
            throw FileError(path: path, error: error)
        }
    }

    private static func read(_ path: String, limit: Int) throws(Errno) -> [UInt8] {
        // Safe: NUL-terminated for the call.
        let file = FileDescriptor(adopting: try check(unsafe clinux_open(path, O_RDONLY)))
        var status = stat()
        // Safe: the call writes one struct of ours.
        try check(unsafe fstat(file.rawValue, &status))
        if status.st_mode & UInt32(S_IFMT) == UInt32(S_IFDIR) { throw .isDirectory }
        guard status.st_size <= limit else { throw .fileTooLarge }
        // The size is a hint: a pipe has none, and a file can grow while it is read.
        var room = max(4096, Int(clamping: status.st_size))
        var octets: [UInt8] = []
        while true {
            var failure: Errno?
            // Safe: the kernel writes at most `room` octets to memory that is reserved for them.
            let chunk = unsafe [UInt8](unsafeUninitializedCapacity: room) { memory, count in
                let result = unsafe CLinux.read(file.rawValue, memory.baseAddress, room)
                if result < 0 { failure = Errno.last }
                count = max(0, result)
            }
            if failure == .interrupted { continue }
            if let failure { throw failure }
            if chunk.isEmpty { return octets }
            if octets.isEmpty { octets = chunk } else { octets += chunk }
            guard octets.count <= limit else { throw .fileTooLarge }
            room = 1 << 16
        }
    }
}
