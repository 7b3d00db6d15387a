public import DNS
public import Zones

// What a client sees: views over the base (SEMANTICS 10).

extension Policy {
    /// What a group of clients sees instead of the base alone.
    public struct View: Sendable {
        /// What messages call it.
        public let name: String
        /// The clients' networks; empty: any client.
        public let clients: [IPPrefix]
        /// The addresses of ours that they ask; empty: any address.
        public let addresses: [IPAddress]
        /// The layers that stand over the base's, in the order of their precedence.
        public let layers: [Layer]
        /// The group that their questions go to where no forward rule says otherwise, as an index of
        /// `Policy.groups`; nil: as everybody's.
        public let group: Int?
        /// Whether anything is forwarded at all.
        public let forwards: Bool

        /// A view.
        public init(
            name: String,
            clients: [IPPrefix] = [],
            addresses: [IPAddress] = [],
            layers: [Layer],
            group: Int? = nil,
            forwards: Bool = true
        ) {
            self.name = name
            self.clients = clients
            self.addresses = addresses
            self.layers = layers
            self.group = group
            self.forwards = forwards
        }
    }

    /// The view that a client has; nil for the base.
    public func view(of client: Client) -> View? {
        let number = horizon.number(for: client)
        return number == 0 ? nil : views[number - 1]
    }

    /// A client that has a view, or the base where none is named, from and at the given addresses or
    /// such as the view selects; nil where nobody was found who has it.
    public func client(
        of view: String?,
        from address: IPAddress? = nil,
        at localAddress: IPAddress? = nil,
        over transport: Transport = .udp
    ) -> Client? {
        let common = ["127.0.0.1", "::1", "192.0.2.1", "2001:db8::1", "10.255.255.254"]
            .compactMap { IPAddress(scanning: $0) }
        let wanted = views.first { $0.name == view }
        // A narrower network may belong to another view, and takes its clients away.
        let known = wanted?.clients.flatMap { [$0.address, $0.lastAddress] } ?? []
        let locals = wanted?.addresses ?? []
        for local in localAddress.map({ [$0] }) ?? (locals.isEmpty ? common : locals) {
            for address in address.map({ [$0] }) ?? (known.isEmpty ? common : known) {
                let client = Client(
                    address: address,
                    localAddress: local,
                    transport: transport,
                    returnPath: Client.ReturnPath(0, 0)
                )
                if self.view(of: client)?.name == view { return client }
            }
        }
        return nil
    }

    /// What has become of the files' names since another policy, in all views; nil where layers or
    /// views are others. Complexity: O(names).
    public func differences(from old: Policy) -> ZoneDifferences? {
        guard views.map(\.name) == old.views.map(\.name) else { return nil }
        let now = [layers] + views.map(\.layers)
        let before = [old.layers] + old.views.map(\.layers)
        guard now.map(\.count) == before.map(\.count) else { return nil }
        var differences = ZoneDifferences()
        for (layer, former) in zip(now.joined(), before.joined()) {
            guard layer.index.kind == former.index.kind else { return nil }
            differences += layer.index.differences(from: former.index)
        }
        return differences
    }

    /// The layers that a client's queries are looked up in, in their order.
    public func layers(for client: Client) -> [Layer] {
        let sight = horizon.sight(for: client)
        return Array(horizon.layers[sight.lower..<sight.upper])
    }
}

/// What each view sees, in a form that a worker keeps: to choose a view costs a look at each
/// selector, and neither a copy nor a reference.
struct Horizon: Sendable {
    /// What one view sees.
    struct Sight: BitwiseCopyable {
        /// Its layers, as a range of the horizon's.
        var lower = 0
        var upper = 0
        /// The upstream group of its questions.
        var group = 0
        /// Whether what is not owned is forwarded, where there are upstreams.
        var forwards = true
        /// Whether addresses in forwarded answers have to be looked up.
        var hasResponseTriggers = false
    }

    private struct Selector: BitwiseCopyable {
        let prefix: IPPrefix
        let address: IPAddress?
        let number: Int

        func selects(_ client: Client) -> Bool {
            prefix.contains(client.address) && (address == nil || address == client.localAddress)
        }
    }

    /// All views' layers, one view's behind another's, the base's first.
    let layers: [Policy.Layer]
    private let sights: [Sight]
    /// In the order of trial: the longest network, at equal length those that name our address.
    private let selectors: [Selector]

    init(base: [Policy.Layer], views: [Policy.View], runtime: Policy.Runtime) {
        let base = (runtime.base.map { [$0] } ?? []) + base
        var layers = base
        var sights = [Horizon.sight(of: layers, 0..<base.count)]
        var selectors: [Selector] = []
        for (index, view) in views.enumerated() {
            let start = layers.count
            if let layer = runtime.views[view.name] { layers.append(layer) }
            layers += view.layers + base
            sights.append(Horizon.sight(of: layers, start..<layers.count, view))
            let any = [IPPrefix(IPAddress(high: 0, low: 0), length: 0)]
            for prefix in view.clients.isEmpty ? any : view.clients {
                for address in view.addresses.isEmpty ? [nil] : view.addresses.map({ $0 }) {
                    selectors.append(
                        Selector(prefix: prefix, address: address, number: index + 1)
                    )
                }
            }
        }
        self.layers = layers
        self.sights = sights
        // Swift's sort keeps the order of equals: the first view that is listed.
        self.selectors = selectors.sorted { a, b in
            if a.prefix.length != b.prefix.length { return a.prefix.length > b.prefix.length }
            return a.address != nil && b.address == nil
        }
    }

    private static func sight(
        of layers: [Policy.Layer],
        _ range: Range<Int>,
        _ view: Policy.View? = nil
    ) -> Sight {
        Sight(
            lower: range.lowerBound,
            upper: range.upperBound,
            group: view?.group ?? 0,
            forwards: view?.forwards ?? true,
            hasResponseTriggers: layers[range].contains { $0.index.hasResponseTriggers }
        )
    }

    /// The number of a client's view; 0 is the base.
    func number(for client: Client) -> Int {
        for index in selectors.indices where selectors[index].selects(client) {
            return selectors[index].number
        }
        return 0
    }

    /// What a client sees.
    func sight(for client: Client) -> Sight { sights[number(for: client)] }
}
