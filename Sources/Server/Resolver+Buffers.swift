import DNS
import Platform
import Resolver

// The resolver's calls, over the server's buffers. Each lends spans of two buffers at once, which
// the compiler takes for one access to whoever holds both; as parameters they are two.

extension Resolver {
    /// Handles datagram `index` of a batch; the reply becomes the draft of the next to be sent.
    mutating func handle(
        _ index: Int,
        of queries: borrowing InboundDatagrams,
        from client: Client,
        at now: Instant,
        into replies: inout OutboundDatagrams
    ) -> Disposition {
        var reply = replies.room()
        return handle(queries.octets(at: index), from: client, at: now, into: &reply)
    }

    /// Handles the query in a range of a buffer; the reply stands in another at `start`, framed.
    mutating func handle(
        _ range: Range<Int>,
        of queries: borrowing OctetBuffer,
        from client: Client,
        at now: Instant,
        framedInto replies: inout OctetBuffer,
        at start: Int
    ) -> Disposition {
        var reply = replies.room(from: start + 2)
        let disposition = handle(queries.octets(range), from: client, at: now, into: &reply)
        if case .respond(let count) = disposition {
            var frame = replies.room(from: start)
            frame.store(UInt16(count), at: 0)
        }
        return disposition
    }

    /// Drafts the next query that has to go upstream.
    mutating func nextSend(into queries: inout OutboundDatagrams) -> UpstreamSend? {
        var draft = queries.room()
        return nextSend(into: &draft)
    }

    /// Drafts the next reply that was finished since.
    mutating func nextReply(
        into replies: inout OutboundDatagrams,
        at now: Instant
    ) -> (client: Client, count: Int)? {
        var draft = replies.room()
        return nextReply(into: &draft, at: now)
    }

    /// Takes datagram `index` of a batch that came from an upstream.
    mutating func receive(
        _ index: Int,
        of messages: borrowing InboundDatagrams,
        over path: UpstreamPath,
        at now: Instant
    ) {
        receive(messages.octets(at: index), over: path, at: now)
    }

    /// Takes the message in a range of a buffer that came from an upstream.
    mutating func receive(
        _ range: Range<Int>,
        of messages: borrowing OctetBuffer,
        over path: UpstreamPath,
        at now: Instant
    ) {
        receive(messages.octets(range), over: path, at: now)
    }
}
