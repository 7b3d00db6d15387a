import Testing

@testable import Resolver

@Suite("The timer wheel")
struct TimerWheelTests {
    private static func at(_ milliseconds: UInt64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("everything is taken once, never early and at most a tick late")
    func agreesWithAModel() {
        var wheel = TimerWheel()
        var model: [Int: UInt64] = [:]
        var state: UInt64 = 7
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var now: UInt64 = 1_000
        var taken = 0
        for _ in 0..<20_000 {
            let item = Int(random(300))
            switch random(4) {
            case 0, 1:
                let due = now + 1 + random(3_000)
                wheel.set(item, at: Self.at(due), now: Self.at(now))
                model[item] = due
            case 2:
                wheel.cancel(item)
                model[item] = nil
            default:
                now += random(40)
                while let item = wheel.takeDue(at: Self.at(now)) {
                    #expect(model[item].map { $0 <= now } == true, "never early")
                    model[item] = nil
                    taken += 1
                }
                #expect(!model.values.contains { $0 <= now }, "never late")
            }
            let earliest = model.values.min()
            #expect((wheel.nextDeadline == nil) == (earliest == nil))
            if let earliest, let deadline = wheel.nextDeadline {
                #expect(deadline <= Self.at(earliest))
            }
        }
        #expect(taken > 1_000)
    }

    @Test("a deadline beyond the wheel's span is taken no later than it")
    func farDeadlines() {
        var wheel = TimerWheel()
        wheel.set(1, at: Self.at(60_000), now: Self.at(0))
        #expect(wheel.takeDue(at: Self.at(3_000)) == nil)
        #expect(wheel.takeDue(at: Self.at(60_000)) == 1)
        #expect(wheel.nextDeadline == nil)
    }
}
