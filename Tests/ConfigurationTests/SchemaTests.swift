import Testing

@testable import Configuration

/// `packaging/detour.schema.json` and the decoder describe one document.
@Suite("The schema") struct SchemaTests {
    let schema: JSONNode

    init() throws {
        schema = try JSONParser.parse(try octets(of: "packaging/detour.schema.json"))
    }

    private func keys<Key: SettingKey>(_ type: Key.Type) -> Set<String> {
        Set(Key.allCases.map(\.rawValue))
    }

    private func properties(_ path: String...) -> Set<String> {
        var node = schema
        for step in path + ["properties"] {
            guard let next = node.member(step) else { return ["no \(step)"] }
            node = next
        }
        guard case .object(let members) = node.value else { return [] }
        return Set(members.map(\.key))
    }

    @Test("names the keys that the decoder knows, in every section") func sameKeys() {
        #expect(properties() == keys(Configuration.Key.self))
        #expect(properties("properties", "cache") == keys(Configuration.Cache.Key.self))
        #expect(properties("properties", "log") == keys(Configuration.Log.Key.self))
        #expect(properties("properties", "limits") == keys(Configuration.Limits.Key.self))
        #expect(properties("properties", "chaos") == keys(Configuration.Chaos.Key.self))
        #expect(properties("properties", "verify") == keys(Configuration.Verify.Key.self))
        #expect(properties("$defs", "zoneFile") == keys(Configuration.ZoneKey.self))
        #expect(properties("$defs", "forward") == keys(Configuration.ForwardKey.self))
        #expect(properties("$defs", "view") == keys(Configuration.ViewKey.self))
        #expect(properties("$defs", "rule") == keys(Configuration.Verify.Rule.Key.self))
        #expect(properties("$defs", "expect") == keys(Configuration.Verify.Expectations.Key.self))
        #expect(properties("$defs", "login") == keys(Configuration.Verify.Login.Key.self))
        #expect(
            properties("$defs", "clientCertificate")
                == keys(Configuration.Verify.ClientCertificate.Key.self)
        )
    }

    @Test("is for a document in which every key occurs") func completeExample() throws {
        let example = try JSONParser.parse(
            try octets(of: "Tests/Golden/configuration/complete.json5")
        )
        var found: Set<String> = []
        collect(example, into: &found)
        let documented = keys(Configuration.Key.self)
            .union(keys(Configuration.Cache.Key.self)).union(keys(Configuration.Log.Key.self))
            .union(keys(Configuration.Limits.Key.self)).union(keys(Configuration.Chaos.Key.self))
            .union(keys(Configuration.Verify.Key.self))
            .union(keys(Configuration.ZoneKey.self)).union(keys(Configuration.ForwardKey.self))
            .union(keys(Configuration.ViewKey.self))
            .union(keys(Configuration.Verify.Rule.Key.self))
            .union(keys(Configuration.Verify.Expectations.Key.self))
            .union(keys(Configuration.Verify.Login.Key.self))
            .union(keys(Configuration.Verify.ClientCertificate.Key.self))
        #expect(documented.subtracting(found) == [])
    }

    @Test("gives the limits that the decoder has where nothing is said, and what it allows")
    func limits() throws {
        let limits = Configuration.Limits()
        for key in Configuration.Limits.Key.allCases {
            guard let range = key.range else { continue }
            let described = try #require(
                schema.member("properties")?.member("limits")?.member("properties")?
                    .member(key.rawValue)
            )
            #expect(described.number("default") == limits[key], "\(key)")
            #expect(described.number("minimum") == range.lowerBound, "\(key)")
            #expect(described.number("maximum") == range.upperBound, "\(key)")
        }
    }

    private func collect(_ node: JSONNode, into keys: inout Set<String>) {
        switch node.value {
        case .object(let members):
            for member in members {
                keys.insert(member.key)
                collect(member.value, into: &keys)
            }
        case .array(let elements): for element in elements { collect(element, into: &keys) }
        default: break
        }
    }
}

extension JSONNode {
    func member(_ key: String) -> JSONNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key == key }?.value
    }

    func number(_ key: String) -> Int? {
        guard case .number(let number, _) = member(key)?.value else { return nil }
        return Int(exactly: number)
    }
}
