internal import CCurl

/// libcurl's multi handle. All but `wake` belongs to the thread of the run.
@safe
// Unchecked, for others hold it too: all that they call is `wake`, which reads the handle, set once, and
// curl_multi_wakeup is the one function that libcurl lets any thread call; the rest stays on one thread.
final class Loop: @unchecked Sendable {
    private let multi: OpaquePointer
    /// Safe: keys are compared, never followed; each belongs to the exchange that it leads to.
    private var running: [OpaquePointer: Exchange] = unsafe [:]

    private static let initialised: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    init?() {
        // Safe: a new handle belongs to this object alone, and `deinit` frees it.
        guard Loop.initialised, let multi = unsafe curl_multi_init() else { return nil }
        unsafe self.multi = OpaquePointer(multi)
        // Every connection is new, so none is worth keeping.
        unsafe ccurl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 1)
    }

    deinit {
        // Safe: nobody can wake a loop to which there is no reference left.
        unsafe running.values.forEach { remove($0) }
        unsafe curl_multi_cleanup(handle)
    }

    /// How many exchanges are under way.
    var count: Int { unsafe running.count }

    func start(_ exchange: Exchange) {
        // Safe: `running` holds the exchange, and so its handle, until `remove` gets it.
        unsafe curl_multi_add_handle(handle, easy(exchange))
        unsafe running[exchange.easy] = exchange
    }

    func abandon(_ exchange: Exchange) {
        // Safe: the key is only compared.
        if unsafe running.removeValue(forKey: exchange.easy) != nil { remove(exchange) }
    }

    /// Lets connections go on, and hands out those that have ended.
    func turn(_ ended: (Exchange, CURLcode) -> Void) {
        var active: Int32 = 0
        // Safe: all handles in `running` are alive, because their exchanges are.
        unsafe curl_multi_perform(handle, &active)
        var result = CURLE_OK
        while let easy = unsafe ccurl_ended(handle, &result) {
            guard let exchange = unsafe running.removeValue(forKey: OpaquePointer(easy)) else {
                continue
            }
            remove(exchange)
            ended(exchange, result)
        }
    }

    /// Sleeps until a connection wants something, somebody wakes the loop, or time passes.
    func wait(milliseconds: Int32) {
        // Safe: no descriptors of ours are passed.
        unsafe curl_multi_poll(handle, nil, 0, milliseconds, nil)
    }

    /// Ends a wait. Any thread may call it (curl_multi_wakeup).
    /// Safe: libcurl makes this one call from other threads part of its promise.
    func wake() { unsafe curl_multi_wakeup(handle) }

    private func remove(_ exchange: Exchange) {
        // Safe: the exchange owns the easy handle, and is alive.
        unsafe curl_multi_remove_handle(handle, easy(exchange))
    }

    /// Safe: the multi handle is alive as long as this object.
    private var handle: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(multi) }

    private func easy(_ exchange: Exchange) -> UnsafeMutableRawPointer {
        // Safe: libcurl's own pointer, typed as it was; callers hold the exchange while they use it.
        unsafe UnsafeMutableRawPointer(exchange.easy)
    }
}
