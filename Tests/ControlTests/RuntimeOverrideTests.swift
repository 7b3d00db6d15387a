import DNS
import Resolver
import Testing
import Zones

@testable import Control

@Suite("Runtime overrides")
struct RuntimeOverrideTests {
    private func override(
        _ name: String,
        _ type: String,
        _ records: [String],
        view: String? = nil,
        expiresAt: Timestamp? = nil
    ) -> Override {
        Override(
            name: name,
            type: type,
            records: records,
            ttl: 7,
            view: view,
            user: "ana",
            uid: 1000,
            setAt: Timestamp(milliseconds: 0),
            expiresAt: expiresAt
        )
    }

    private func lookup(
        _ layer: Policy.Layer?,
        _ name: String,
        _ type: RecordType
    ) throws -> Lookup.Kind? {
        var folded = FoldedName()
        let octets = try Name(scanning: name).octets
        _ = try folded.read(from: octets.span, at: 0)
        guard let layer else { return nil }
        return layer.index.lookup(folded, type: type).kind
    }

    @Test("own their name whole, in their view alone")
    func layers() throws {
        var overrides = RuntimeOverrides(seed: 1)
        _ = try overrides.set(override("API.example.com", "a", ["192.0.2.1", "192.0.2.2"]))
        _ = try overrides.set(override("*.app.example.com.", "AAAA", ["2001:db8::1"], view: "v"))
        let layers = overrides.layers()
        #expect(try lookup(layers.base, "api.example.com", .a) == .answer)
        #expect(try lookup(layers.base, "api.example.com", .aaaa) == .noData)
        #expect(try lookup(layers.base, "x.app.example.com", .aaaa) == .notOwned)
        #expect(try lookup(layers.views["v"], "x.y.app.example.com", .aaaa) == .answer)
        #expect(try lookup(layers.views["v"], "api.example.com", .a) == .notOwned)
        let first = overrides.overrides[0]
        #expect(first.name == "API.example.com." && first.type == "A")
    }

    @Test("replace what was set at their name, type and view; the name's case is no matter")
    func replacement() throws {
        var overrides = RuntimeOverrides(seed: 1)
        _ = try overrides.set(override("api.example.com", "A", ["192.0.2.1"]))
        _ = try overrides.set(override("API.EXAMPLE.COM.", "A", ["192.0.2.2"]))
        let records = overrides.overrides.map(\.records)
        #expect(records == [["192.0.2.2"]])
        let gone = try overrides.unset(name: "Api.Example.com", type: "A", view: nil)
        let base = overrides.layers().base
        #expect(gone.count == 1 && base == nil)
        do throws(ControlError) {
            _ = try overrides.unset(name: "api.example.com", type: nil, view: nil)
            Issue.record("there was nothing")
        } catch {
            #expect(error.kind == .notFound)
        }
    }

    @Test("end at their time, and not before")
    func expiry() throws {
        var overrides = RuntimeOverrides(seed: 1)
        let end = Timestamp(milliseconds: 5000)
        _ = try overrides.set(override("a.test", "A", ["192.0.2.1"], expiresAt: end))
        _ = try overrides.set(override("b.test", "A", ["192.0.2.1"]))
        let next = overrides.nextExpiry
        #expect(next == end)
        let early = overrides.expire(at: Timestamp(milliseconds: 4999))
        #expect(early.isEmpty)
        let gone = overrides.expire(at: end).map(\.name)
        #expect(gone == ["a.test."])
        let (expiry, count) = (overrides.nextExpiry, overrides.count)
        #expect(expiry == nil && count == 1)
    }

    @Test(
        "that make no sense are refused with a sentence, and change nothing",
        arguments: [
            ("a.test", "A", ["192.0.2.777"], "the data of A: '192.0.2.777' is not an IPv4 address"),
            ("a..test", "A", ["192.0.2.1"], "the name: "),
            ("a.test", "ANY", ["x"], "'ANY' is not a record type such as A, AAAA, CNAME or TXT"),
            ("a.test", "A", [], "a.test A is to have no record at all"),
            ("a.test\n$INCLUDE x", "A", ["192.0.2.1"], "the name has a control character"),
            ("a.test x", "A", ["192.0.2.1"], "the name: "),
            ("other.test", "CNAME", ["a.test"], "other.test. CNAME: "),
            ("a.test", "MX", ["10"], "the data of MX: "),
        ]
    )
    func refusals(name: String, type: String, records: [String], sentence: String) throws {
        var overrides = RuntimeOverrides(seed: 1)
        _ = try overrides.set(override("other.test", "A", ["192.0.2.1"]))
        do throws(ControlError) {
            _ = try overrides.set(override(name, type, records))
            Issue.record("it was taken")
        } catch {
            #expect(error.sentence.hasPrefix(sentence), "\(error.sentence)")
        }
        let count = overrides.count
        #expect(count == 1)
    }

    @Test("go before the files of their view, and behind those of a view where they are the base's")
    func precedence() throws {
        func layer(_ address: String) throws -> Policy.Layer {
            var overrides = RuntimeOverrides(seed: 1)
            _ = try overrides.set(override("a.test", "A", [address]))
            return try #require(overrides.layers().base)
        }
        let base = try layer("192.0.2.1")
        let view = try layer("192.0.2.2")
        let runtime = try layer("192.0.2.3")
        let network = try #require(IPPrefix(scanning: "10.0.0.0/8"))
        let policy = Policy(
            layers: [base],
            views: [Policy.View(name: "v", clients: [network], layers: [view])],
            upstreams: []
        )
        let placed = policy.placing(
            Policy.Runtime(base: runtime, views: ["v": runtime, "gone": runtime]),
            generation: 9
        )
        func layers(_ address: String) throws -> [Policy.Layer] {
            placed.layers(
                for: Client(
                    address: try #require(IPAddress(scanning: address)),
                    localAddress: try #require(IPAddress(scanning: "127.0.0.1")),
                    transport: .udp,
                    returnPath: Client.ReturnPath(0, 0)
                )
            )
        }
        #expect(
            try layers("192.168.0.1").map(ObjectIdentifier.init)
                == [runtime, base].map(ObjectIdentifier.init)
        )
        #expect(
            try layers("10.0.0.1").map(ObjectIdentifier.init)
                == [runtime, view, runtime, base].map(ObjectIdentifier.init)
        )
        #expect(placed.generation == 9)
    }
}
