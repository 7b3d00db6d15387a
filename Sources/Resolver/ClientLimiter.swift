public import DNS
import Synchronization

/// Holds clients to their limits. Each worker has its own; what they count in is shared.
public struct ClientLimiter: Sendable {
    private let table: ClientTable
    private let limits: Policy.Limits
    /// The time that a query takes off a client's allowance, and the whole allowance; nanoseconds.
    private let interval: UInt64
    private let allowance: UInt64
    /// Which bits make a client.
    private let ipv4Mask: UInt64
    private let ipv6Mask: (high: UInt64, low: UInt64)

    /// A limiter that counts in a table.
    public init(_ limits: Policy.Limits, in table: ClientTable) {
        self.table = table
        self.limits = limits
        interval = limits.queries > 0 ? 1_000_000_000 / UInt64(limits.queries) : 0
        allowance = interval * UInt64(max(1, limits.burst))
        ipv4Mask = ~(UInt64.max >> UInt64(32 + limits.ipv4Prefix))
        ipv6Mask = (
            ~(UInt64.max >> UInt64(limits.ipv6Prefix)),
            limits.ipv6Prefix <= 64 ? 0 : ~(UInt64.max >> UInt64(limits.ipv6Prefix - 64))
        )
    }

    /// The same counts under other limits.
    public func adopting(_ limits: Policy.Limits) -> ClientLimiter {
        ClientLimiter(limits, in: table)
    }

    /// The slots of a client.
    @inline(__always)
    private func slots(of address: IPAddress) -> ClientKey {
        let isIPv4 = address.isIPv4
        let high = isIPv4 ? 0 : address.high & ipv6Mask.high
        let low = isIPv4 ? address.low & ipv4Mask : address.low & ipv6Mask.low
        let product = (high ^ table.secret.0).multipliedFullWidth(by: low ^ table.secret.1)
        return ClientKey(hash: (product.high ^ product.low) | 1 << 63)
    }

    /// The slots of a client; none where it is not limited.
    public func key(of address: IPAddress) -> ClientKey {
        isExempt(address) ? .none : slots(of: address)
    }

    private func isExempt(_ address: IPAddress) -> Bool {
        limits.exempt.contains { $0.contains(address) }
    }

    private func client(of address: IPAddress) -> IPPrefix {
        let length = address.isIPv4 ? 96 + limits.ipv4Prefix : limits.ipv6Prefix
        return IPPrefix(address, length: UInt8(length))
    }

    // MARK: Queries a second

    /// Whether one more query over UDP is answered. On the path of every query: whether a client is
    /// exempt is asked when it has used up what others have.
    @inline(__always)
    func answers(_ address: IPAddress, at now: Instant) -> Bool {
        interval == 0 || spend(slots(of: address), table.answered, at: now) || isExempt(address)
    }

    /// Whether a query that is not answered is at least told to come over TCP: as often again. What
    /// is beyond that gets nothing.
    func truncates(_ address: IPAddress, at now: Instant) -> Bool {
        let key = slots(of: address)
        table.note(key, ReachedLimit(client: client(of: address), kind: .queries), at: now)
        return spend(key, table.truncated, at: now)
    }

    /// Whether one more query over TCP is read now. Whoever has a connection has shown its address;
    /// so no forger over UDP can use up this allowance, which is another.
    public func reads(_ key: ClientKey, from address: IPAddress, at now: Instant) -> Bool {
        guard interval > 0, key != .none else { return true }
        if spend(key, table.streamed, at: now) { return true }
        table.note(key, ReachedLimit(client: client(of: address), kind: .queries), at: now)
        return false
    }

    /// Takes a query off an allowance, if there is enough of it: a token bucket, kept as the time at
    /// which it is full again.
    @inline(__always)
    private func spend(
        _ key: ClientKey,
        _ times: borrowing ClientTable.Times,
        at now: Instant
    ) -> Bool {
        let first = times[key.first].load(ordering: .relaxed)
        let second = times[key.second].load(ordering: .relaxed)
        let full = max(min(first, second), now.nanoseconds) &+ interval
        let most = now.nanoseconds &+ allowance
        guard full <= most else {
            // Left from limits that were others: what is owed then is forgotten.
            if full > most &+ 1_000_000_000 {
                times[key.first].store(most, ordering: .relaxed)
                times[key.second].store(most, ordering: .relaxed)
            }
            return false
        }
        if first < full { times[key.first].store(full, ordering: .relaxed) }
        if second < full { times[key.second].store(full, ordering: .relaxed) }
        return true
    }

    // MARK: Queries that wait, and connections

    /// Whether one more forwarded query may wait; it counts then, until `endWaiting`.
    func beginWaiting(_ key: ClientKey, from address: IPAddress, at now: Instant) -> Bool {
        guard limits.waiting > 0, key != .none else { return true }
        if begin(key, table.waiting, most: limits.waiting) { return true }
        table.note(key, ReachedLimit(client: client(of: address), kind: .waiting), at: now)
        return false
    }

    /// A query waits no longer.
    func endWaiting(_ key: ClientKey) {
        guard key != .none else { return }
        end(key, table.waiting)
    }

    /// Whether one more connection may be opened; it counts then, until `close`.
    public func open(_ key: ClientKey) -> Bool {
        guard key != .none else { return true }
        return begin(key, table.connections, most: limits.connectionsPerClient)
    }

    /// Notes that a connection was turned away.
    public func turnedAway(_ key: ClientKey, from address: IPAddress, at now: Instant) {
        guard key != .none else { return }
        table.note(key, ReachedLimit(client: client(of: address), kind: .connections), at: now)
    }

    /// A connection is closed.
    public func close(_ key: ClientKey) {
        guard key != .none else { return }
        end(key, table.connections)
    }

    private func begin(
        _ key: ClientKey,
        _ counts: borrowing ClientTable.Counts,
        most: Int
    ) -> Bool {
        let (_, first) = counts[key.first].wrappingAdd(1, ordering: .relaxed)
        let (_, second) = counts[key.second].wrappingAdd(1, ordering: .relaxed)
        if Int(min(first, second)) <= most { return true }
        end(key, counts)
        return false
    }

    private func end(_ key: ClientKey, _ counts: borrowing ClientTable.Counts) {
        counts[key.first].wrappingSubtract(1, ordering: .relaxed)
        counts[key.second].wrappingSubtract(1, ordering: .relaxed)
    }
}
