import Foundation
import Testing

/// `detour.json5(5)` describes the keys of the schema, with their defaults.
@Suite("The manual page of the configuration") struct ManualTests {
    /// A key as the page spells it, such as `zones[].file`, and the default of the schema, as JSON.
    struct Key: Hashable {
        let path: String
        let fallback: String?
    }

    private static func file(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The items of the page, with the text of each.
    private static func items() throws -> [String: String] {
        var items: [String: String] = [:]
        var key: String?
        for line in try file("packaging/man/detour.json5.5").split(separator: "\n") {
            if line.hasPrefix(".It Ic ") {
                key = String(line.dropFirst(7))
            } else if line.hasPrefix(".El") || line.hasPrefix(".Sh") {
                key = nil
            } else if let key {
                items[key, default: ""] += line.replacing("\\(dq", with: "\"") + "\n"
            }
        }
        return items
    }

    private static func keys() throws -> Set<Key> {
        let json = try JSONSerialization.jsonObject(
            with: Data(file("packaging/detour.schema.json").utf8)
        )
        let schema = try #require(json as? [String: Any])
        let shared = try #require(schema["$defs"] as? [String: [String: Any]])
        var keys: Set<Key> = []

        func resolved(_ node: [String: Any]) -> [String: Any] {
            guard let reference = node["$ref"] as? String else { return node }
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return (shared[name] ?? [:]).merging(node) { $1 }
        }
        /// The objects that a value can be, or hold.
        func visit(_ node: [String: Any], _ path: String) {
            let node = resolved(node)
            for choice in node["anyOf"] as? [[String: Any]] ?? [] { visit(choice, path) }
            if let items = node["items"] as? [String: Any] { visit(items, path + "[]") }
            for (name, value) in node["properties"] as? [String: [String: Any]] ?? [:] {
                let inner = path.isEmpty ? name : "\(path).\(name)"
                // Both are described where they stand first.
                if path == "verify.names[]", name != "match" { continue }
                if path == "views[]", name == "zones" {
                    keys.insert(Key(path: inner, fallback: nil))
                    continue
                }
                let value = resolved(value)
                let fallback = value["default"].flatMap {
                    try? JSONSerialization.data(
                        withJSONObject: $0,
                        options: [.fragmentsAllowed, .withoutEscapingSlashes]
                    )
                }
                // An object's own keys stand for it; a list has both.
                if value["properties"] == nil {
                    let text = fallback.map { String(decoding: $0, as: UTF8.self) }
                    keys.insert(Key(path: inner, fallback: text))
                }
                visit(value, inner)
            }
        }
        visit(schema, "")
        return keys
    }

    @Test("has an item for every key of the schema, and no others") func keys() throws {
        let keys = try Self.keys()
        #expect(keys.count > 50)
        #expect(Set(try Self.items().keys) == Set(keys.map(\.path)))
    }

    @Test("says the default that the schema says") func defaults() throws {
        let items = try Self.items()
        var count = 0
        for key in try Self.keys() {
            guard var fallback = key.fallback, let item = items[key.path] else { continue }
            // What a rule or a view does not say is as elsewhere.
            if key.path.hasSuffix("].policy") { continue }
            count += 1
            fallback = fallback.replacing(",", with: ", ")
            let parts = item.components(separatedBy: "Default:")
            #expect(parts.count == 2, "\(key.path) says one default")
            let said = parts.last ?? ""
            let words = said.split { " \n".contains($0) }
            let isSaid =
                said.contains(fallback)
                && (fallback.contains(" ")
                    || words.contains { $0.trimmingCharacters(in: ["."]) == fallback })
            #expect(isSaid, "\(key.path): \(fallback), and not \(said)")
        }
        #expect(count > 20)
    }

    @Test("says of each key what holds without it") func absence() throws {
        for (key, text) in try Self.items() where !key.hasPrefix("verify.") {
            #expect(text.contains("Default:") || text.contains("Required."), "\(key)")
        }
    }
}
