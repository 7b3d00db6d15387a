internal import CLinux

/// Datagrams that one sendmmsg(2) sends (`UDPSocket.send`), written one behind the other into one buffer.
///
/// A message is written into `room` and becomes a datagram by `append`; one that is written and
/// not appended costs nothing: the next overwrites it. A draft outlives sending, so that one can
/// first be written, then be found to belong to another socket than those that wait.
@safe
public struct OutboundDatagrams: ~Copyable {
    /// What became of a batch.
    @frozen
    public struct Outcome: BitwiseCopyable, Sendable {
        /// How many the kernel took.
        public var sent: Int
        /// How many it did not take.
        public var lost: Int
        /// Why it did not take the last of those.
        public var error: Errno?
    }

    /// How many datagrams wait to be sent.
    public private(set) var count = 0
    private var used = 0
    private let capacity: Int

    // Each points to `capacity` elements, the octets to `size`, for as long as self lives.
    private let headers: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    private let envelopes: UnsafeMutablePointer<clinux_envelope>
    private var octets: OctetBuffer

    /// The longest message that can be written.
    public static var longest: Int { 65_535 }

    /// A batch of `capacity` datagrams.
    public init(capacity: Int = 32) {
        self.capacity = capacity
        // Most are short and lie together in the first pages; the rest is never touched.
        octets = OctetBuffer(capacity: capacity * 4096 + OutboundDatagrams.longest)
        // Safe: allocated here, initialised here, freed in deinit; headers point to what never moves.
        unsafe headers = .allocate(capacity: capacity)
        unsafe vectors = .allocate(capacity: capacity)
        unsafe envelopes = .allocate(capacity: capacity)
        unsafe vectors.initialize(repeating: iovec(), count: capacity)
        unsafe envelopes.initialize(repeating: clinux_envelope(), count: capacity)
        for index in 0..<capacity {
            var header = unsafe mmsghdr()
            unsafe header.msg_hdr.msg_iov = vectors + index
            unsafe header.msg_hdr.msg_iovlen = 1
            unsafe (headers + index).initialize(to: header)
        }
    }

    /// Whether the batch has to be sent before another message can be written.
    public var isFull: Bool {
        count == capacity
            || count > 0 && octets.capacity - used < OutboundDatagrams.longest
    }

    /// Room for the next message, at least `longest` octets unless the batch is full.
    @_lifetime(&self)
    public mutating func room() -> MutableSpan<UInt8> {
        if count == 0 { used = 0 }
        return octets.room(from: used)
    }

    /// The first octets of what was last written into `room`.
    @_lifetime(borrow self)
    public func draft(_ length: Int) -> Span<UInt8> { octets.octets(used..<used + length) }

    /// Makes the first octets of `room` a datagram for `peer`.
    ///
    /// It leaves from `source` where one is given, and then through the interface `source.scope`
    /// where that is not 0. Traps when the batch is full.
    public mutating func append(_ length: Int, to peer: SocketAddress, from source: SocketAddress?)
    {
        let index = count
        append(length)
        // Safe: `append` has checked that this header is there, and its envelope with it.
        unsafe headers[index].msg_hdr.msg_name = UnsafeMutableRawPointer(envelopes + index)
        unsafe headers[index].msg_hdr.msg_namelen = clinux_to_address(
            peer.endpoint,
            &envelopes[index].peer
        )
        if let source {
            unsafe headers[index].msg_hdr.msg_control =
                UnsafeMutableRawPointer(envelopes + index) + clinux_control_offset()
            unsafe clinux_set_source(&headers[index].msg_hdr, source.endpoint)
        }
    }

    /// Makes the first octets of `room` a datagram for the peer that the socket is connected to.
    public mutating func append(_ length: Int) {
        precondition(count < capacity && length >= 0 && length <= octets.capacity - used)
        // Safe: the header and vector are below `capacity`; the run is inside the octets.
        unsafe vectors[count].iov_base = octets.address(at: used)
        unsafe vectors[count].iov_len = length
        unsafe headers[count].msg_hdr.msg_name = nil
        unsafe headers[count].msg_hdr.msg_namelen = 0
        unsafe headers[count].msg_hdr.msg_control = nil
        unsafe headers[count].msg_hdr.msg_controllen = 0
        count += 1
        used += length
    }

    /// Sends the batch, and empties it.
    mutating func send(over descriptor: Int32) -> Outcome {
        var outcome = Outcome(sent: 0, lost: 0, error: nil)
        var next = 0
        while next < count {
            // Safe: `next` is below `count`, and each header points to octets that stay put.
            let result = unsafe sendmmsg(
                descriptor,
                headers + next,
                UInt32(count - next),
                Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            )
            if result > 0 {
                outcome.sent += Int(result)
                next += Int(result)
                continue
            }
            let error = Errno.last
            if error == .interrupted { continue }
            let abandoned = error == .wouldBlock ? count - next : 1
            outcome.error = error
            outcome.lost += abandoned
            next += abandoned
        }
        count = 0
        return outcome
    }

    deinit {
        // Safe: allocated in init, and nobody can reach them any more.
        unsafe headers.deallocate()
        unsafe vectors.deallocate()
        unsafe envelopes.deallocate()
    }
}
