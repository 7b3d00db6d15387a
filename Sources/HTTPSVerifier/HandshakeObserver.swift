// What libcurl's handshake tells us: OpenSSL's callbacks, turned into a value.

internal import COpenSSL
internal import Certificates

/// Collects one connection's handshake. It lives on the thread that drives libcurl, as do all of
/// its callbacks, and its `Exchange` keeps it alive for longer than the SSL_CTX.
final class HandshakeObserver {
    private(set) var handshake: Evidence.Handshake?
    /// Refuse a server whose leaf is another: credentials go to the one that was judged.
    let expectedLeaf: [UInt8]?
    /// A client certificate and its key in PEM.
    let clientCertificate: [UInt8]?

    private let memory: CertificateMemory
    private var presented: [[UInt8]] = []

    init(expectedLeaf: [UInt8]?, clientCertificate: [UInt8]?, memory: CertificateMemory) {
        self.memory = memory
        self.expectedLeaf = expectedLeaf
        self.clientCertificate = clientCertificate
    }

    /// Watches the context that libcurl made; false where OpenSSL had no memory, or the client
    /// certificate does not fit its key.
    func observe(_ context: OpaquePointer) -> Bool {
        handshake = Evidence.Handshake()
        var hooks = HandshakeObserver.hooks
        // Safe: the exchange keeps this observer until libcurl has freed the context.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe copenssl_observe(context, &hooks, owner) == 1 else { return false }
        guard let clientCertificate else { return true }
        // Safe: OpenSSL copies what it reads from the array during the call.
        let isUsed = unsafe clientCertificate.withUnsafeBufferPointer {
            unsafe copenssl_use_client_certificate(context, $0.baseAddress, $0.count) == 1
        }
        handshake?.gaveClientCertificate = isUsed
        return isUsed
    }

    // Safe: these functions capture nothing. OpenSSL hands each the owner that `observe` gave it,
    // and lends the connection, and `count` octets, for the length of the call.
    private static let hooks = unsafe copenssl_hooks(
        certificates: { owner, version, octets, count in
            let message = unsafe Array(UnsafeBufferPointer(start: octets, count: count))
            unsafe observer(owner)?.certificatesCame(message, version: version)
        },
        certificate_request: { owner, ssl in
            guard let ssl = unsafe ssl else { return }
            unsafe observer(owner)?.certificateIsRequested(on: ssl)
        },
        complete: { owner, ssl in
            guard let ssl = unsafe ssl else { return }
            unsafe observer(owner)?.completed(on: ssl)
        },
        alert: { owner, _, description, wasReceived in
            // close_notify is how a connection ends well.
            guard wasReceived != 0, description != 0 else { return }
            unsafe observer(owner)?.handshake?.alert = Int(description)
        },
        accepts: { owner, leaf, count in
            guard let expected = unsafe observer(owner)?.expectedLeaf else { return 1 }
            let isSame = unsafe UnsafeBufferPointer(start: leaf, count: count).elementsEqual(
                expected
            )
            return isSame ? 1 : 0
        }
    )

    private static func observer(_ owner: UnsafeMutableRawPointer?) -> HandshakeObserver? {
        // Safe: `observe` passed this very object, alive as said there.
        unsafe owner.map {
            unsafe Unmanaged<HandshakeObserver>.fromOpaque($0).takeUnretainedValue()
        }
    }

    private func certificatesCame(_ message: [UInt8], version: Int32) {
        presented = CertificateMessage.certificates(message, version: version)
        handshake?.chain = presented.map { base64($0) }
    }

    private func certificateIsRequested(on ssl: OpaquePointer) {
        handshake?.wantsClientCertificate = true
        // Safe: the connection is alive during its callback, and `index` stays below the count.
        let count = unsafe min(copenssl_requested_ca_count(ssl), 64)
        for index in 0..<max(0, count) {
            var encoding: UnsafeMutablePointer<UInt8>?
            let length = unsafe copenssl_requested_ca_der(ssl, index, &encoding)
            guard length > 0, let start = unsafe encoding else { continue }
            // Safe: OpenSSL allocated `length` octets, freed only after this copy.
            let der = unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
            unsafe copenssl_free(start)
            handshake?.clientAuthorities.append(base64(der))
        }
    }

    private func completed(on ssl: OpaquePointer) {
        handshake?.isComplete = true
        // The handshake has parsed the chain, which takes longer than to judge it.
        for (index, der) in presented.enumerated() where !memory.knows(der) {
            // Safe: OpenSSL reads the octets during the call; the reference goes to the memory.
            let parsed = unsafe der.withUnsafeBufferPointer {
                unsafe copenssl_peer_certificate(ssl, Int32(index), $0.baseAddress, $0.count)
            }
            if let parsed = unsafe parsed { unsafe memory.adopt(parsed, der: der) }
        }
        // Safe: the connection is alive during its callback; every text and buffer that it lends
        // is copied before the callback ends.
        handshake?.version = unsafe String(cString: SSL_get_version(ssl))
        if let cipher = unsafe SSL_get_current_cipher(ssl) {
            handshake?.cipher = unsafe String(cString: SSL_CIPHER_get_name(cipher))
        }
        if let group = unsafe copenssl_group_name(ssl) {
            handshake?.group = unsafe String(cString: group)
        }
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &length)
        if length > 0 {
            let selected = unsafe UnsafeBufferPointer(start: name, count: Int(length))
            handshake?.applicationProtocol = unsafe String(decoding: selected, as: UTF8.self)
        }
        var response: UnsafePointer<UInt8>?
        // Safe: the connection lends `count` octets, which are copied at once.
        let count = unsafe copenssl_stapled_response(ssl, &response)
        if count > 0 {
            let staple = unsafe Array(UnsafeBufferPointer(start: response, count: count))
            handshake?.staple = base64(staple)
        }
    }
}

/// A Certificate message without its header (RFC 8446, 4.4.2; RFC 5246, 7.4.2).
enum CertificateMessage {
    /// The certificates, as far as the message holds together. At most 4 MiB come in.
    static func certificates(_ message: [UInt8], version: Int32) -> [[UInt8]] {
        var position = 0
        func length(_ octets: Int) -> Int? {
            guard position + octets <= message.count else { return nil }
            let value = message[position..<position + octets].reduce(0) { $0 << 8 | Int($1) }
            position += octets
            return position + value <= message.count ? value : nil
        }
        let isTLS13 = version >= 0x0304
        if isTLS13 {
            guard let context = length(1) else { return [] }
            position += context
        }
        guard let list = length(3) else { return [] }
        let end = position + list
        var certificates: [[UInt8]] = []
        while position < end {
            guard let count = length(3) else { break }
            certificates.append(Array(message[position..<position + count]))
            position += count
            if isTLS13 {
                guard let extensions = length(2) else { break }
                position += extensions
            }
        }
        return certificates
    }
}
