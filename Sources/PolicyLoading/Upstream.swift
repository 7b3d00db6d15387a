public import Configuration
import DNS
public import Platform
public import Resolver

extension Policy.Upstream {
    /// An upstream in the clear.
    public init(_ address: SocketAddress) {
        self.init(
            address: IPAddress(high: address.high, low: address.low),
            scope: address.scope,
            port: address.port
        )
    }

    /// What the configuration names; nil where this machine lacks the interface.
    public init?(_ configured: Configuration.Address) {
        guard let socket = SocketAddress(scanning: configured.endpoint, port: 53) else {
            return nil
        }
        let identity: Identity? =
            switch configured.identity {
            case .name(let name): .name(name)
            case .address: .address
            case nil: nil
            }
        self.init(
            address: IPAddress(high: socket.high, low: socket.low),
            scope: socket.scope,
            port: socket.port,
            identity: identity
        )
    }
}

extension Policy.Upstream {
    /// The same upstream; where it is asked over TLS, its certificate must lead to these anchors.
    func trusting(_ anchors: Anchors?) -> Policy.Upstream {
        guard identity != nil else { return self }
        return Policy.Upstream(
            address: address,
            scope: scope,
            port: port,
            identity: identity,
            anchors: anchors
        )
    }
}

extension Policy.Upstream: CustomStringConvertible {
    /// As it is configured: `192.0.2.1:53`, `tls://192.0.2.1:853#dns.example`.
    public var description: String {
        let endpoint = SocketAddress(
            high: address.high,
            low: address.low,
            port: port,
            scope: scope
        )
        return switch identity {
        case .name(let name): "tls://\(endpoint)#\(name)"
        case .address: "tls://\(endpoint)"
        case nil: "\(endpoint)"
        }
    }
}
