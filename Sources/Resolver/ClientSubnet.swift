import DNS

/// The network that an asker speaks for: EDNS Client Subnet (RFC 7871).
///
/// Passed on only where the asker sent it; its answer is kept for askers of the same network alone.
struct ClientSubnet: BitwiseCopyable, Equatable {
    /// 1 for IPv4, 2 for IPv6 (IANA "Address Family Numbers").
    var family: UInt16
    /// How many bits of the address are given.
    var prefixLength: UInt8
    /// For how many bits the answer is meant; 0 in queries.
    var scope: UInt8
    /// The address, left-aligned, zeros behind the prefix.
    var high: UInt64
    var low: UInt64

    /// How many octets of the address are sent.
    var addressSize: Int { (Int(prefixLength) + 7) / 8 }

    /// How many octets the option takes, its code and length included.
    var optionSize: Int { 8 + addressSize }

    /// What an option's payload says. Throws `badOPT` where it breaks the rules of RFC 7871, 6.
    init(parsing message: Span<UInt8>, at range: Range<Int>) throws(WireError) {
        guard range.count >= 4 else { throw WireError(.badOPT, at: range.lowerBound) }
        family = message.uint16(at: range.lowerBound)
        prefixLength = message[range.lowerBound + 2]
        scope = message[range.lowerBound + 3]
        (high, low) = (0, 0)
        let longest = family == 1 ? 32 : 128
        guard Int(prefixLength) <= longest, Int(scope) <= longest,
            range.count == 4 + addressSize
        else { throw WireError(.badOPT, at: range.lowerBound) }
        for index in 0..<addressSize {
            let octet = UInt64(message[range.lowerBound + 4 + index])
            if index < 8 {
                high |= octet << UInt64(56 - index * 8)
            } else {
                low |= octet << UInt64(120 - index * 8)
            }
        }
        // A Swift shift by the width or more gives zero, so each length comes out right.
        let bits = UInt64(prefixLength)
        guard high & (UInt64.max >> bits) == 0,
            bits < 64 || low & (UInt64.max >> (bits - 64)) == 0
        else { throw WireError(.badOPT, at: range.lowerBound) }
    }

    /// The network of so many bits that this one is in; its scope tells it from one of as many bits
    /// that somebody speaks for.
    func covering(_ length: Int) -> ClientSubnet {
        var network = self
        network.prefixLength = UInt8(truncatingIfNeeded: length)
        network.scope = network.prefixLength
        network.high &= ~(UInt64.max >> UInt64(min(length, 64)))
        network.low &= length <= 64 ? 0 : ~(UInt64.max >> UInt64(length - 64))
        return network
    }

    /// A number that differs for different networks, for the cache's key. Askers choose their
    /// networks, so it is hashed with a secret: the process's own, of the standard library's hash.
    var fingerprint: UInt64 {
        var hasher = Hasher()
        hasher.combine(family)
        hasher.combine(prefixLength)
        hasher.combine(scope)
        hasher.combine(high)
        hasher.combine(low)
        return UInt64(truncatingIfNeeded: hasher.finalize()) | 1
    }

    /// Whether a response's option is about the network that was sent.
    func isAnswered(by other: ClientSubnet) -> Bool {
        family == other.family && prefixLength == other.prefixLength && high == other.high
            && low == other.low
    }

    /// Appends the option, with another scope.
    func append(to writer: inout MessageWriter, scope: UInt8) throws(WireError) {
        try writer.append(OptionCode.clientSubnet.rawValue)
        try writer.append(UInt16(truncatingIfNeeded: 4 + addressSize))
        try writer.append(family)
        try writer.append(prefixLength)
        try writer.append(scope)
        for index in 0..<addressSize { try writer.append(octet(index)) }
    }

    /// Octet `index` of the address.
    func octet(_ index: Int) -> UInt8 {
        UInt8(
            truncatingIfNeeded: index < 8
                ? high >> UInt64(56 - index * 8) : low >> UInt64(120 - index * 8)
        )
    }
}
