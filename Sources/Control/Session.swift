import Platform

/// One client of the control socket: what it has sent and what it has yet to read.
///
/// Lines are bounded, and so is what waits to be written: a client that does not read is left behind.
final class Session {
    private var stream: LocalStream
    let peer: LocalPeer
    private var inbox: [UInt8] = []
    private var outbox: [UInt8] = []
    private var written = 0
    /// Its request is under way: the next one waits.
    var isWaiting = false
    /// It wants log lines for as long as it is connected.
    var isFollowing = false
    /// Nothing more is read; it ends when all is written.
    private(set) var isEnding = false
    /// When it last asked or was told something, nanoseconds of the monotonic clock.
    private(set) var lastActive: UInt64

    /// What may wait to be written: far more than any reply.
    private static let mostUnwritten = 1 << 22
    /// What log lines may fill of it.
    private static let mostLog = 1 << 20

    init(_ stream: consuming LocalStream, peer: LocalPeer, at now: UInt64) {
        self.stream = stream
        self.peer = peer
        lastActive = now
    }

    func watch(_ poller: borrowing Poller, as token: Poller.Token) throws(Errno) {
        try poller.add(stream.descriptor, for: [.readable], as: token)
    }

    /// What to wait for: nothing is read while a request is under way.
    var readiness: Poller.Readiness {
        var readiness: Poller.Readiness = []
        if !isWaiting && !isEnding { readiness.insert(.readable) }
        if written < outbox.count { readiness.insert(.writable) }
        return readiness
    }

    func update(_ poller: borrowing Poller, as token: Poller.Token) {
        try? poller.change(stream.descriptor, to: readiness, as: token)
    }

    /// Whether it can be closed: all is written, and nothing will be.
    var isDone: Bool { isEnding && written == outbox.count }

    /// Whether it has room for another line of a log.
    var takesLog: Bool { isFollowing && outbox.count - written < Session.mostLog }

    /// Reads what is there; false when the connection has ended.
    func read(at now: UInt64) -> Bool {
        lastActive = now
        do throws(Errno) {
            while inbox.count <= Request.longestLine, let octets = try stream.read() {
                guard !octets.isEmpty else {
                    // Whoever sends a request and then no more still wants the reply.
                    isEnding = true
                    return !inbox.isEmpty || isWaiting || written < outbox.count
                }
                inbox += octets
            }
            return true
        } catch {
            return false
        }
    }

    /// What came next.
    enum Input {
        case line([UInt8])
        case tooLong
        case none
    }

    func next() -> Input {
        guard !isWaiting else { return .none }
        if let end = inbox.firstIndex(of: UInt8(ascii: "\n")), end <= Request.longestLine {
            let line = Array(inbox[..<end])
            inbox.removeFirst(end + 1)
            return .line(line)
        }
        guard inbox.count > Request.longestLine else { return .none }
        inbox = []
        return .tooLong
    }

    /// Queues a line, and writes what the socket takes; false when the connection is lost.
    func send(_ octets: [UInt8]) -> Bool {
        guard outbox.count - written + octets.count <= Session.mostUnwritten else { return false }
        outbox += octets
        return flush()
    }

    func flush() -> Bool {
        do throws(Errno) {
            while written < outbox.count {
                let count = try stream.write(outbox[written...])
                guard count > 0 else { break }
                written += count
            }
        } catch {
            return false
        }
        if written == outbox.count {
            outbox.removeAll(keepingCapacity: outbox.count < 1 << 16)
            written = 0
        } else if written > 1 << 16 {
            outbox.removeFirst(written)
            written = 0
        }
        return true
    }

    func end() { isEnding = true }
}
