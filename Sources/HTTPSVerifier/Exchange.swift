internal import CCurl
internal import Certificates

/// What one connection is to do.
struct Attempt {
    var endpoint: Endpoint
    var path = "/"
    var connectTimeout: Double
    var totalTimeout: Double
    var wantsBody = false
    var password: PasswordCredential?
    var clientCertificate: [UInt8]?
    /// With credentials: the leaf that was judged, and no other, may get them.
    var expectedLeaf: [UInt8]?
}

/// One connection to one address under one name, driven by a libcurl multi handle.
///
/// The name gives URL, SNI and Host; the address is only where the socket goes. Nothing is reused:
/// no connection, no session, no cookie, no proxy, no store of anchors. Confined to the thread of
/// its multi handle; the easy handle must be out of the multi handle before the last reference goes.
@safe
final class Exchange {
    let easy: OpaquePointer
    let attempt: Attempt
    private let observer: HandshakeObserver
    private var headerLines: [[UInt8]] = []
    private var body: [UInt8] = []
    /// Safe: each list is made and freed here, and libcurl reads it in between.
    private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
    private let errorText: UnsafeMutablePointer<CChar>

    /// No more of a body is read than this.
    private static let bodyLimit = 65_536
    /// libcurl itself stops at 300 KiB of header.
    private static let headerLimit = 500

    /// Nil where the name is none, or libcurl has no memory.
    init?(_ attempt: Attempt, memory: CertificateMemory) {
        // Safe: the new handle and the new buffer belong to this object, and `deinit` frees both.
        guard let name = attempt.endpoint.reference, let easy = unsafe newEasyHandle() else {
            return nil
        }
        unsafe self.easy = easy
        self.attempt = attempt
        observer = HandshakeObserver(
            expectedLeaf: attempt.expectedLeaf,
            clientCertificate: attempt.clientCertificate,
            memory: memory
        )
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure(name)
    }

    deinit {
        // Safe: these are the only references; the easy handle goes first because it uses the rest.
        unsafe curl_easy_cleanup(UnsafeMutableRawPointer(easy))
        unsafe lists.forEach { unsafe curl_slist_free_all($0) }
        unsafe errorText.deallocate()
    }

