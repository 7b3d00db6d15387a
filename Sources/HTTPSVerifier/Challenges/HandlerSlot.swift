internal import CCurl

/// Holds the handler, so that it can be swapped while probes run.
///
/// A call and a swap exclude each other: a call under way ends before the swap returns, and none to
/// the old handler starts after it. The lock is recursive, so that a handler may swap itself.
@safe
// Unchecked, for `handler` can be changed: each access to it holds `lock`, which itself never changes.
// A Mutex would not do, since it is not recursive.
final class HandlerSlot: @unchecked Sendable {
    private var handler: ChallengeHandler?
    private let lock: OpaquePointer?

    init(_ handler: ChallengeHandler?) {
        self.handler = handler
        // Safe: a new lock belongs to this object alone; without memory the C side does not return.
        unsafe lock = ccurl_lock_new()
    }

    deinit {
        // Safe: no call is under way when the last reference goes.
        unsafe ccurl_lock_free(lock)
    }

    func swap(_ new: ChallengeHandler?) { locked { handler = new } }

    func call<Result>(_ body: (ChallengeHandler?) -> Result) -> Result { locked { body(handler) } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        // Safe: the lock lives as long as this object; each lock has its unlock.
        unsafe ccurl_lock(lock)
        defer { unsafe ccurl_unlock(lock) }
        return body()
    }
}
