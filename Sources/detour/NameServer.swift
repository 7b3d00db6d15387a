import DNS
import Platform
import Resolver

/// A running daemon, asked over the wire: over UDP, and over TCP where an answer was cut. It blocks.
struct NameServer: ~Copyable {
    /// Whether a question was left without a usable answer.
    private(set) var hasUnanswered = false

    private let address: SocketAddress
    private var random = Random()
    private var unansweredInARow = 0

    /// Nanoseconds that one try waits (dig waits as long as five).
    private static let patience: UInt64 = 2_000_000_000
    private static let tries = 2
    /// After so many questions without an answer, the server is down, and the rest need not wait.
    private static let mostUnanswered = 2

    init(_ address: SocketAddress) { self.address = address }

    /// What the server says; an answer that is not its own is as good as none.
    mutating func answer(_ name: Name, _ type: RecordType) -> OverriddenNames.Reply {
        guard unansweredInARow < NameServer.mostUnanswered else { return silent() }
        let query = StubQuery.octets(name, type, id: UInt16(truncatingIfNeeded: random.next()))
        for _ in 0..<NameServer.tries {
            let deadline = Clock.monotonic + NameServer.patience
            guard var answer = (try? overUDP(query, until: deadline)) ?? nil else { continue }
            if answer.isTruncated {
                let deadline = Clock.monotonic + NameServer.patience
                guard let whole = (try? overTCP(query, until: deadline)) ?? nil else { continue }
                answer = whole
            }
            unansweredInARow = 0
            if answer.code == .noError, !answer.isAuthoritative, !answer.addresses.isEmpty {
                return .silent("\(address) does not override it")
            }
            let isFailure = answer.code == .serverFailure || answer.code == .refused
            hasUnanswered = hasUnanswered || isFailure
            return .answered(answer)
        }
        unansweredInARow += 1
        return silent()
    }

    private mutating func silent() -> OverriddenNames.Reply {
        hasUnanswered = true
        return .silent("\(address) did not answer")
    }

    private mutating func overUDP(
        _ query: [UInt8],
        until deadline: UInt64
    ) throws(Errno) -> AddressAnswer? {
        var socket = try UDPSocket(connectedTo: address, drawingFrom: &random)
        var poller = try Poller(capacity: 1)
        try poller.add(socket.descriptor, for: .readable, as: Poller.Token(rawValue: 0))
        var outbound = OutboundDatagrams(capacity: 1)
        var room = outbound.room()
        room.copy(query.span, at: 0)
        outbound.append(query.count)
        if let error = socket.send(&outbound).error { throw error }
        var inbound = InboundDatagrams(capacity: 4)
        while true {
            let now = Clock.monotonic
            guard now < deadline else { return nil }
            _ = poller.wait(until: deadline, now: now)
            for index in 0..<(try socket.receive(&inbound)) {
                if let answer = NameServer.answer(inbound.octets(at: index), to: query) {
                    return answer
                }
            }
        }
    }

    private func overTCP(
        _ query: [UInt8],
        until deadline: UInt64
    ) throws(Errno) -> AddressAnswer? {
        var socket = try StreamSocket(connectingTo: address)
        var poller = try Poller(capacity: 1)
        let token = Poller.Token(rawValue: 0)
        try poller.add(socket.descriptor, for: .writable, as: token)
        var queue = OctetQueue()
        queue.append(UInt16(query.count))
        queue.append(query.span)
        var buffer = OctetBuffer(capacity: 2 + 65_535)
        var count = 0
        while true {
            let now = Clock.monotonic
            guard now < deadline else { return nil }
            guard poller.wait(until: deadline, now: now) > 0 else { continue }
            if !queue.isEmpty {
                if let error = socket.connectionError { throw error }
                try socket.write(from: &queue)
                if queue.isEmpty { try poller.change(socket.descriptor, to: .readable, as: token) }
                continue
            }
            switch try socket.read(into: &buffer, at: count) {
            case .wouldBlock: continue
            case .end: return nil
            case .octets(let more): count += more
            }
            guard count >= 2 else { continue }
            let end = 2 + Int(buffer.octets(0..<2).uint16(at: 0))
            if count >= end { return NameServer.answer(buffer.octets(2..<end), to: query) }
        }
    }

    /// A response to the query at hand: with its identifier and its question (RFC 5452, 9.1).
    private static func answer(_ octets: Span<UInt8>, to query: [UInt8]) -> AddressAnswer? {
        // Behind the question, the query ends with an OPT record of eleven octets.
        let end = query.count - 11
        guard octets.count >= end, octets[0] == query[0], octets[1] == query[1],
            octets.uint16(at: 4) == 1
        else { return nil }
        for index in Header.size..<end
        where asciiLowercased(octets[index]) != asciiLowercased(query[index]) { return nil }
        return AddressAnswer(copying: octets)
    }
}