    private func configure(_ name: ReferenceName) {
        let endpoint = attempt.endpoint
        let host =
            switch name {
            case .dns(let dns): dns
            case .ip(let ip): ip.isIPv4 ? ip.description : "[\(ip)]"
            }
        // Where TLS comes first, what is spoken inside does not matter: the connection is enough.
        let scheme =
            endpoint.scheme.isUpgraded || endpoint.scheme == .http ? endpoint.scheme : .https
        set(CURLOPT_URL, "\(scheme.rawValue)://\(host):\(endpoint.port)\(attempt.path)")
        set(CURLOPT_CONNECT_TO, ["::\(endpoint.authority)"])
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NETRC, 0)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        set(CURLOPT_SSL_VERIFYHOST, 0)
        set(CURLOPT_SSL_VERIFYPEER, 0)
        set(CURLOPT_CAINFO, nil)
        set(CURLOPT_CAPATH, nil)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(attempt.connectTimeout * 1_000))
        set(CURLOPT_TIMEOUT_MS, Int(attempt.totalTimeout * 1_000))
        if endpoint.scheme.isHTTP {
            set(CURLOPT_USERAGENT, "detour")
        } else {
            set(CURLOPT_CONNECT_ONLY, 1)
            set(CURLOPT_SSL_ENABLE_ALPN, 0)
            if endpoint.scheme.isUpgraded { set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
        }
        if let password = attempt.password {
            set(CURLOPT_USERNAME, password.user)
            set(CURLOPT_PASSWORD, password.password)
            let scheme = password.method == .digest ? CCURL_AUTH_DIGEST : CCURL_AUTH_BASIC
            set(CURLOPT_HTTPAUTH, Int(scheme))
        }
        installSinks()
    }

    private func installSinks() {
        // Safe: this object owns the easy handle, so it outlives every callback with its address;
        // the error buffer has the CURL_ERROR_SIZE octets that libcurl asks for, and is freed after
        // the handle.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, owner)
        unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, owner)
        unsafe ccurl_set_pointer(handle, CURLOPT_SSL_CTX_DATA, owner)
        unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, owner)
        unsafe ccurl_set_sink(handle, CURLOPT_WRITEFUNCTION) { octets, size, count, owner in
            guard let exchange = unsafe Exchange.of(owner) else { return 0 }
            // Safe: libcurl lends size * count octets for the length of the call.
            let start = unsafe UnsafeRawBufferPointer(start: octets, count: size * count)
            unsafe exchange.append(body: start)
            return size * count
        }
        unsafe ccurl_set_sink(handle, CURLOPT_HEADERFUNCTION) { octets, size, count, owner in
            guard let exchange = unsafe Exchange.of(owner) else { return 0 }
            // Safe: libcurl lends size * count octets for the length of the call.
            let line = unsafe Array(UnsafeRawBufferPointer(start: octets, count: size * count))
            exchange.append(header: line)
            return size * count
        }
        unsafe ccurl_set_context_hook(handle) { _, context, owner in
            guard let exchange = unsafe Exchange.of(owner), let context = unsafe context,
                unsafe exchange.observer.observe(OpaquePointer(context))
            else { return CURLE_SSL_CERTPROBLEM }
            return CURLE_OK
        }
    }

    private static func of(_ owner: UnsafeMutableRawPointer?) -> Exchange? {
        // Safe: `installSinks` passed this very object, alive as said there.
        unsafe owner.map { unsafe Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private func append(body octets: UnsafeRawBufferPointer) {
        let room = Exchange.bodyLimit - body.count
        // Safe: the prefix stays within what libcurl lends.
        if attempt.wantsBody, room > 0 { unsafe body += octets.prefix(room) }
    }

    private func append(header line: [UInt8]) {
        // A status line begins a new response: an interim one, or the answer to a credential.
        if line.starts(with: Array("HTTP/".utf8)) { headerLines = [] }
        if headerLines.count < Exchange.headerLimit { headerLines.append(line) }
    }

    /// What was seen, added to what is known of the endpoint.
    func finish(_ result: CURLcode, into evidence: inout Evidence) {
        evidence.handshake = observer.handshake
        evidence.response = response()
        evidence.phases = phases()
        evidence.failure = failure(result, evidence)
    }

    private func response() -> Evidence.Response? {
        // Safe: the easy handle is alive as long as this object.
        let status = unsafe ccurl_number(handle, CURLINFO_RESPONSE_CODE)
        guard attempt.endpoint.scheme.isHTTP, status > 0 else { return nil }
        let version = unsafe ccurl_number(handle, CURLINFO_HTTP_VERSION)
        let versions = [1: "1.0", 2: "1.1", 3: "2", 30: "3"]
        var response = Evidence.Response(version: versions[version] ?? "?", status: status)
        for line in headerLines {
            guard let colon = line.firstIndex(of: 0x3A), colon > 0 else { continue }
            func text(_ octets: ArraySlice<UInt8>) -> String {
                String(decoding: octets, as: UTF8.self)
            }
            let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
            var value = line[(colon + 1)...].drop(while: isSpace)
            while let last = value.last, isSpace(last) { value.removeLast() }
            response.headers.append(
                Evidence.HeaderField(name: text(line[..<colon]), value: text(value.prefix(4_096)))
            )
        }
        if attempt.wantsBody { response.body = String(decoding: body, as: UTF8.self) }
        return response
    }

    private func phases() -> Evidence.Phases {
        func seconds(_ info: CURLINFO) -> Double? {
            // Safe: the easy handle is alive as long as this object.
            let microseconds = unsafe ccurl_time(handle, info)
            return microseconds > 0 ? Double(microseconds) / 1_000_000 : nil
        }
        return Evidence.Phases(
            connect: seconds(CURLINFO_CONNECT_TIME_T),
            tls: seconds(CURLINFO_APPCONNECT_TIME_T),
            firstOctet: seconds(CURLINFO_STARTTRANSFER_TIME_T),
            total: seconds(CURLINFO_TOTAL_TIME_T)
        )
    }

    private func failure(_ result: CURLcode, _ evidence: Evidence) -> Evidence.Failure? {
        if result == CURLE_OK { return nil }
        // Safe: libcurl ends both texts with a zero octet.
        var message = unsafe String(cString: errorText)
        if message.isEmpty { message = unsafe String(cString: curl_easy_strerror(result)) }
        let stage: String
        if result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_URL_MALFORMAT {
            stage = "dns"
        } else if evidence.handshake == nil, evidence.phases.connect == nil {
            // libcurl makes the SSL_CTX when the connection stands, so a handshake means it did.
            stage = "connect"
        } else if attempt.endpoint.scheme != .http, evidence.handshake?.isComplete != true {
            stage = "tls"
        } else {
            stage = "http"
        }
        return Evidence.Failure(
            stage: stage,
            isTimeout: result == CURLE_OPERATION_TIMEDOUT,
            code: Int(result.rawValue),
            message: message
        )
    }

    // Setters. libcurl copies texts; lists and callbacks stay ours.

    /// Safe: the easy handle is alive as long as this object, and all of this is on one thread.
    private var handle: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(easy) }

    private func set(_ option: CURLoption, _ value: Int) {
        // Safe: callers pass options that take a long, which is what libcurl then reads.
        unsafe ccurl_set_number(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: String?) {
        // Safe: callers pass options that take a text; NUL-terminated for the call, or NULL.
        unsafe ccurl_set_text(handle, option, value)
    }

    private func set(_ option: CURLoption, _ values: [String]) {
        // Safe: libcurl copies the texts into the list, which `lists` keeps until `deinit`.
        var list: UnsafeMutablePointer<curl_slist>?
        for value in values { unsafe list = unsafe curl_slist_append(list, value) }
        guard let list = unsafe list else { return }
        unsafe lists.append(list)
        unsafe ccurl_set_list(handle, option, list)
    }
}

private func newEasyHandle() -> OpaquePointer? {
    // Safe: a new handle belongs to nobody yet.
    unsafe curl_easy_init().map { OpaquePointer($0) }
}
