import DNS
public import Resolver

/// Who asks the question that is explained, as a command line or a request says it.
public struct ExplainedClient: Sendable {
    /// Its address; nil: loopback, or one of the view's.
    public var client: String?
    /// The address of ours that it asks; nil: loopback, or one of the view's.
    public var server: String?
    /// A view that it has; nil: the one that its address gives it.
    public var view: String?
    /// Whether it asks over TCP.
    public var isStream: Bool

    /// Who asks.
    public init(
        client: String? = nil,
        server: String? = nil,
        view: String? = nil,
        isStream: Bool = false
    ) {
        self.client = client
        self.server = server
        self.view = view
        self.isStream = isStream
    }

    /// The client under a policy; throws where there is no such address or view, or the view is
    /// not the one that the addresses give.
    public func client(under policy: Policy) throws(ControlError) -> Client {
        let address = try ExplainedClient.address(client)
        let local = try ExplainedClient.address(server)
        guard let view else {
            let loopback = IPAddress(ipv4: 0x7F00_0001)
            return Client(
                address: address ?? loopback,
                localAddress: local ?? loopback,
                transport: isStream ? .tcp : .udp,
                returnPath: Client.ReturnPath(0, 0)
            )
        }
        guard policy.views.contains(where: { $0.name == view }) else {
            throw ControlError(view: view, amongThose: policy.views.map(\.name))
        }
        guard
            let client = policy.client(
                of: view,
                from: address,
                at: local,
                over: isStream ? .tcp : .udp
            )
        else {
            throw ControlError(
                .invalid,
                "nobody who asks so has the view \(view); name who does with --client or --server"
            )
        }
        return client
    }

    private static func address(_ text: String?) throws(ControlError) -> IPAddress? {
        guard let text else { return nil }
        guard let address = IPAddress(scanning: text) else {
            throw ControlError(.malformed, "\(text) is not an address")
        }
        return address
    }
}

extension ControlError {
    /// There is no view with a name.
    init(view: String, amongThose names: [String]) {
        let there =
            names.isEmpty
            ? "the configuration has none" : "there are " + names.joined(separator: ", ")
        self.init(.notFound, "there is no view \(view); \(there)")
    }
}
