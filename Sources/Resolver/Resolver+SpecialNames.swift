// Stage 3: special names.

import DNS
import Zones

extension Resolver {
    func answerSpecial(
        _ query: Query,
        _ owner: Int,
        _ response: inout Response,
        _ writer: inout MessageWriter
    ) -> Step {
        let special = SpecialName(target, type: query.type, policy: policy)
        // Who says where such names are to be asked means it.
        if special != .none, case .group = policy.forwardRules.match(target) { return .pass }
        switch special {
        case .none:
            return .pass
        case .loopback where query.type == .a || query.type == .aaaa:
            do throws(WireError) {
                try writer.append(0xC000 | UInt16(truncatingIfNeeded: owner))
                try writer.append(query.type.rawValue)
                try writer.append(RecordClass.in.rawValue)
                try writer.append(policy.settings.negativeTTL)
                if query.type == .a {
                    try writer.append(4 as UInt16)
                    try writer.append(0x7F00_0001 as UInt32)
                } else {
                    try writer.append(16 as UInt16)
                    for _ in 0..<3 { try writer.append(0 as UInt32) }
                    try writer.append(1 as UInt32)
                }
                response.answerCount &+= 1
            } catch {
                response.isTruncated = true
            }
            return .done
        case .nxDomain, .noData, .loopback:
            // A special name above owned names exists (RFC 8020).
            if special == .nxDomain, !hasNamesBelowTarget() { response.code = .nxDomain }
            let hasRoom = ZoneIndex.appendSOA(
                owner: owner,
                ttl: policy.settings.negativeTTL,
                serial: policy.settings.generation,
                to: &writer
            )
            if hasRoom { response.authorityCount &+= 1 } else { response.isTruncated = true }
            return .done
        }
    }

    func hasNamesBelowTarget() -> Bool {
        for index in sight.lower..<sight.upper where layers[index].index.hasNames(below: target) {
            return true
        }
        return false
    }
}
