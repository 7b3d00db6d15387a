import Testing

@testable import Control

@Suite("Reloads that are asked for")
struct ReloadQueueTests {
    private func check<Value: Equatable>(_ value: Value, _ expected: Value) {
        #expect(value == expected)
    }

    @Test("while one runs come to one more, which answers all of them")
    func coalescing() {
        var queue = ReloadQueue()
        check(queue.begin(), nil)
        queue.request(.request, for: 1)
        check(queue.begin(), .request)
        for client in 2...100 { queue.request(.request, for: client) }
        queue.request(.change)
        check(queue.begin(), nil)
        check(queue.finish(), [1])
        check(queue.begin(), .request)
        check(queue.finish(), Array(2...100))
        check(queue.begin(), nil)
    }

    @Test("by a change alone look at what was read; somebody who asks wants more")
    func causes() {
        var queue = ReloadQueue()
        queue.request(.change)
        check(queue.begin(), .change)
        queue.request(.change)
        queue.request(.request)
        queue.request(.change)
        check(queue.finish(), [])
        check(queue.begin(), .request)
    }
}
