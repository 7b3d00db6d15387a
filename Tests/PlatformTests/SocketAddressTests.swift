import Testing

@testable import Platform

@Suite("A socket address")
struct SocketAddressTests {
    @Test(
        "is read from text",
        arguments: [
            ("192.0.2.1", "192.0.2.1:53"),
            ("192.0.2.1:5353", "192.0.2.1:5353"),
            ("0.0.0.0:0", "0.0.0.0:0"),
            ("::1", "[::1]:53"),
            ("[::1]", "[::1]:53"),
            ("[::]:5300", "[::]:5300"),
            ("2001:db8::53", "[2001:db8::53]:53"),
            ("[2001:DB8::53]:65535", "[2001:db8::53]:65535"),
            ("fe80::1%lo", "[fe80::1%lo]:53"),
            ("[fe80::1%1]:5300", "[fe80::1%lo]:5300"),
            ("fe80::1%4000000", "[fe80::1%4000000]:53"),
            ("[::ffff:192.0.2.1]:53", "192.0.2.1:53"),
        ]
    )
    func scanning(text: String, description: String) throws {
        let address = try #require(SocketAddress(scanning: text, port: 53))
        #expect(address.description == description)
        #expect(SocketAddress(scanning: description, port: 1) == address)
    }

    @Test(
        "is not read from what is none",
        arguments: [
            "", "localhost", "192.0.2", "192.0.2.1.5", "192.0.2.1:", "192.0.2.1:65536",
            "192.0.2.1:+53", "192.0.2.1:-1", "192.0.2.1:5 3", "[192.0.2.1]:53", "[::1", "::1]",
            "[::1]53", "[::1]:", "[::1]x", "::1%", "fe80::1%no-such-interface", "192.0.2.1%lo",
            "[]:53", ":53", "1:2:3", "٣.0.0.1", "192.0.2.1:٥٣",
        ]
    )
    func rejecting(text: String) {
        #expect(SocketAddress(scanning: text, port: 53) == nil)
    }

    @Test("knows what kind of address it is")
    func kinds() throws {
        let any4 = SocketAddress.any(ipv4: true, port: 53)
        let any6 = SocketAddress.any(ipv4: false, port: 53)
        #expect(any4.isAny && any4.isIPv4 && any4.description == "0.0.0.0:53")
        #expect(any6.isAny && !any6.isIPv4 && any6.description == "[::]:53")
        let link = try #require(SocketAddress(scanning: "febf::1", port: 53))
        #expect(link.isLinkLocal)
        let global = try #require(SocketAddress(scanning: "fec0::1", port: 53))
        #expect(!global.isLinkLocal && !global.isAny && !global.isIPv4)
    }

    @Test("is read from the kernel's table of sockets")
    func procfs() {
        #expect(PortHolder.local("0100007F:0035")?.description == "127.0.0.1:53")
        #expect(
            PortHolder.local("B80D0120000000000000000001000000:14E9")?.description
                == "[2001:db8::1]:5353"
        )
        #expect(PortHolder.local("0100007F") == nil)
        #expect(PortHolder.local("01:0035") == nil)
    }
}
