public import DNS
import Synchronization

/// How much each client has asked for lately: counts that all workers share, in tables of a fixed
/// size, about 1.3 MiB, without a lock on the path of a query.
///
/// A client has no entry of its own. Its key, hashed with a secret, names one slot in each of two
/// rows, and the lower of both counts: so what others do in the same slot never helps a client, and
/// harms it only where both of its slots are shared with clients at their limit. With k such clients
/// that happens to another with a probability of about (k / 16 384)²: one in 27 000 for a hundred of
/// them. Workers that count one client at the same moment may lose a query of it: it is allowed a
/// little more, never less.
public final class ClientTable: Sendable {
    typealias Times = InlineArray<32_768, Atomic<UInt64>>
    typealias Counts = InlineArray<32_768, Atomic<Int32>>

    /// When a slot's allowance is whole again, of the monotonic clock in nanoseconds, for what is
    /// answered over UDP, for what is truncated, and for what is read over TCP.
    let answered = Times { _ in Atomic(0) }
    let truncated = Times { _ in Atomic(0) }
    let streamed = Times { _ in Atomic(0) }
    /// How many queries wait for an upstream, and how many connections are open.
    let waiting = Counts { _ in Atomic(0) }
    let connections = Counts { _ in Atomic(0) }

    /// When a client of the slot was told about last; the first row's slots alone.
    private let toldAt = Times { _ in Atomic(0) }
    private let reached: Mutex<[ReachedLimit]>
    private let whenReached: @Sendable () -> Void
    let secret: (UInt64, UInt64)

    /// The table of those who limit nobody.
    public static let unused = ClientTable(seed: (0, 0))

    static let rowSize: UInt64 = 16_384
    /// A client's limits are told about once in this time, in nanoseconds.
    private static let silence: UInt64 = 60_000_000_000
    private static let mostReached = 64

    /// An empty table; `seed` keys its hash and must not be guessable. `whenReached` is called by a
    /// worker when there is something to take, and must not take long.
    public init(seed: (UInt64, UInt64), whenReached: @escaping @Sendable () -> Void = {}) {
        secret = seed
        self.whenReached = whenReached
        var room: [ReachedLimit] = []
        room.reserveCapacity(ClientTable.mostReached)
        reached = Mutex(room)
    }

    /// Takes the limits that clients have reached since the last call, each client once a minute.
    public func takeReached() -> [ReachedLimit] {
        reached.withLock { reached in
            let taken = reached
            reached.removeAll()
            reached.reserveCapacity(ClientTable.mostReached)
            return taken
        }
    }

    /// Notes that a client has reached a limit; what finds no room is not told.
    func note(_ key: ClientKey, _ limit: ReachedLimit, at now: Instant) {
        let last = toldAt[key.first].load(ordering: .relaxed)
        guard last == 0 || now.nanoseconds > last &+ ClientTable.silence else { return }
        toldAt[key.first].store(now.nanoseconds, ordering: .relaxed)
        reached.withLock { reached in
            if reached.count < ClientTable.mostReached { reached.append(limit) }
        }
        whenReached()
    }
}

/// A client in the table: the slots that count for it. The key of none is that of clients without
/// limits.
public struct ClientKey: BitwiseCopyable, Hashable, Sendable {
    let hash: UInt64

    /// The key of clients that are not limited.
    public static let none = ClientKey(hash: 0)

    var first: Int { Int(truncatingIfNeeded: hash & (ClientTable.rowSize - 1)) }
    var second: Int {
        Int(truncatingIfNeeded: ClientTable.rowSize + hash >> 14 & (ClientTable.rowSize - 1))
    }
}

/// A limit that a client has reached.
public struct ReachedLimit: Hashable, Sendable {
    /// Which limit.
    public enum Kind: Sendable {
        /// Queries a second.
        case queries
        /// Forwarded queries that wait.
        case waiting
        /// TCP connections.
        case connections
    }

    /// The client: its address, or the network that counts as one.
    public let client: IPPrefix
    /// Which limit.
    public let kind: Kind

    /// A limit that a client has reached.
    public init(client: IPPrefix, kind: Kind) {
        self.client = client
        self.kind = kind
    }
}
