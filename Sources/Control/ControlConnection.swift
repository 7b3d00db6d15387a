import Platform

/// The asking end of the protocol: one request after the other, each with its reply.
///
/// Calls wait for the daemon. One thread uses a connection.
public struct ControlConnection: ~Copyable {
    private let stream: LocalStream
    private let path: String
    private var inbox: [UInt8] = []

    /// Where a daemon that was installed from a package has its socket.
    public static let usualPath = "/run/detour/control.sock"

    /// Connects to the daemon whose socket is at a path.
    public init(to path: String) throws(ControlError) {
        do throws(Errno) {
            stream = try LocalStream(connectingTo: path)
        } catch {
            self.path = path
            switch error {
            case .noSuchFile, .connectionRefused:
                throw ControlError(
                    .unavailable,
                    "no detourd serves \(path); start one with --control \(path), or name its "
                        + "socket with --control"
                )
            case .permissionDenied, .notPermitted:
                throw ControlError(
                    .notPermitted,
                    "you may not use \(path); be root, the daemon's user, or in the socket's group"
                )
            default:
                throw ControlError(.unavailable, "cannot connect to \(path): \(error)")
            }
        }
        self.path = path
    }

    /// Asks, and gives the reply's result.
    public mutating func ask<Result: Codable & Sendable>(
        _ request: Request,
        for type: Result.Type,
        milliseconds: Int32 = -1
    ) throws(ControlError) -> Result {
        try send(ControlLine.octets(request))
        return try receive(type, milliseconds: milliseconds)
    }

    /// Waits for one more line, and gives its result.
    public mutating func receive<Result: Codable & Sendable>(
        _ type: Result.Type,
        milliseconds: Int32 = -1
    ) throws(ControlError) -> Result {
        let line = try nextLine(milliseconds: milliseconds)
        guard let reply = ControlLine.value(Reply<Result>.self, of: line) else {
            throw ControlError(.unavailable, "\(path) does not speak this protocol")
        }
        if let result = reply.result { return result }
        throw reply.error ?? ControlError(.unavailable, "\(path) says nothing")
    }

    /// Sends octets as they are.
    public func send(_ octets: [UInt8]) throws(ControlError) {
        var rest = octets[...]
        do throws(Errno) {
            while !rest.isEmpty {
                rest = rest.dropFirst(try stream.write(rest))
                if !rest.isEmpty { _ = stream.wait(toWrite: true, milliseconds: 1000) }
            }
        } catch .brokenPipe {
            // The reply that waits says why.
            return
        } catch {
            throw ControlError(.unavailable, "\(path): \(error)")
        }
    }

    /// The next line, without its newline.
    public mutating func nextLine(milliseconds: Int32 = -1) throws(ControlError) -> [UInt8] {
        while true {
            if let end = inbox.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(inbox[..<end])
                inbox.removeFirst(end + 1)
                return line
            }
            guard stream.wait(milliseconds: milliseconds) else {
                throw ControlError(.unavailable, "\(path) does not answer")
            }
            let octets: [UInt8]?
            do throws(Errno) {
                octets = try stream.read()
            } catch {
                throw ControlError(.unavailable, "\(path): \(error)")
            }
            guard let octets else { continue }
            guard !octets.isEmpty else {
                throw ControlError(.unavailable, "detourd closed the connection")
            }
            inbox += octets
        }
    }
}
