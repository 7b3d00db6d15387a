import DNS
import Support
import Testing

/// What `RData.decompress` copies, or why it does not.
private func decompress(
    _ type: RecordType,
    _ message: [UInt8],
    from start: Int,
    room: Int = 600
) -> Result<[UInt8], WireError> {
    var out = [UInt8](repeating: 0xEE, count: room + 2)
    do throws(WireError) {
        let end = try copy(type, message, from: start, into: &out)
        return .success(Array(out[2..<end]))
    } catch {
        return .failure(error)
    }
}

private func copy(
    _ type: RecordType,
    _ message: [UInt8],
    from start: Int,
    into out: inout [UInt8]
) throws(WireError) -> Int {
    var span = out.mutableSpan
    return try RData.decompress(
        type,
        in: message.span,
        range: start..<message.count,
        into: &span,
        at: 2
    )
}

@Suite struct RDataWireTests {
    /// `a.example.` at 0, `b` and a pointer to `example.` at 11.
    private let names = octets("0161076578616d706c6500 0162c002")

    @Test(
        arguments: [
            (RecordType.cname, "c00b", "01620765 78616d706c6500"),
            (.ns, "0163c002", "0163076578616d706c6500"),
            (.mx, "000ac000", "000a0161076578616d706c6500"),
            (
                .soa, "c000c00b0000000100000002000000030000000400000005",
                "0161076578616d706c65000162076578616d706c65000000000100000002000000030000000400000005"
            ),
            (.srv, "000100020003c000", "0001000200030161076578616d706c6500"),
            (.naptr, "000100020161000000", "000100020161000000"),
            (.dname, "c002", "076578616d706c6500"),
            (
                .rrsig, "0001080200000e10000000000000000012340161c002aabb",
                "0001080200000e1000000000000000001234 0161076578616d706c6500aabb"
            ),
            (.a, "c0000201", "c0000201"), (.txt, "02c000", "02c000"), (.nsec, "c00200014000", nil),
            (.https, "0001c0020003000201bb", "0001076578616d706c65000003000201bb"),
            (RecordType(rawValue: 65280), "c000", "c000"),
            (.nsec3param, "01000000 02c000", "0100000002c000"),
        ] as [(RecordType, String, String?)]
    )
    func `names are expanded and all else is copied`(row: (RecordType, String, String?)) {
        let result = decompress(row.0, names + octets(row.1), from: names.count)
        if let expected = row.2 {
            #expect(result == .success(octets(expected)))
        } else {
            #expect(throws: WireError.self) { try result.get() }
        }
    }

    @Test(
        arguments: [
            (RecordType.a, "c00002", .badRData), (.a, "c000020101", .badRData),
            (.cname, "", .truncated), (.cname, "c00f", .badPointer), (.cname, "c010", .badPointer),
            (.cname, "0163c00f", .badPointer), (.cname, "c0", .truncated),
            (.cname, "0263", .truncated),
            (.cname, "c00000", .badRData), (.cname, "40", .reservedLabelType),
            (.cname, "80", .reservedLabelType),
            (.mx, "00", .badRData), (.mx, "0001", .truncated), (.txt, "", .badRData),
            (.txt, "0261", .badRData),
            (.aaaa, "00", .badRData), (.soa, "c000c00000", .badRData),
            (.srv, "000000000000", .truncated),
            (.https, "0001000001", .badRData), (.https, "00010000010002aa", .badRData),
        ] as [(RecordType, String, WireError.Kind)]
    )
    func `what does not fit its type is refused`(row: (RecordType, String, WireError.Kind)) {
        let result = decompress(row.0, names + octets(row.1), from: names.count)
        guard case .failure(let error) = result else {
            Issue.record("taken: \(result)")
            return
        }
        #expect(error.kind == row.2)
    }

    @Test func `a chain of pointers goes strictly backwards`() {
        // Three names, each a label and a pointer to the one before.
        let chain = octets("0161 00 0162 c000 0163 c003")
        #expect(
            decompress(.cname, chain + octets("c007"), from: chain.count)
                == .success(octets("0163 0162 0161 00"))
        )
        // A label that runs into the pointer that leads to it.
        let loop = octets("0161")
        #expect(
            decompress(.cname, loop + octets("c000"), from: loop.count)
                == .failure(WireError(.truncated, at: 2))
        )
    }

    @Test func `a name over 255 octets is refused however it is packed`() {
        let label = [63] + [UInt8](repeating: 0x61, count: 63)
        let most = label + label + label + [61] + [UInt8](repeating: 0x62, count: 61) + [0]
        #expect(decompress(.cname, most, from: 0) == .success(most))
        let pointer = most + [1, 0x63, 0xC0, 0]
        guard case .failure(let error) = decompress(.cname, pointer, from: most.count) else {
            Issue.record("taken")
            return
        }
        #expect(error.kind == .nameTooLong)
    }

    @Test func `a copy that does not fit is refused and stays in its bounds`() {
        let message = names + octets("000ac000")
        for room in 0..<13 {
            guard case .failure(let error) = decompress(.mx, message, from: names.count, room: room)
            else {
                Issue.record("taken")
                return
            }
            #expect(error.kind == .noSpace)
        }
        #expect(throws: Never.self) {
            try decompress(.mx, message, from: names.count, room: 13).get()
        }
    }

    @Test(arguments: GoldenRecord.all)
    func `data without compression stay as they are`(record: GoldenRecord) {
        #expect(
            decompress(record.type, names + record.octets, from: names.count)
                == .success(record.octets)
        )
    }

    @Test(arguments: GoldenRecord.all)
    func `no octets make it trap`(record: GoldenRecord) {
        var generator = SplitMix(state: UInt64(record.octets.count))
        for size in 0...record.octets.count {
            _ = decompress(record.type, names + record.octets[..<size], from: names.count)
        }
        for _ in 0..<200 {
            var octets = names + record.octets
            for _ in 0..<3 where octets.count > names.count {
                let place = Int(generator.next() % UInt64(octets.count))
                octets[place] = UInt8(truncatingIfNeeded: generator.next())
            }
            _ = decompress(record.type, octets, from: names.count)
            let rdata = Array(octets[names.count...])
            _ = RData.text(rdata.span, type: record.type)
            var walk = RDataNames(record.type)
            while let place = walk.next(in: rdata.span) {
                #expect(place.offset + place.length <= rdata.count)
            }
        }
    }

    @Test(
        arguments: [
            (
                RecordType.soa, "0161000162000000000100000002000000030000000400000005",
                [0, 3, 1, 3, 3, 1]
            ),
            (.mx, "000a016100", [2, 3, 1]), (.srv, "000100020003016100", [6, 3, 0]),
            (.a, "c0000201", []),
            (.dname, "016100", [0, 3, 0]), (RecordType(rawValue: 14), "0000", [0, 1, 1, 1, 1, 1]),
            (.https, "000100", [2, 1, 0]),
        ] as [(RecordType, String, [Int])]
    )
    func `names in data are found, and whether they compress`(row: (RecordType, String, [Int])) {
        var walk = RDataNames(row.0)
        var found: [Int] = []
        let rdata = octets(row.1)
        while let place = walk.next(in: rdata.span) {
            found += [place.offset, place.length, place.isCompressible ? 1 : 0]
        }
        #expect(found == row.2)
    }
}

/// Numbers that are the same in each run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
