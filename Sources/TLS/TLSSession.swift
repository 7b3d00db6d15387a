internal import COpenSSL
public import Platform

/// One TLS session between two queues of octets: what comes from the peer goes in, what is for the
/// peer comes out. It has no descriptor and never blocks; whoever owns the socket moves the octets.
@safe
// Unchecked, for the pointer is not Sendable: the value cannot be copied and owns the session alone, so
// only one thread has it at a time.
public struct TLSSession: ~Copyable, @unchecked Sendable {
    // Safe: owned by this value alone, and used by one thread at a time.
    private let pointer: OpaquePointer
    /// Whether application data can be sent: the peer is who it should be.
    public private(set) var isEstablished = false

    /// What reading came to.
    @frozen
    public enum Reading: Equatable, Sendable {
        /// So many octets stand in the room.
        case octets(Int)
        /// More must come from the peer.
        case needsMore
        /// The peer will send no more.
        case end
    }

    /// Why a session came to its end.
    public struct Failure: Error, Equatable {
        /// What is wrong with the peer's certificate; nil: it is something else.
        public var verdict: Verdict?
        /// What OpenSSL says, as `certificate has expired`.
        public let reason: String

        /// What is wrong with a certificate.
        public enum Verdict: Equatable, Sendable {
            /// It is for other names, or addresses, than the peer's.
            case foreign
            /// It does not lead to an anchor.
            case untrusted
            /// Its time is over.
            case expired
            /// Its time has not come.
            case notYetValid
            /// Anything else, as the reason says.
            case other
        }
    }

    /// A client's session, which begins when its first octets are sent.
    ///
    /// The peer must show a certificate for `name`, or where that is nil for `address`. `ticket` is of
    /// a former session with the same peer. Nil when there is no memory.
    public init?(
        client context: TLSContext,
        name: String?,
        address: SocketAddress,
        resuming ticket: borrowing TLSTicket?
    ) {
        let octets = TLSSession.octets(of: address)
        let former = unsafe TLSSession.pointer(of: ticket)
        // Safe: octets and name outlive the call, and OpenSSL copies them; it takes a reference of
        // its own to the former session.
        let made = unsafe octets.withUnsafeBufferPointer { ip in
            unsafe name.map {
                unsafe copenssl_stream_client(
                    context.pointer,
                    $0,
                    ip.baseAddress,
                    ip.count,
                    former
                )
            }
                ?? copenssl_stream_client(
                    context.pointer,
                    nil,
                    ip.baseAddress,
                    ip.count,
                    former
                )
        }
        guard let session = unsafe made else { return nil }
        unsafe pointer = session
    }

    deinit { unsafe SSL_free(pointer) }

    private static func pointer(of ticket: borrowing TLSTicket?) -> OpaquePointer? {
        switch ticket {
        case .some(let ticket): unsafe ticket.pointer
        case .none: nil
        }
    }

    private static func octets(of address: SocketAddress) -> [UInt8] {
        func octets(_ word: UInt64) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - $0 * 8)) }
        }
        return address.isIPv4
            ? Array(octets(address.low).suffix(4)) : octets(address.high) + octets(address.low)
    }

    /// Takes octets that came from the peer, and goes on with the handshake where it is not done.
    public mutating func receive(_ octets: Span<UInt8>) throws(Failure) {
        // Safe: OpenSSL copies the octets.
        let isTaken = unsafe octets.withUnsafeBufferPointer {
            unsafe copenssl_stream_receive(pointer, $0.baseAddress, $0.count)
        }
        guard isTaken == 1 else { throw Failure(reason: "out of memory") }
        try advance()
    }

    /// Begins or goes on with the handshake.
    public mutating func advance() throws(Failure) {
        guard !isEstablished else { return }
        // Safe: the session is this value's.
        switch unsafe copenssl_stream_handshake(pointer) {
        case 1: isEstablished = true
        case 0: break
        default: throw failure()
        }
    }

    /// Decrypts what has come, to a buffer from `start` on, of which there must be some left.
    public mutating func read(
        into buffer: inout OctetBuffer,
        at start: Int
    ) throws(Failure) -> Reading {
        var room = buffer.room(from: start)
        // Safe: OpenSSL writes at most `count` octets to the span's memory.
        let result = unsafe room.withUnsafeMutableBufferPointer {
            unsafe copenssl_stream_read(pointer, $0.baseAddress, $0.count)
        }
        switch result {
        case 1...: return .octets(result)
        case 0: return .needsMore
        case -1: return .end
        default: throw failure()
        }
    }

    /// Encrypts all octets of a queue, and empties it. The session must be established.
    public mutating func write(_ queue: inout OctetQueue) throws(Failure) {
        guard !queue.isEmpty else { return }
        guard encrypt(queue.octets()) else { throw failure() }
        queue.removeAll()
    }

    private func encrypt(_ octets: Span<UInt8>) -> Bool {
        // Safe: OpenSSL reads the span's octets during the call.
        unsafe octets.withUnsafeBufferPointer {
            unsafe copenssl_stream_write(pointer, $0.baseAddress, $0.count) == 1
        }
    }

    /// Adds what is to be sent to the peer to the end of a queue, by way of `scratch`.
    public mutating func send(to queue: inout OctetQueue, scratch: inout OctetBuffer) {
        while true {
            var room = scratch.room(from: 0)
            // Safe: OpenSSL writes at most `count` octets to the span's memory.
            let count = unsafe room.withUnsafeMutableBufferPointer {
                unsafe copenssl_stream_send(pointer, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            queue.append(0..<count, of: scratch)
        }
    }

    /// What a later session with the same peer can resume, once the peer has offered it.
    public func ticket() -> TLSTicket? {
        // Safe: what is given is the ticket's alone.
        guard let session = unsafe copenssl_stream_session(pointer) else { return nil }
        return unsafe TLSTicket(adopting: session)
    }

    /// Whether this session resumed a former one.
    public var isResumed: Bool {
        // Safe: the session is this value's, and is read alone.
        unsafe copenssl_stream_was_resumed(pointer) == 1
    }

    private func failure() -> Failure {
        var text = [CChar](repeating: 0, count: 160)
        // Safe: OpenSSL writes at most `count` octets, the last of them zero.
        unsafe text.withUnsafeMutableBufferPointer {
            unsafe copenssl_stream_reason(pointer, $0.baseAddress, $0.count)
        }
        let octets = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return Failure(verdict: verdict, reason: String(decoding: octets, as: UTF8.self))
    }

    private var verdict: Failure.Verdict? {
        // Safe: the session is this value's, and is read alone.
        switch Int32(truncatingIfNeeded: unsafe copenssl_stream_verdict(pointer)) {
        case X509_V_OK: nil
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .foreign
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .untrusted
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        default: .other
        }
    }
}
