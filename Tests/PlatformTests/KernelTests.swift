import Synchronization
import Testing

@testable import Platform

@Suite("The kernel", .serialized)
struct KernelTests {
    @Test("names its errors")
    func errors() {
        #expect(Errno.addressInUse.description == "Address already in use (EADDRINUSE)")
        #expect(Errno(rawValue: 99_999).description == "error 99999")
    }

    @Test("a token keeps its parts")
    func tokens() {
        let token = Poller.Token(kind: 0xAB, slot: 0xFF_FFFE, generation: 0xFFFF_FFFF)
        #expect(token.kind == 0xAB && token.slot == 0xFF_FFFE && token.generation == 0xFFFF_FFFF)
        #expect(Poller.Token(rawValue: token.rawValue) == token)
    }

    @Test("a poller waits until its deadline and not longer")
    func deadline() throws {
        var poller = try Poller()
        let start = Clock.monotonic
        #expect(poller.wait(until: start + 20_500_000, now: start) == 0)
        let waited = Clock.monotonic - start
        #expect(waited >= 20_500_000 && waited < 500_000_000)
        #expect(poller.wait(until: 0, now: start) == 0)
    }

    @Test("a wakeup from another thread ends the wait, once")
    func wakeup() throws {
        final class Shared: Sendable {
            let wakeup: Wakeup
            init() throws(Errno) { wakeup = try Wakeup() }
        }
        let shared = try Shared()
        var poller = try Poller()
        let token = Poller.Token(kind: 3, slot: 4, generation: 5)
        try poller.add(shared.wakeup.descriptor, for: .readable, as: token)
        let thread = try Thread(named: "a name that is too long") {
            shared.wakeup.signal()
            shared.wakeup.signal()
        }
        thread.join()
        let now = Clock.monotonic
        #expect(poller.wait(until: now + 1_000_000_000, now: now) == 1)
        #expect(poller.token(at: 0) == token && poller.readiness(at: 0) == .readable)
        shared.wakeup.clear()
        #expect(poller.wait(until: now, now: now) == 0)
    }

    @Test("a thread has the stack that it was promised")
    func stack() throws {
        let depth = Mutex(0)
        @Sendable func recurse(_ level: Int) -> Int {
            // Roughly a kilobyte a level.
            let frame = InlineArray<128, Int>(repeating: level)
            return level == 0 ? frame[3] : recurse(level - 1) &+ frame[level % 128] &- level
        }
        let thread = try Thread(named: "deep", stackOctets: 16 << 20) {
            let result = recurse(1500)
            depth.withLock { $0 = result + 1 }
        }
        thread.join()
        #expect(depth.withLock { $0 } == 1)
    }

    @Test("random numbers do not repeat")
    func random() {
        var random = Random()
        let drawn = Set((0..<1000).map { _ in random.next() })
        #expect(drawn.count == 1000)
    }

    @Test("a file is read whole, also one without a size")
    func files() throws {
        #expect(try File.octets(at: "/proc/self/cmdline").count > 0)
        #expect(try File.octets(at: "/dev/null").isEmpty)
        let source = try File.octets(at: #filePath)
        #expect(source.count > 1000 && source.last == UInt8(ascii: "\n"))
        #expect(throws: FileError(path: "/no/such/file", error: .noSuchFile)) {
            try File.octets(at: "/no/such/file")
        }
        #expect(throws: FileError(path: "/proc", error: .isDirectory)) {
            try File.octets(at: "/proc")
        }
        #expect(throws: FileError(path: #filePath, error: .fileTooLarge)) {
            try File.octets(at: #filePath, limit: 100)
        }
        #expect(throws: FileError(path: "/dev/zero", error: .fileTooLarge)) {
            try File.octets(at: "/dev/zero", limit: 100_000)
        }
    }

    @Test("the limit of open files is as high as it may be")
    func openFiles() {
        let limit = OpenFiles.raiseLimit()
        #expect(limit >= 1024 && OpenFiles.raiseLimit() == limit)
    }

    @Test("a connection carries octets, and tells its end")
    func streams() throws {
        let listener = try StreamListener(serving: SocketAddress(ipv4: 0x7F00_0001, port: 0))
        let address = try listener.boundAddress()
        var client = try StreamSocket(connectingTo: address)
        #expect(client.connectionError == nil)
        var peer = address
        var server = try Self.accept(listener, &peer)
        #expect(try peer == client.localAddress())
        #expect(try server.localAddress() == address)

        var buffer = OctetBuffer(capacity: 64)
        #expect(try server.read(into: &buffer, at: 0) == .wouldBlock)
        var queue = OctetQueue()
        queue.append(Array("query".utf8).span)
        try client.write(from: &queue)
        #expect(queue.isEmpty == true)
        client.finishWriting()
        try Self.wait(server.descriptor, .readable)
        #expect(try server.read(into: &buffer, at: 60) == .octets(4))
        #expect(try server.read(into: &buffer, at: 0) == .octets(1))
        try Self.wait(server.descriptor, .readable)
        #expect(try server.read(into: &buffer, at: 0) == .end)
        #expect(try server.write(0..<1, of: buffer) == 1)
    }

    @Test("a connection to nobody fails")
    func refusedStream() throws {
        let address: SocketAddress
        do {
            let listener = try StreamListener(serving: SocketAddress(ipv4: 0x7F00_0001, port: 0))
            address = try listener.boundAddress()
        }
        let client: StreamSocket
        do throws(Errno) {
            client = try StreamSocket(connectingTo: address)
        } catch {
            #expect(error == .connectionRefused)
            return
        }
        try Self.wait(client.descriptor, .writable)
        #expect(client.connectionError == .connectionRefused)
    }

    private static func accept(
        _ listener: borrowing StreamListener,
        _ peer: inout SocketAddress
    ) throws -> StreamSocket {
        try wait(listener.descriptor, .readable)
        guard let socket = try listener.accept(from: &peer) else {
            throw Errno.wouldBlock
        }
        return socket
    }

    private static func wait(
        _ descriptor: borrowing FileDescriptor,
        _ readiness: Poller.Readiness
    ) throws {
        var poller = try Poller()
        try poller.add(descriptor, for: readiness, as: .init(kind: 0, slot: 0))
        let now = Clock.monotonic
        if poller.wait(until: now + 1_000_000_000, now: now) == 0 { throw Errno.timedOut }
    }
}
