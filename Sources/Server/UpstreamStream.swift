import Platform
import Resolver
import TLS

/// One connection to an upstream, in the clear or over TLS, as two queues of DNS messages.
struct UpstreamStream: ~Copyable {
    var socket = StreamSocket.none
    var generation: UInt32 = 0
    /// The TCP connection is there.
    var isConnected = false
    /// Whether it has brought an answer: then the upstream may end it whenever it likes.
    var hasAnswered = false
    /// Octets of a message that is not complete.
    var unread = OctetQueue()
    /// Queries that are to be written, framed.
    var unsent = OctetQueue()
    var isDirty = false
    var lastUse: UInt64 = 0
    /// When the first query was added since the last answer came; nil: nothing is owed.
    var owesSince: UInt64?
    /// TLS, and what it has made of the queries.
    var session: TLSSession?
    var encrypted = OctetQueue()

    /// What came to an end, and why.
    enum Failure: Error {
        case connection(Errno)
        case session(TLSSession.Failure)
    }

    /// Whether queries can be written.
    var isReady: Bool {
        guard isConnected else { return false }
        switch session {
        case .some(let session): return session.isEstablished
        case .none: return true
        }
    }

    /// How many octets the socket has not taken.
    var unsentCount: Int { unsent.count + encrypted.count }

    /// Whether octets wait for the socket to take them.
    var isBlocked: Bool { session == nil ? !unsent.isEmpty : !encrypted.isEmpty }

    /// Writes what can be written.
    mutating func flush(scratch: inout OctetBuffer) throws(Failure) {
        guard session != nil else {
            guard !unsent.isEmpty else { return }
            do throws(Errno) { try socket.write(from: &unsent) } catch { throw .connection(error) }
            return
        }
        do throws(TLSSession.Failure) {
            try session?.advance()
            if session?.isEstablished == true { try session?.write(&unsent) }
        } catch {
            throw .session(error)
        }
        session?.send(to: &encrypted, scratch: &scratch)
        guard !encrypted.isEmpty else { return }
        do throws(Errno) { try socket.write(from: &encrypted) } catch { throw .connection(error) }
    }

    /// Reads what has come to a buffer behind its first `filled` octets; gives how many octets are
    /// filled then. `hasEnded`: no more will come.
    mutating func read(
        into inbox: inout OctetBuffer,
        filled: Int,
        scratch: inout OctetBuffer,
        hasEnded: inout Bool
    ) throws(Failure) -> Int {
        guard session != nil else {
            return filled + socket.readSome(into: &inbox, at: filled, hasEnded: &hasEnded)
        }
        let count = socket.readSome(into: &scratch, at: 0, hasEnded: &hasEnded)
        do throws(TLSSession.Failure) {
            if count > 0 { try session?.receive(scratch.octets(0..<count)) }
            return try decrypt(into: &inbox, filled: filled, hasEnded: &hasEnded)
        } catch {
            throw .session(error)
        }
    }

    private mutating func decrypt(
        into inbox: inout OctetBuffer,
        filled: Int,
        hasEnded: inout Bool
    ) throws(TLSSession.Failure) -> Int {
        var filled = filled
        while session?.isEstablished == true, filled < inbox.capacity {
            switch try session?.read(into: &inbox, at: filled) {
            case .octets(let count): filled += count
            case .needsMore, nil: return filled
            case .end:
                hasEnded = true
                return filled
            }
        }
        return filled
    }
}

extension StreamSocket {
    /// Reads once; an error is the end.
    fileprivate mutating func readSome(
        into buffer: inout OctetBuffer,
        at start: Int,
        hasEnded: inout Bool
    ) -> Int {
        switch try? read(into: &buffer, at: start) {
        case .octets(let count): return count
        case .wouldBlock: return 0
        case .end, nil:
            hasEnded = true
            return 0
        }
    }
}

extension TLSSession.Failure {
    /// What is wrong with an upstream, in words for the log and for clients.
    func sentence(about upstream: Policy.Upstream) -> String {
        let certificate = "its certificate"
        switch verdict {
        case .foreign:
            guard case .name(let name) = upstream.identity else {
                return "\(certificate) is not for \(upstream.address)"
            }
            return "\(certificate) is not for \(name)"
        case .untrusted:
            let file = upstream.anchors?.file.split(separator: "/").last
            let anchors = file.map { "an anchor in \($0)" } ?? "an anchor of the system"
            return "\(certificate) does not lead to \(anchors)"
        case .expired: return "\(certificate) has expired"
        case .notYetValid: return "\(certificate) is not valid yet"
        case .other: return "\(certificate) is refused: \(reason)"
        case nil: return "TLS: \(reason)"
        }
    }
}
