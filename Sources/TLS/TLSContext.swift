internal import COpenSSL

/// Whom TLS sessions trust: the system's certificate store, or anchors of one's own.
@safe
public final class TLSContext: @unchecked Sendable {
    // Safe: OpenSSL's contexts are reference-counted and may be shared between threads once they
    // are set up, and this one is set up by init alone.
    let pointer: OpaquePointer

    /// A context for clients that trusts the certificates of a PEM file, or the system's store
    /// where there is none. Nil where the file has no certificate.
    public init?(anchors: String? = nil) {
        // Safe: the path outlives the call; what is made is this object's alone.
        let made =
            unsafe anchors.map { unsafe copenssl_stream_context($0) }
            ?? copenssl_stream_context(nil)
        guard let context = unsafe made else { return nil }
        unsafe pointer = context
    }

    deinit { unsafe SSL_CTX_free(pointer) }
}

/// A session that may be resumed: the next handshake with the same peer is cheaper (RFC 8446, 2.2).
@safe
public struct TLSTicket: ~Copyable, @unchecked Sendable {
    // Safe: owned by this value alone, and used by one thread at a time.
    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe SSL_SESSION_free(pointer) }
}
