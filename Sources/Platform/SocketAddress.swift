internal import CLinux

/// Where a socket is: an IPv4 or IPv6 address, a port and, for link-local IPv6, an interface.
///
/// The address is 128 bits as two big-endian integers, an IPv4 address in its IPv4-mapped form
/// (RFC 4291, 2.5.5.2). Trivial: 24 octets that hold no reference.
@frozen
public struct SocketAddress: Hashable, Sendable, BitwiseCopyable {
    /// The first eight octets of the address as a big-endian integer.
    public var high: UInt64
    /// The last eight octets of the address as a big-endian integer.
    public var low: UInt64
    /// The index of the interface that a link-local address is meant on (RFC 4007), or 0.
    public var scope: UInt32
    /// The port.
    public var port: UInt16

    /// An address made of two halves, a port and a scope.
    @inlinable
    public init(high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0) {
        self.high = high
        self.low = low
        self.port = port
        self.scope = scope
    }

    /// The IPv4 address of a big-endian integer: 0x7F000001 is 127.0.0.1.
    @inlinable
    public init(ipv4: UInt32, port: UInt16) {
        self.init(high: 0, low: 0x0000_FFFF_0000_0000 | UInt64(ipv4), port: port)
    }

    /// Every address of the family, to bind to: `0.0.0.0` or `[::]`.
    @inlinable
    public static func any(ipv4: Bool, port: UInt16) -> SocketAddress {
        ipv4 ? SocketAddress(ipv4: 0, port: port) : SocketAddress(high: 0, low: 0, port: port)
    }

    /// Whether this is an IPv4 address.
    @inlinable
    public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Whether this is `0.0.0.0` or `[::]`.
    @inlinable
    public var isAny: Bool { high == 0 && (low == 0 || low == 0x0000_FFFF_0000_0000) }

    /// Whether this is an IPv6 address that means something on one link only (`fe80::/10`).
    @inlinable
    public var isLinkLocal: Bool { high >> 54 == 0x3FA }

    /// The same address with another port.
    @inlinable
    public func withPort(_ port: UInt16) -> SocketAddress {
        SocketAddress(high: high, low: low, port: port, scope: scope)
    }
}

extension SocketAddress {
    init(_ endpoint: clinux_endpoint) {
        self.init(
            high: endpoint.high,
            low: endpoint.low,
            port: endpoint.port,
            scope: endpoint.scope
        )
    }

    var endpoint: clinux_endpoint {
        clinux_endpoint(high: high, low: low, scope: scope, port: port)
    }

    var family: Int32 { isIPv4 ? AF_INET : AF_INET6 }
}
