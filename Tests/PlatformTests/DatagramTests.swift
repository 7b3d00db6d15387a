import Testing

@testable import Platform

@Suite("Datagrams", .serialized)
struct DatagramTests {
    private static func address(_ text: String) throws -> SocketAddress {
        try #require(SocketAddress(scanning: text, port: 0))
    }

    /// Waits until something can be read, a second at most.
    private static func wait(for socket: borrowing UDPSocket) throws -> Bool {
        var poller = try Poller()
        try poller.add(socket.descriptor, for: .readable, as: .init(kind: 1, slot: 0))
        let now = Clock.monotonic
        return poller.wait(until: now + 1_000_000_000, now: now) == 1
    }

    @Test("go and come in batches, in order")
    func batches() throws {
        var random = Random()
        var server = try UDPSocket(serving: Self.address("127.0.0.1"))
        var client = try UDPSocket(connectedTo: server.boundAddress(), drawingFrom: &random)
        var outbound = OutboundDatagrams(capacity: 40)
        for number in 0..<40 {
            var room = outbound.room()
            room[0] = UInt8(number)
            room[1] = 0xFF
            outbound.append(number == 7 ? 2 : 1)
        }
        #expect(outbound.isFull == true)
        let outcome = client.send(&outbound)
        #expect(outcome.sent == 40 && outcome.lost == 0 && outcome.error == nil)
        #expect(outbound.count == 0)

        var inbound = InboundDatagrams(capacity: 32)
        var seen: [UInt8] = []
        for expected in [32, 8] {
            #expect(try Self.wait(for: server))
            #expect(try server.receive(&inbound) == expected)
            for index in 0..<inbound.count {
                let octets = inbound.octets(at: index)
                #expect(octets.count == (octets[0] == 7 ? 2 : 1))
                #expect(!inbound.origin(at: index).isCut)
                #expect(inbound.origin(at: index).destination == nil)
                #expect(try inbound.origin(at: index).peer == client.boundAddress())
                seen.append(octets[0])
            }
        }
        #expect(seen == Array(0..<40))
        #expect(try server.receive(&inbound) == 0)
    }

    @Test("that are longer than the buffer are noticed, and do not hurt the next")
    func cut() throws {
        var random = Random()
        var server = try UDPSocket(serving: Self.address("[::1]"))
        var client = try UDPSocket(connectedTo: server.boundAddress(), drawingFrom: &random)
        var outbound = OutboundDatagrams()
        let longest = 600
        for length in [longest + 1, longest, 0] {
            _ = outbound.room()
            outbound.append(length)
        }
        #expect(client.send(&outbound).sent == 3)
        var inbound = InboundDatagrams(capacity: 4, longest: longest)
        #expect(try Self.wait(for: server))
        #expect(try server.receive(&inbound) == 3)
        #expect(inbound.origin(at: 0).isCut)
        #expect(inbound.octets(at: 0).count == longest)
        #expect(!inbound.origin(at: 1).isCut)
        #expect(inbound.octets(at: 1).count == longest)
        #expect(inbound.octets(at: 2).count == 0)
    }

    @Test(
        "leave from the address that was asked",
        arguments: [("0.0.0.0", "127.0.0.2"), ("::", "::1")]
    )
    func source(any: String, asked: String) throws {
        var random = Random()
        var server = try UDPSocket(serving: Self.address(any))
        #expect(server.reportsDestination == true)
        let target = try Self.address(asked).withPort(server.boundAddress().port)
        // Connected: takes datagrams from the address that it asked only.
        var client = try UDPSocket(connectedTo: target, drawingFrom: &random)
        var outbound = OutboundDatagrams()
        _ = outbound.room()
        outbound.append(5)
        #expect(client.send(&outbound).sent == 1)

        var inbound = InboundDatagrams()
        #expect(try Self.wait(for: server))
        #expect(try server.receive(&inbound) == 1)
        let origin = inbound.origin(at: 0)
        let destination = try #require(origin.destination)
        #expect(destination.high == target.high && destination.low == target.low)
        #expect(destination.scope == 1)
        _ = outbound.room()
        outbound.append(
            6,
            to: origin.peer,
            from: SocketAddress(high: destination.high, low: destination.low, port: 0)
        )
        #expect(server.send(&outbound).sent == 1)
        #expect(try Self.wait(for: client))
        #expect(try client.receive(&inbound) == 1)
        #expect(inbound.octets(at: 0).count == 6)
    }

