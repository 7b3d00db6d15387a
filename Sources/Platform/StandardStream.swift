internal import CLinux

/// Where messages go.
public enum StandardStream: Int32, Sendable {
    /// Standard output.
    case output = 1
    /// Standard error.
    case error = 2

    /// Whether a person looks at it.
    public var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Writes text at once, without a buffer; what cannot be written is lost.
    public func write(_ text: String) { write(Array(text.utf8)[...]) }

    /// Writes octets likewise.
    public func write(_ slice: ArraySlice<UInt8>) {
        let octets = Array(slice)
        var written = 0
        while written < octets.count {
            // Safe: the rest of the array is lent for the call.
            let count = unsafe octets.withUnsafeBytes { octets in
                let rest = unsafe octets.dropFirst(written)
                return unsafe CLinux.write(
                    rawValue,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
            }
            if count < 0 && Errno.last == .interrupted { continue }
            guard count > 0 else { return }
            written += count
        }
    }
}

extension StandardStream {
    /// How many octets can be written without waiting when `takesText`.
    public static let mostAtOnce = 4096

    /// Whether somebody takes what is written: a pipe whose reader is stuck does not.
    public var takesText: Bool {
        var watched = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        // Safe: the call reads and writes one struct of ours.
        return unsafe poll(&watched, 1, 0) > 0 && watched.revents & Int16(POLLOUT) != 0
    }

    /// Ends the process with an exit status.
    public static func exit(_ status: Int32) -> Never { CLinux.exit(status) }
}
