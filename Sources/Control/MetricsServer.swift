import CMicrohttpd
import Platform

/// What is asked over HTTP: metrics, and whether the daemon is well.
///
/// libmicrohttpd speaks HTTP; it is driven by the poller of whoever owns this, on that thread.
@safe
final class MetricsServer {
    /// The answer to a path: status, content type and body.
    struct Page {
        var status: UInt32 = 200
        var isMetrics = false
        var body: String
    }

    private let server: OpaquePointer
    private let pages: Pages

    /// The pages by their paths, as they are when they are asked for.
    private final class Pages {
        let page: (String) -> Page

        init(_ page: @escaping (String) -> Page) { self.page = page }
    }

    /// Serves a socket; `page` is called by `run`.
    init(
        serving listener: consuming StreamListener,
        page: @escaping (String) -> Page
    ) throws(Errno) {
        let pages = Pages(page)
        // Safe: `pages` lives for as long as self, and so longer than the server.
        let server = unsafe cmicrohttpd_start(
            listener.abandon(),
            MetricsServer.handler,
            Unmanaged.passUnretained(pages).toOpaque()
        )
        guard let server = unsafe server else { throw Errno.current }
        unsafe self.server = server
        self.pages = pages
    }

    // Safe: the context is the `pages` that init passed; the body is allocated as the caller frees it.
    private static let handler: cmicrohttpd_handler = { context, path, status, type, count in
        guard let context = unsafe context, let path = unsafe path else { return nil }
        let pages = unsafe Unmanaged<Pages>.fromOpaque(context).takeUnretainedValue()
        let page = pages.page(unsafe String(cString: path))
        unsafe status?.pointee = page.status
        unsafe type?.pointee = page.isMetrics ? cmicrohttpd_metrics_type() : cmicrohttpd_text_type()
        var body = page.body
        return body.withUTF8 { octets in
            unsafe count?.pointee = octets.count
            return unsafe cmicrohttpd_copy(octets.baseAddress, octets.count)
        }
    }

    func watch(_ poller: borrowing Poller, as token: Poller.Token) throws(Errno) {
        // Safe: the server lives for as long as self; its descriptor stays its own.
        let descriptor = FileDescriptor(adopting: unsafe cmicrohttpd_descriptor(server))
        var failure: Errno?
        do throws(Errno) {
            try poller.add(descriptor, for: .readable, as: token)
        } catch {
            failure = error
        }
        descriptor.abandon()
        if let failure { throw failure }
    }

    /// When to run at the latest, of the monotonic clock; nil: not before something is readable.
    func deadline(at now: UInt64) -> UInt64? {
        // Safe: the server lives for as long as self.
        let milliseconds = unsafe cmicrohttpd_timeout(server)
        return milliseconds < 0 ? nil : now + UInt64(milliseconds) * 1_000_000
    }

    /// Answers what can be answered now.
    func run() {
        // Safe: the server lives for as long as self.
        unsafe cmicrohttpd_run(server)
    }

    deinit {
        // Safe: made in init, and nobody can reach it any more.
        unsafe cmicrohttpd_stop(server)
    }
}