    @Test("that the kernel refuses are skipped, and the others leave")
    func skipping() throws {
        var random = Random()
        var server = try UDPSocket(serving: Self.address("127.0.0.1"))
        var client = try UDPSocket(connectedTo: server.boundAddress(), drawingFrom: &random)
        let peer = try client.boundAddress()
        let home = try Self.address("127.0.0.1")
        var outbound = OutboundDatagrams()
        for target in [peer.withPort(0), home.withPort(peer.port), peer.withPort(0)] {
            _ = outbound.room()
            outbound.append(3, to: target, from: nil)
        }
        let outcome = server.send(&outbound)
        #expect(outcome.sent == 1 && outcome.lost == 2 && outcome.error == .invalidArgument)
        var inbound = InboundDatagrams()
        #expect(try Self.wait(for: client))
        #expect(try client.receive(&inbound) == 1)
    }

    @Test("are drafted for nothing when they are not appended, and a draft outlives a send")
    func drafts() throws {
        var random = Random()
        var server = try UDPSocket(serving: Self.address("127.0.0.1"))
        var client = try UDPSocket(connectedTo: server.boundAddress(), drawingFrom: &random)
        var outbound = OutboundDatagrams()
        var room = outbound.room()
        room[0] = 1
        room = outbound.room()
        room[0] = 2
        outbound.append(1)
        room = outbound.room()
        room[0] = 3
        #expect(outbound.draft(1)[0] == 3)
        #expect(client.send(&outbound).sent == 1)
        outbound.append(1)
        #expect(client.send(&outbound).sent == 1)
        var inbound = InboundDatagrams()
        #expect(try Self.wait(for: server))
        #expect(try server.receive(&inbound) == 2)
        #expect(inbound.octets(at: 0)[0] == 2)
        #expect(inbound.octets(at: 1)[0] == 3)
    }

    @Test("to a port where nobody listens come back as an error of the connected socket")
    func refused() throws {
        var random = Random()
        let gone = try {
            () throws(Errno) in
            let socket = try UDPSocket(serving: SocketAddress(ipv4: 0x7F00_0001, port: 0))
            return try socket.boundAddress()
        }()
        var client = try UDPSocket(connectedTo: gone, drawingFrom: &random)
        var outbound = OutboundDatagrams()
        _ = outbound.room()
        outbound.append(1)
        #expect(client.send(&outbound).sent == 1)
        #expect(try Self.wait(for: client))
        var inbound = InboundDatagrams()
        #expect(throws: Errno.connectionRefused) { try client.receive(&inbound) }
        #expect(try client.receive(&inbound) == 0)
    }

    @Test("leave from ports that are spread over the whole range")
    func ports() throws {
        var random = Random()
        var ports: Set<UInt16> = []
        for _ in 0..<200 {
            let socket = try UDPSocket(
                connectedTo: SocketAddress(ipv4: 0x7F00_0001, port: 53),
                drawingFrom: &random
            )
            ports.insert(try socket.boundAddress().port)
        }
        #expect(ports.count > 190)
        #expect(ports.allSatisfy { $0 > 10_000 })
        // The kernel's ephemeral ports end at 60 999 and begin at 32 768.
        #expect(ports.contains { $0 > 60_999 } && ports.contains { $0 < 32_768 })
    }

    @Test("never leave from ports that are to be avoided")
    func avoidedPorts() throws {
        var random = Random()
        let avoided = Array(10_001...20_000 as ClosedRange<UInt16>)
        for _ in 0..<100 {
            let socket = try UDPSocket(
                connectedTo: SocketAddress(ipv4: 0x7F00_0001, port: 53),
                drawingFrom: &random,
                avoiding: avoided
            )
            #expect(try socket.boundAddress().port > 20_000)
        }
    }

    @Test("a port that is taken cannot be had unless both share it, and its holder is found")
    func sharing() throws {
        let first = try UDPSocket(serving: Self.address("127.0.0.1"))
        let address = try first.boundAddress()
        _ = try UDPSocket(serving: address)
        #expect(throws: Errno.addressInUse) {
            _ = try UDPSocket(serving: address, shared: false)
        }
        let holder = try #require(PortHolder.of(address, datagram: true))
        #expect(!holder.name.isEmpty && holder.process > 1)
        #expect(PortHolder.of(address, datagram: false) == nil)
        let everywhere = SocketAddress.any(ipv4: true, port: address.port)
        #expect(PortHolder.of(everywhere, datagram: true) == holder)
    }
}
