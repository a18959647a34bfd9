import CompanionWire
import Testing

@Suite struct AddressTests {
    @Test(
        "Addresses that a companion may speak to",
        arguments: [
            "127.0.0.1", "127.255.0.9", "::1", "10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.0.1", "169.254.3.4",
            "fe80::1%eth0", "fd00::1", "fc00::1", "100.64.0.1", "100.127.255.255", "::ffff:192.168.1.1",
        ]
    )
    func local(text: String) throws {
        #expect(try #require(IPAddress(text)).isLocal)
    }

    @Test(
        "Addresses that it may not speak to",
        arguments: [
            "8.8.8.8", "172.32.0.1", "172.15.0.1", "100.63.255.255", "100.128.0.1", "0.0.0.0", "224.0.0.251", "::",
            "ff02::fb",
            "2001:db8::1", "::ffff:8.8.8.8", "255.255.255.255", "192.169.0.1",
        ]
    )
    func foreign(text: String) throws {
        #expect(try !#require(IPAddress(text)).isLocal)
    }

    @Test(
        "Text that is no address",
        arguments: [
            "", "localhost", "1.2.3", "1.2.3.4.5", "01.2.3.4", "fe80::1%", "fe80::1%a b", "1.2.3.4%eth0", "[::1", "::g",
        ]
    )
    func invalid(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("The zone stays with link-local addresses only")
    func zones() {
        #expect(IPAddress("fe80::1%wlan0")?.description == "fe80::1%wlan0")
        #expect(IPAddress("fd00::1%wlan0")?.description == "fd00::1")
    }

    @Test(
        "Endpoints are read in every form that people write",
        arguments: [
            ("192.168.1.5", "192.168.1.5:7878"), ("192.168.1.5:80", "192.168.1.5:80"),
            ("http://10.0.0.1:1/", "10.0.0.1:1"),
            ("HTTP://10.0.0.1", "10.0.0.1:7878"), ("::1", "[::1]:7878"), ("[::1]:9", "[::1]:9"),
            ("http://[fe80::1%eth0]:7878", "[fe80::1%eth0]:7878"),
        ]
    )
    func endpoints(text: String, expected: String) {
        #expect(CompanionEndpoint(text)?.description == expected)
    }

    @Test(
        "Endpoints that are none",
        arguments: [
            "", "mac.local", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:", "10.0.0.1:+80", "https://10.0.0.1",
            "::1:7878:x",
        ]
    )
    func invalidEndpoints(text: String) {
        #expect(CompanionEndpoint(text) == nil)
    }
}
