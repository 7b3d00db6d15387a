import Testing

@testable import Server

@Suite("A server's state")
struct StateTests {
    @Test("the order of activity is that of the touches, whatever they are")
    func activity() {
        var random = SystemRandomNumberGenerator()
        var order = ActivityOrder(slots: 20)
        var model: [Int] = []
        for time in 0..<3000 {
            let slot = Int.random(in: 0..<20, using: &random)
            if let index = model.firstIndex(of: slot) {
                model.remove(at: index)
                if time % 4 == 0 {
                    order.remove(slot)
                } else {
                    order.touch(slot, at: UInt64(time))
                    model.append(slot)
                }
            } else {
                order.insert(slot, at: UInt64(time))
                model.append(slot)
            }
            var listed: [Int] = []
            var next = order.oldest
            while let slot = next {
                if let last = listed.last { #expect(order.time(of: last) < order.time(of: slot)) }
                listed.append(slot)
                next = order.newer(than: slot)
            }
            #expect(listed == model)
        }
    }

    @Test("a stream is divided at the lengths, and no message is shorter than a header")
    func framing() {
        let message: [UInt8] = [0, 12] + Array(repeating: 7, count: 12)
        #expect(Framing.frame(in: message.span, at: 0) == .message(12))
        #expect(Framing.frame(in: message.span, at: 13) == .incomplete)
        #expect(Framing.frame(in: message.span, at: 14) == .incomplete)
        for count in 0..<14 {
            let expected: Framing.Frame = .incomplete
            #expect(Framing.frame(in: Array(message[..<count]).span, at: 0) == expected)
        }
        #expect(Framing.frame(in: ([0, 11] as [UInt8]).span, at: 0) == .malformed)
        #expect(Framing.frame(in: ([0, 0] as [UInt8]).span, at: 0) == .malformed)
    }

    @Test("a long query whose length spells letters is DNS all the same")
    func opening() {
        // 0x4745 octets, "GE": a query with one question and one record of that size.
        let query: [UInt8] = [0x47, 0x45, 1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
        #expect(Framing.opening(of: query.span) == .isDNS)
        #expect(Framing.opening(of: Array(query[..<13]).span) == .undecided)
        #expect(Framing.opening(of: Array("GET / HTTP/1.1".utf8).span) == .isNotDNS)
        #expect(Framing.opening(of: Array("GET / HTTP/1.".utf8).span) == .undecided)
        #expect(Framing.opening(of: ([0, 29] as [UInt8]).span) == .isDNS)
        #expect(Framing.opening(of: ([0] as [UInt8]).span) == .undecided)
    }

    @Test("statistics add up, each counter by its name")
    func statistics() {
        var a = Statistics()
        a.queriesUDP = 3
        a.upstreamSocketsOpened = 5
        let sum = a + a
        #expect(sum.queriesUDP == 6 && sum.upstreamSocketsOpened == 10 && sum.dropped == 0)
        #expect(sum.named.count * 8 == MemoryLayout<Statistics>.size)
        #expect(Set(sum.named.map(\.name)).count == sum.named.count)
        #expect(sum.named.first { $0.name == "queriesUDP" }?.value == 6)
    }
}
