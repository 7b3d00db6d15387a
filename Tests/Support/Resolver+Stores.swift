package import DNS
package import Resolver

// The resolver's calls, over buffers that tests keep. Each lends a span of a buffer that its caller
// has beside the resolver, which the compiler takes for one access to both; as parameters they are two.

extension Resolver {
    /// Handles a query; the reply stands at the beginning of `reply`.
    package mutating func handle(
        _ query: Span<UInt8>,
        from client: Client,
        at now: Instant,
        into reply: inout OctetStore
    ) -> Disposition {
        var room = reply.mutableSpan
        return handle(query, from: client, at: now, into: &room)
    }

    /// The next query that has to go upstream, and where.
    package mutating func nextSend() -> (query: [UInt8], path: UpstreamPath)? {
        var store = OctetStore(count: 4096)
        guard let send = nextSend(into: &store) else { return nil }
        return ((0..<send.count).map { store.span[$0] }, send.path)
    }

    private mutating func nextSend(into store: inout OctetStore) -> UpstreamSend? {
        var room = store.mutableSpan
        return nextSend(into: &room)
    }

    /// How long the next finished reply is, which stands at the beginning of `reply`.
    package mutating func nextReply(into reply: inout OctetStore, at now: Instant) -> Int? {
        var room = reply.mutableSpan
        while let (_, count) = nextReply(into: &room, at: now) {
            if count > 0 { return count }
        }
        return nil
    }
}
