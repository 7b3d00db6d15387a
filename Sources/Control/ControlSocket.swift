public import Platform

/// The socket that clients connect to; its path goes when it does.
public final class ControlSocket: Sendable {
    private let listener: LocalListener

    /// A socket at a path, for the daemon's user and the group of its path: those of an account, if
    /// one is named. The path's folder is made where it is not there.
    ///
    /// Throws a sentence where another daemon serves the path, or it cannot be made.
    public init(serving path: String, for account: Account? = nil) throws(ControlError) {
        do throws(Errno) {
            if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
                try Folder.make(String(path[..<slash]), for: account, isPublic: true)
            }
            listener = try LocalListener(serving: path, for: account)
        } catch .addressInUse {
            throw ControlError(
                .unavailable,
                "another program serves the control socket \(path); end it, or choose another path"
            )
        } catch {
            throw ControlError(.storage, "cannot make the control socket \(path): \(error)")
        }
    }

    /// A socket that a service manager has bound.
    public init(adopting descriptor: consuming FileDescriptor) throws(Errno) {
        listener = try LocalListener(adopting: descriptor)
    }

    func watch(_ poller: borrowing Poller, as token: Poller.Token) throws(Errno) {
        try poller.add(listener.descriptor, for: .readable, as: token)
    }

    /// A client that waits, who it is, and whether it may ask; nil: none waits.
    func accept() -> (session: Session, mayAsk: Bool)? {
        while let stream = accepted() {
            guard let peer = try? stream.peer() else { continue }
            let mayAsk =
                peer.user == 0 || peer.user == LocalPeer.ownUser
                || stream.isPeer(inGroup: listener.group)
            return (Session(stream, peer: peer, at: Clock.monotonic), mayAsk)
        }
        return nil
    }

    private func accepted() -> LocalStream? {
        do throws(Errno) { return try listener.accept() } catch { return nil }
    }
}
