internal import CLinux

/// A batch of datagrams that one recvmmsg(2) brings in
/// (`UDPSocket.receive`); its buffers are allocated once.
@safe
public struct InboundDatagrams: ~Copyable {
    /// Where a datagram came from, and how.
    @frozen
    public struct Origin: BitwiseCopyable, Sendable {
        /// Who sent it; not set on a connected socket.
        public let peer: SocketAddress
        /// The address of ours that it was sent to, its scope the interface it came in on; nil where
        /// the socket is bound to one address and so does not report it. The port is not set.
        public let destination: SocketAddress?
        /// Whether the datagram was longer than the buffer, and its end is lost.
        public let isCut: Bool
    }

    /// How many datagrams a batch takes at most.
    public let capacity: Int
    /// How many datagrams the last receive brought.
    public private(set) var count = 0

    // Each points to `capacity` elements for as long as self lives; the octets are as many strides.
    private let headers: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    private let envelopes: UnsafeMutablePointer<clinux_envelope>
    private let octets: OctetBuffer

    /// The longest datagram that is taken whole.
    public let longest: Int
    private let stride: Int

    /// A batch of `capacity` datagrams of up to `longest` octets. Pages that no datagram reaches
    /// take no memory.
    public init(capacity: Int = 32, longest: Int = 4096) {
        precondition(capacity > 0 && longest > 0, "room for a datagram")
        self.capacity = capacity
        self.longest = longest
        // Not a multiple of 4 096: the beginnings of all buffers would share one set of the cache.
        stride = longest + 192
        octets = OctetBuffer(capacity: capacity * stride)
        // Safe: allocated here, initialised here, freed in deinit; the headers point into the rest,
        // which never moves.
        unsafe headers = .allocate(capacity: capacity)
        unsafe vectors = .allocate(capacity: capacity)
        unsafe envelopes = .allocate(capacity: capacity)
        unsafe envelopes.initialize(repeating: clinux_envelope(), count: capacity)
        for index in 0..<capacity {
            unsafe (vectors + index).initialize(
                to: iovec(
                    iov_base: octets.address(at: index * stride),
                    iov_len: longest
                )
            )
            var header = unsafe mmsghdr()
            unsafe header.msg_hdr.msg_iov = vectors + index
            unsafe header.msg_hdr.msg_iovlen = 1
            unsafe header.msg_hdr.msg_name = UnsafeMutableRawPointer(envelopes + index)
            unsafe (headers + index).initialize(to: header)
        }
        rearm(capacity)
    }

    /// Takes up to a batch of the datagrams that wait on a socket.
    mutating func receive(from descriptor: Int32) throws(Errno) -> Int {
        rearm(count)
        count = 0
        while true {
            // Safe: `capacity` headers, each with room of its own that outlives the call.
            let received = unsafe recvmmsg(
                descriptor,
                headers,
                UInt32(capacity),
                Int32(MSG_DONTWAIT),
                nil
            )
            if received >= 0 {
                count = Int(received)
                return count
            }
            switch Errno.last {
            case .interrupted: continue
            case .wouldBlock: return 0
            case let error: throw error
            }
        }
    }

    /// The octets of datagram `index` of the last batch.
    @_lifetime(borrow self)
    public func octets(at index: Int) -> Span<UInt8> {
        precondition(index >= 0 && index < count, "a datagram of the batch")
        // Safe: below `count`, so the kernel has written this header.
        let length = min(Int(unsafe headers[index].msg_len), longest)
        return octets.octets(index * stride..<index * stride + length)
    }

    /// Where datagram `index` of the last batch came from.
    public func origin(at index: Int) -> Origin {
        precondition(index >= 0 && index < count, "a datagram of the batch")
        // Safe: below `count`, so the kernel has written this header and its envelope.
        var local = clinux_endpoint()
        let hasDestination = unsafe clinux_destination(&headers[index].msg_hdr, &local)
        let flags = unsafe headers[index].msg_hdr.msg_flags
        return Origin(
            peer: SocketAddress(unsafe clinux_from_address(&envelopes[index].peer)),
            destination: hasDestination ? SocketAddress(local) : nil,
            isCut: flags & Int32(MSG_TRUNC) != 0
        )
    }

    /// Resets what the kernel has overwritten in the first headers.
    private mutating func rearm(_ used: Int) {
        for index in 0..<used {
            // Safe: `used` is at most `capacity`; the control buffer lies in the envelope.
            unsafe headers[index].msg_hdr.msg_namelen = UInt32(MemoryLayout<clinux_address>.size)
            unsafe headers[index].msg_hdr.msg_control =
                UnsafeMutableRawPointer(envelopes + index) + clinux_control_offset()
            unsafe headers[index].msg_hdr.msg_controllen = clinux_control_size()
            unsafe headers[index].msg_hdr.msg_flags = 0
        }
    }

    deinit {
        // Safe: allocated in init, and nobody can reach them any more.
        unsafe headers.deallocate()
        unsafe vectors.deallocate()
        unsafe envelopes.deallocate()
    }
}
