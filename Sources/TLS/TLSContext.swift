internal import COpenSSL

/// Whom TLS sessions trust: the system's certificate store, or anchors of one's own.
@safe
// Unchecked, for the pointer is not Sendable: OpenSSL's contexts are reference-counted and may be
// shared between threads once they are set up, and this one is set up by `init` alone.
public final class TLSContext: @unchecked Sendable {
    // Safe: made by `init`, alive until `deinit`, and never changed between.
    let pointer: OpaquePointer

    /// A context for clients that trusts the certificates of a PEM file, given as its octets, or
    /// the system's store. Nil where the file has no certificate, or one that cannot be read.
    public init?(anchors: [UInt8]? = nil) {
        // Safe: the octets outlive the call; what is made is this object's alone.
        let made =
            unsafe anchors.map { octets in
                unsafe octets.withUnsafeBufferPointer {
                    unsafe copenssl_stream_context($0.baseAddress, $0.count)
                }
            } ?? copenssl_stream_context(nil, 0)
        guard let context = unsafe made else { return nil }
        unsafe pointer = context
    }

    deinit { unsafe SSL_CTX_free(pointer) }
}

/// A session that may be resumed: the next handshake with the same peer is cheaper (RFC 8446, 2.2).
@safe
// Unchecked, for the pointer is not Sendable: the value cannot be copied and holds a reference of its
// own, which OpenSSL counts atomically, so it may go to another thread.
public struct TLSTicket: ~Copyable, @unchecked Sendable {
    // Safe: owned by this value alone, and used by one thread at a time.
    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe SSL_SESSION_free(pointer) }
}
