import DNS

/// Address blocks, each with a number; the longest block that holds an address speaks for it.
///
/// Complexity of a search: O(log n) for each length that occurs. Allocates nothing.
struct PrefixTable: Sendable {
    struct Entry {
        let prefix: IPPrefix
        let value: UInt32
    }

    /// Entries of one length, ascending by address.
    private struct Run {
        let length: UInt8
        let start: Int
        let end: Int
    }

    private let entries: [Entry]
    /// The longest blocks first.
    private let runs: [Run]

    var isEmpty: Bool { entries.isEmpty }

    /// A table of blocks; of equal ones the first counts.
    init(_ blocks: [Entry]) {
        let order = blocks.indices.sorted { a, b in
            let (first, second) = (blocks[a].prefix, blocks[b].prefix)
            if first.length != second.length { return first.length > second.length }
            let (x, y) = (first.address, second.address)
            return (x.high, x.low, a) < (y.high, y.low, b)
        }
        entries = order.map { blocks[$0] }
        var runs: [Run] = []
        var start = 0
        for index in entries.indices {
            let length = entries[index].prefix.length
            guard index + 1 == entries.count || entries[index + 1].prefix.length != length else {
                continue
            }
            runs.append(Run(length: length, start: start, end: index + 1))
            start = index + 1
        }
        self.runs = runs
    }

    /// The number of the longest block that holds an address.
    ///
    /// An IPv6 block holds no IPv4 address, however short it is.
    func value(for address: IPAddress) -> UInt32? {
        for run in runs where run.length >= 96 || !address.isIPv4 {
            let wanted = IPPrefix(address, length: run.length).address
            var (low, high) = (run.start, run.end)
            while low < high {
                let middle = (low &+ high) / 2
                let found = entries[middle].prefix.address
                if (found.high, found.low) < (wanted.high, wanted.low) {
                    low = middle &+ 1
                } else {
                    high = middle
                }
            }
            if low < run.end, entries[low].prefix.address == wanted { return entries[low].value }
        }
        return nil
    }
}
