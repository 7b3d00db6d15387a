import Platform

/// An upstream that takes every query and never answers.
final class Silence {
    private let socket: UDPSocket
    let port: UInt16

    init() throws {
        socket = try UDPSocket(serving: SocketAddress(ipv4: 0x7F00_0001, port: 0), shared: false)
        port = try socket.boundAddress().port
    }
}
