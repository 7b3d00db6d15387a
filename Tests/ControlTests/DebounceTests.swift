import Testing

@testable import Control

@Suite("A burst of changes")
struct DebounceTests {
    private let millisecond: UInt64 = 1_000_000

    @Test("is over when nothing has come for a while")
    func quiet() {
        var debounce = Debounce()
        #expect(debounce.deadline == nil)
        for time in 0..<4 { debounce.note(at: UInt64(time) * 10 * millisecond) }
        let due = [80, 89, 90, 90].map { debounce.takeDue(at: $0 * millisecond) }
        #expect(due == [false, false, true, false])
    }

    @Test("that does not end is taken for over all the same")
    func endless() {
        var debounce = Debounce()
        var taken: [UInt64] = []
        for time in 0..<100 {
            let now = UInt64(time) * 10 * millisecond
            debounce.note(at: now)
            if debounce.takeDue(at: now) { taken.append(now / millisecond) }
        }
        #expect(taken == [300, 610, 920])
    }
}
