/// An IPv4 or IPv6 address, 128 bits; an IPv4 address in its IPv4-mapped form (RFC 4291, 2.5.5.2).
///
/// So a dual-stack socket's `::ffff:192.0.2.1` and an IPv4 socket's `192.0.2.1` are one address.
@frozen
public struct IPAddress: Hashable, Sendable, BitwiseCopyable {
    /// The first eight octets as a big-endian integer.
    public let high: UInt64
    /// The last eight octets as a big-endian integer.
    public let low: UInt64

    /// The address made of two halves.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The IPv4 address of a big-endian integer: 0x7F000001 is 127.0.0.1.
    @inlinable
    public init(ipv4: UInt32) { self.init(high: 0, low: 0x0000_FFFF_0000_0000 | UInt64(ipv4)) }

    /// Whether this is an IPv4 address.
    @inlinable
    public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }
}

/// A block of addresses with the same first bits: `10.0.0.0/8`, `fd00::/8`.
@frozen
public struct IPPrefix: Hashable, Sendable, BitwiseCopyable {
    /// The first address; the bits after `length` are zero.
    public let address: IPAddress
    /// How many bits are fixed, 0 to 128; an IPv4 prefix counts from bit 96.
    public let length: UInt8

    /// The block of `length` bits (of 128) that holds `address`; longer than 128 counts as 128.
    @inlinable
    public init(_ address: IPAddress, length: UInt8) {
        self.length = min(length, 128)
        self.address = IPPrefix.masked(address, length: self.length)
    }

    /// Whether the block holds `address`.
    @inlinable
    public func contains(_ address: IPAddress) -> Bool {
        IPPrefix.masked(address, length: length) == self.address
    }

    /// The last address.
    public var lastAddress: IPAddress {
        IPAddress(
            high: address.high | (UInt64.max >> length),
            low: address.low | (length <= 64 ? .max : UInt64.max >> (length - 64))
        )
    }

    @inlinable
    static func masked(_ address: IPAddress, length: UInt8) -> IPAddress {
        // A Swift shift by the width or more gives zero, so both ends of the range come out right.
        IPAddress(
            high: address.high & ~(UInt64.max >> length),
            low: length <= 64 ? 0 : address.low & ~(UInt64.max >> (length - 64))
        )
    }
}
