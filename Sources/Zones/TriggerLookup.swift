// Entries of a policy zone that apply for an address, not for a name.

public import DNS

extension ZoneIndex {
    /// What the entry for a client says about `type`; nil where none is for this client.
    func lookup(client address: IPAddress, type: RecordType) -> Lookup? {
        guard !clientTriggers.isEmpty, let value = clientTriggers.value(for: address) else {
            return nil
        }
        return decide(Node(offset: Int(value) &* 8), type: type, label: 0)
    }

    /// What the entry for answers that hold `address` says about `type`; nil where there is none.
    public func lookup(response address: IPAddress, type: RecordType) -> Lookup? {
        guard let value = responseTriggers.value(for: address) else { return nil }
        return decide(Node(offset: Int(value) &* 8), type: type, label: 0)
    }

    /// Whether a client's address decides here before the name does.
    public func hasTrigger(for client: IPAddress) -> Bool {
        !clientTriggers.isEmpty && clientTriggers.value(for: client) != nil
    }

    /// Whether addresses in forwarded answers have to be looked up.
    public var hasResponseTriggers: Bool { !responseTriggers.isEmpty }
}
