import Testing

@testable import Control

@Suite("A request")
struct RequestTests {
    @Test("is what was asked, whatever has been in between")
    func roundTrip() throws {
        var request = Request(.set)
        request.name = "a\"b.example.com"
        request.type = "TXT"
        request.records = ["\"é\"", "\"line\\010\""]
        request.lifetime = 60
        let line = ControlLine.octets(request)
        #expect(line.last == UInt8(ascii: "\n"))
        #expect(line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(try Request(parsing: Array(line.dropLast())) == request)
    }

    @Test(
        "that is none gets a sentence",
        arguments: [
            ("", "the line is not a JSON object"), ("\0\u{1}", "the line is not a JSON object"),
            ("{", "the line is not a JSON object"), ("[]", "a request is a JSON object"),
            ("{}", "the key command is missing"), ("null", "a request is a JSON object"),
            (
                #"{"command":"dance"}"#,
                "there is no such command; there are status, reload, list, set"
            ),
            (#"{"command":"set","ttl":-1}"#, ""), (#"{"command":"set","ttl":1e99}"#, ""),
            (#"{"command":"set","records":"x"}"#, "records has a value of another type"),
        ]
    )
    func garbage(line: String, sentence: String) {
        let error = #expect(throws: ControlError.self) { try Request(parsing: Array(line.utf8)) }
        #expect(error?.kind == .malformed)
        #expect(error?.sentence.hasPrefix(sentence) == true, "\(error?.sentence ?? "")")
    }

    @Test("of any octets, or nested however deep, crashes nothing")
    func fuzz() {
        var state: UInt64 = 1
        let seeds = [
            #"{"command":"set","name":"a","type":"A","records":["192.0.2.1"],"ttl":5}"#,
            #"{"command":"log","follow":true}"#,
        ].map { Array($0.utf8) }
        for round in 0..<2000 {
            var line = seeds[round % seeds.count]
            for _ in 0..<(1 + round % 4) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                line[Int(state >> 33) % line.count] = UInt8(truncatingIfNeeded: state >> 24)
            }
            _ = try? Request(parsing: line)
        }
        for opening in ["[", "{\"a\":"] {
            let text = String(repeating: opening, count: Request.longestLine / opening.utf8.count)
            _ = try? Request(parsing: Array(text.utf8))
        }
    }
}

@Suite("A timestamp")
struct TimestampTests {
    @Test("is written and read to the millisecond")
    func roundTrip() {
        for milliseconds in [0, 1, 999, 1_796_000_000_123, 1_796_000_000_999, 4_102_444_799_001] {
            let time = Timestamp(milliseconds: Int64(milliseconds))
            #expect(Timestamp(scanning: time.description) == time, "\(time)")
        }
        #expect(Timestamp(milliseconds: 5).description == "1970-01-01T00:00:00.005Z")
        #expect(Timestamp(scanning: "2026-11-30T08:15:00Z")?.milliseconds == 1_796_026_500_000)
    }
}
