public import DNS

// Which upstreams a question goes to: groups, and the rules that choose one by the name's suffix.

extension Policy {
    /// Upstreams that know the same names, and in which order they are asked.
    public struct UpstreamGroup: Hashable, Sendable {
        /// Whom of a group to ask first.
        public enum Order: String, Hashable, Sendable {
            /// The first that is not down, in the order in which they are listed.
            case sequential
            /// The one that answers soonest.
            case fastest
            /// All at once: the soonest answer, for as many queries as there are upstreams.
            case race
        }

        /// The group's upstreams, as indexes of `Policy.upstreams`; at least one.
        public let members: [Int]
        /// Whom to ask first.
        public let order: Order

        /// A group of the upstreams at these indexes of `Policy.upstreams`.
        public init(members: [Int], order: Order = .fastest) {
            self.members = members
            self.order = order
        }
    }

    /// Sends the names within a suffix to a group; the longest suffix that fits decides.
    public struct ForwardRule: Sendable {
        /// The name that this rule is about, with all names below it.
        public let suffix: Name
        /// The index of `Policy.groups` that they are asked of; nil: the names are not forwarded.
        public let group: Int?

        /// A rule for a name and all below it.
        public init(suffix: Name, group: Int?) {
            self.suffix = suffix
            self.group = group
        }
    }

    /// What tells the answers of one group from those of another in the cache: equal for groups of
    /// equal upstreams, also after a reload has numbered them anew.
    static func partition(of group: UpstreamGroup, among upstreams: [Upstream]) -> UInt64 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        func mix(_ value: UInt64) {
            let product = (hash ^ value).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
            hash = product.high ^ product.low
        }
        let members = group.members.filter(upstreams.indices.contains).map { upstreams[$0] }
        let inOrder = members.sorted {
            ($0.address.high, $0.address.low, $0.port) < ($1.address.high, $1.address.low, $1.port)
        }
        for upstream in inOrder {
            mix(upstream.address.high)
            mix(upstream.address.low)
            mix(UInt64(upstream.scope) << 16 | UInt64(upstream.port))
        }
        return hash
    }
}

/// Forward rules, found by the longest suffix of a name. Built once a policy; reading allocates
/// nothing. Complexity of a search: O(labels of the longest suffix).
struct ForwardRules: Sendable {
    private struct Entry {
        var octets: [UInt8]
        var group: Int?
        var next: Int
    }

    private var entries: [Entry] = []
    private var buckets: [Int] = []
    private var longest = 0

    /// What the rules say of a name.
    enum Match: Equatable {
        /// No rule is about it.
        case none
        /// It is asked of this group.
        case group(Int)
        /// It is not forwarded.
        case local
    }

    init(_ rules: [Policy.ForwardRule]) {
        guard !rules.isEmpty else { return }
        var count = 16
        while count < rules.count * 2 { count *= 2 }
        buckets = Array(repeating: -1, count: count)
        var name = FoldedName()
        // The first of two rules for one name stands in front, and so decides.
        for rule in rules.reversed() {
            guard (try? name.read(from: rule.suffix.octets.span, at: 0)) != nil else { continue }
            let bucket = Int(truncatingIfNeeded: name.hash(fromLabel: 0, seed: 0)) & (count - 1)
            entries.append(
                Entry(octets: rule.suffix.foldedOctets, group: rule.group, next: buckets[bucket])
            )
            buckets[bucket] = entries.count - 1
            longest = max(longest, name.labelCount)
        }
    }

    func match(_ name: borrowing FoldedName) -> Match {
        guard !entries.isEmpty else { return .none }
        for label in max(0, name.labelCount - longest)...name.labelCount {
            let hash = name.hash(fromLabel: label, seed: 0)
            var index = buckets[Int(truncatingIfNeeded: hash) & (buckets.count - 1)]
            while index >= 0 {
                if isSuffix(entries[index].octets, of: name, fromLabel: label) {
                    return entries[index].group.map { .group($0) } ?? .local
                }
                index = entries[index].next
            }
        }
        return .none
    }

    private func isSuffix(
        _ octets: [UInt8],
        of name: borrowing FoldedName,
        fromLabel label: Int
    ) -> Bool {
        let suffix = name.suffix(fromLabel: label)
        guard suffix.count == octets.count else { return false }
        for index in suffix.indices where suffix[index] != octets[index] { return false }
        return true
    }
}

extension Policy.Upstream {
    /// As short as it can be told apart: `192.0.2.1`, `tls://192.0.2.1#dns.example`, `[2001:db8::1]:5300`.
    var label: String {
        let usual: UInt16 = identity == nil ? 53 : 853
        var label = address.description
        if port != usual { label = address.isIPv4 ? "\(label):\(port)" : "[\(label)]:\(port)" }
        return switch identity {
        case .name(let name): "tls://\(label)#\(name)"
        case .address: "tls://\(label)"
        case nil: label
        }
    }
}
