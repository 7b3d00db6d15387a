import DNS
import Testing

/// A name scanned from text as a master file's token, printed; nil where it is wrong.
private func name(_ text: String, origin: String = "example.") throws -> Name {
    let octets = Array(text.utf8)
    var data = [UInt8](repeating: 0, count: 512)
    let count = try scan(octets, origin: Name(scanning: origin), into: &data)
    return try Name(parsing: data.span.extracting(first: count))
}

private func scan(
    _ octets: [UInt8],
    origin: Name,
    into data: inout [UInt8]
) throws(PresentationError) -> Int {
    var scanner = TextScanner(octets.span)
    var writer = OctetWriter(data.mutableSpan)
    guard let token = try scanner.next() else { return 0 }
    try Name.scan(token, of: scanner, origin: origin.octets.span, into: &writer)
    return writer.count
}

@Suite struct NameScanningTests {
    @Test(arguments: [
        ("@", "example."), (".", "."), ("a", "a.example."), ("a.", "a."),
        ("a.b.c", "a.b.c.example."),
        ("Mixed.Case.", "Mixed.Case."), ("*.w", "*.w.example."), ("_443._tcp.", "_443._tcp."),
        ("a\\.b", "a\\.b.example."), ("a\\.", "a\\..example."), ("a\\\\.", "a\\\\."),
        ("\\065\\000\\255.", "A\\000\\255."), ("a\\ b.", "a\\032b."), ("a\\;b.", "a\\;b."),
        ("a\\@b", "a\\@b.example."), ("\"quoted name\".", "quoted\\032name.example."),
        ("12345678.12345678.", "12345678.12345678."), ("1234567.", "1234567."),
        ("abcdefgh", "abcdefgh.example."),
    ])
    func `names are read as RFC 1035 has it`(pair: (String, String)) throws {
        #expect(try name(pair.0).description == pair.1)
    }

    @Test func `the plain and the escaped way give the same octets`() throws {
        for size in 1...63 {
            let label = String(repeating: "a", count: size)
            let plain = try name("\(label).bb.\(label).")
            #expect(try name("\(label).b\\b.\(label).").octets == plain.octets)
            #expect(try name("\(label).bb.\(label)", origin: ".").octets == plain.octets)
            #expect(plain.labelCount == 3)
        }
    }

    /// A-labels that other implementations give; the first four are RFC 3492's samples (7.1).
    @Test(
        arguments: [
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("他們爲什麽不說中文", "xn--ihqwctvzc91f659drss3x8bo0yb"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("なぜみんな日本語を話してくれないのか", "xn--n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            ("bücher", "xn--bcher-kva"), ("BÜCHER", "xn--bcher-kva"),
            ("bu\u{308}cher", "xn--bcher-kva"),
            ("straße", "xn--strae-oqa"), ("faß", "xn--fa-hia"), ("βόλος", "xn--nxasmm1c"),
            ("ﾊﾝ", nil), ("münchen", "xn--mnchen-3ya"), ("_dmä", "xn--_dm-sla"),
            ("한국", "xn--3e0b707e"),
            ("\u{1112}\u{1161}\u{11AB}국", "xn--3e0b707e"), ("l·l", "xn--ll-0ea"),
            ("a\u{302}\u{323}b", "xn--b-pvm"),
            ("\u{1F7D}", "xn--gya"), ("\u{1EBF}", "xn--ilg"), ("e\u{302}\u{301}", "xn--ilg"),
            ("a·b", nil),
            ("☕", nil), ("-ä", nil), ("ä-", nil), ("ab--ä", nil), ("\u{301}a", nil), ("ａｂｃ", "abc"),
            ("नी\u{200C}", nil), ("क्\u{200D}ष", "xn--11b2ezcw70k"),
            // RFC 3492, 7.1, Hebrew and Arabic; then what the Bidi rule (RFC 5893, 2) allows and not.
            (
                "\u{5DC}\u{5DE}\u{5D4}\u{5D4}\u{5DD}\u{5E4}\u{5E9}\u{5D5}\u{5D8}\u{5DC}\u{5D0}"
                    + "\u{5DE}\u{5D3}\u{5D1}\u{5E8}\u{5D9}\u{5DD}\u{5E2}\u{5D1}\u{5E8}\u{5D9}\u{5EA}",
                "xn--4dbcagdahymbxekheh6e0a7fei0b"
            ),
            (
                "\u{644}\u{64A}\u{647}\u{645}\u{627}\u{628}\u{62A}\u{643}\u{644}\u{645}\u{648}\u{634}"
                    + "\u{639}\u{631}\u{628}\u{64A}\u{61F}",
                nil  // A question mark of Arabic is no letter.
            ),
            ("\u{5D0}\u{5D1}1", "xn--1-zhcd"), ("\u{5D0}-\u{5D1}", "xn----zhce"),
            ("\u{5D0}\u{5B8}", "xn--gdb1c"),
            ("1\u{5D0}", nil), ("a\u{5D0}", nil), ("\u{5D0}a", nil), ("\u{5D0}_", nil),
            ("\u{627}\u{661}", "xn--mgb0j"), ("\u{627}1\u{661}", nil), ("\u{661}a", nil),
        ] as [(String, String?)]
    )
    func `U-labels become A-labels`(pair: (String, String?)) throws {
        if let expected = pair.1 {
            #expect(try name("www.\(pair.0).de.").description == "www.\(expected).de.")
        } else {
            #expect(throws: PresentationError.self) { try name("www.\(pair.0).de.") }
        }
    }

    @Test func `an ideographic full stop is a dot`() throws {
        #expect(try name("例え。テスト.").description == "xn--r8jz45g.xn--zckzah.")
    }

    @Test func `octets outside ASCII that are no UTF-8 are refused unless escaped`() throws {
        var data = [UInt8](repeating: 0, count: 512)
        #expect(throws: PresentationError(.notUTF8, at: 0, length: 2)) {
            try scan([0x61, 0xE4, 0x2E], origin: .root, into: &data)
        }
        #expect(try name("a\\228.").octets == [2, 0x61, 0xE4, 0])
    }
}
