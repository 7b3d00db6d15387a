internal import CLinux

/// Why a call to the kernel failed. Trivial, so that throwing it is cheap.
@frozen
public struct Errno: Error, RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The C library's number.
    public let rawValue: Int32

    /// The error with a C number.
    @inlinable
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// What the last failed call of this thread left.
    static var last: Errno { Errno(rawValue: clinux_errno()) }

    /// The same, for modules that call another C library; to be read right behind the call.
    public static var current: Errno { last }

    /// A signal arrived before the call was done (EINTR).
    public static let interrupted = Errno(rawValue: EINTR)
    /// A non-blocking call has nothing to do now (EAGAIN).
    public static let wouldBlock = Errno(rawValue: EAGAIN)
    /// A non-blocking connect has begun (EINPROGRESS).
    public static let inProgress = Errno(rawValue: EINPROGRESS)
    /// Another socket holds the port (EADDRINUSE).
    public static let addressInUse = Errno(rawValue: EADDRINUSE)
    /// No interface has the address (EADDRNOTAVAIL).
    public static let addressNotAvailable = Errno(rawValue: EADDRNOTAVAIL)
    /// The address family is not there, as without IPv6 (EAFNOSUPPORT).
    public static let addressFamilyNotSupported = Errno(rawValue: EAFNOSUPPORT)
    /// Privilege is missing, as for a port below 1024 (EACCES).
    public static let permissionDenied = Errno(rawValue: EACCES)
    /// A capability is missing (EPERM).
    public static let notPermitted = Errno(rawValue: EPERM)
    /// Nobody listens at the port (ECONNREFUSED).
    public static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// The peer broke the connection off (ECONNRESET).
    public static let connectionReset = Errno(rawValue: ECONNRESET)
    /// A connection died before it was accepted (ECONNABORTED).
    public static let connectionAborted = Errno(rawValue: ECONNABORTED)
    /// The other end reads no more (EPIPE).
    public static let brokenPipe = Errno(rawValue: EPIPE)
    /// The other end did not react in time (ETIMEDOUT).
    public static let timedOut = Errno(rawValue: ETIMEDOUT)
    /// This process has as many descriptors as it may have (EMFILE).
    public static let tooManyOpenFiles = Errno(rawValue: EMFILE)
    /// The machine has as many descriptors as it may have (ENFILE).
    public static let tooManyOpenFilesInSystem = Errno(rawValue: ENFILE)
    /// The kernel is out of socket buffers (ENOBUFS).
    public static let noBufferSpace = Errno(rawValue: ENOBUFS)
    /// The kernel is out of memory (ENOMEM).
    public static let outOfMemory = Errno(rawValue: ENOMEM)
    /// Something of that name is there already (EEXIST).
    public static let fileExists = Errno(rawValue: EEXIST)
    /// The disk is full (ENOSPC).
    public static let noSpace = Errno(rawValue: ENOSPC)
    /// There is no such file (ENOENT).
    public static let noSuchFile = Errno(rawValue: ENOENT)
    /// A directory stands where a file should (EISDIR).
    public static let isDirectory = Errno(rawValue: EISDIR)
    /// The file is too large (EFBIG).
    public static let fileTooLarge = Errno(rawValue: EFBIG)
    /// An argument makes no sense to the kernel (EINVAL).
    public static let invalidArgument = Errno(rawValue: EINVAL)
}

extension Errno: CustomStringConvertible {
    /// The C library's sentence and name: `Address already in use (EADDRINUSE)`.
    public var description: String {
        // Safe: both functions return static, NUL-terminated text or NULL for an unknown number.
        guard let sentence = unsafe strerrordesc_np(rawValue),
            let name = unsafe strerrorname_np(rawValue)
        else { return "error \(rawValue)" }
        return unsafe "\(String(cString: sentence)) (\(String(cString: name)))"
    }
}

/// Throws what the call left in errno when its result is negative.
@discardableResult
func check(_ result: Int32) throws(Errno) -> Int32 {
    guard result >= 0 else { throw Errno.last }
    return result
}
