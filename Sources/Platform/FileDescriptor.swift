internal import CLinux

/// An open file of the kernel's, owned: closed when its owner goes.
///
/// A slot that holds none has `FileDescriptor.none`, so that fixed tables need no optionals.
@frozen
public struct FileDescriptor: ~Copyable, Sendable {
    /// The kernel's number, or -1 for none.
    public private(set) var rawValue: Int32

    /// Takes the ownership of a descriptor that nobody else will close.
    public init(adopting rawValue: Int32) { self.rawValue = rawValue }

    /// No descriptor.
    public static var none: FileDescriptor { FileDescriptor(adopting: -1) }

    /// Whether there is one.
    public var isOpen: Bool { rawValue >= 0 }

    /// Closes the descriptor now; closing none does nothing.
    public mutating func close() {
        // Never repeated after EINTR: Linux has let go of the number by then.
        if rawValue >= 0 { _ = clinux_close(rawValue) }
        rawValue = -1
    }

    /// Another descriptor of the same open file.
    public func duplicate() throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try check(clinux_duplicate(rawValue)))
    }

    /// Lets go of the descriptor without closing it, and gives its number: somebody else owns it.
    @discardableResult
    public consuming func abandon() -> Int32 {
        let number = rawValue
        discard self
        return number
    }

    deinit {
        if rawValue >= 0 { _ = clinux_close(rawValue) }
    }
}
