import Platform

/// The socket that clients connect to; its path goes when it does.
public final class ControlSocket: Sendable {
    private let listener: LocalListener

    /// A socket at a path, for the daemon's user and the group of its path.
    ///
    /// Throws a sentence where another daemon serves the path, or it cannot be made.
    public init(serving path: String) throws(ControlError) {
        do throws(Errno) {
            listener = try LocalListener(serving: path)
        } catch .addressInUse {
            throw ControlError(
                .unavailable,
                "another program serves the control socket \(path); end it, or choose another path"
            )
        } catch {
            throw ControlError(.storage, "cannot make the control socket \(path): \(error)")
        }
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
