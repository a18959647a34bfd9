import CompanionWire
import FoundationEssentials
import Testing

@Suite("Addresses of relays")
struct RelayAddressTests {
    private static let id = RecordedRelay.otherText
    /// 253 bytes in labels of 61 to 63.
    private static let longestName =
        Array(repeating: String(repeating: "a", count: 63), count: 3)
        .joined(separator: ".") + "." + String(repeating: "b", count: 61)

    @Test(
        "Addresses are read in every form, and written in one",
        arguments: [
            ("relay://relay.example", "relay://relay.example:22067/"),
            ("relay://relay.example/", "relay://relay.example:22067/"),
            ("RELAY://Relay.Example:443/", "relay://relay.example:443/"),
            ("relay://relay.example:443?id=\(id)", "relay://relay.example:443/?id=\(id)"),
            ("relay://relay.example:443/?id=\(id)", "relay://relay.example:443/?id=\(id)"),
            ("relay://relay.example:443/?ID=\(id.lowercased())", "relay://relay.example:443/?id=\(id)"),
            ("relay://192.0.2.7:1/?id=\(id.replacing("-", with: ""))", "relay://192.0.2.7:1/?id=\(id)"),
            ("relay://[2001:DB8:0::1]:65535/", "relay://[2001:db8::1]:65535/"),
            ("relay://[::1]", "relay://[::1]:22067/"),
            ("relay://localhost:22067/?", "relay://localhost:22067/"),
            ("relay://xn--bcher-kva.example/?&&", "relay://xn--bcher-kva.example:22067/"),
            ("relay://my_relay.7-eleven.example/", "relay://my_relay.7-eleven.example:22067/"),
            ("relay://\(longestName)/", "relay://\(longestName):22067/"),
            (
                "relay://127.0.0.1:46445/?id=\(id)&pingInterval=1m0s&networkTimeout=2m0s&sessionLimitBps=0"
                    + "&globalLimitBps=0&statusAddr=&providedBy=A%20firm",
                "relay://127.0.0.1:46445/?id=\(id)"
            ),
            ("relay://a.example/?providedBy=x&token=y&id=\(id)&", "relay://a.example:22067/?id=\(id)"),
        ]
    )
    func valid(text: String, canonical: String) throws {
        let address = try #require(RelayAddress(text))
        #expect(address.description == canonical)
        #expect(RelayAddress(canonical) == address)
    }

    @Test("Its parts")
    func parts() throws {
        let address = try #require(RelayAddress("relay://[2001:db8::1]:443/?id=\(Self.id)"))
        #expect(address.name == "2001:db8::1" && address.port == 443 && address.authority == "[2001:db8::1]:443")
        #expect(address.id == RelayID(Self.id))
        #expect(address.replacingID(with: nil).description == "relay://[2001:db8::1]:443/")
        #expect(RelayAddress(name: "[2001:db8::1]", port: 443, id: RelayID(Self.id)) == address)
        #expect(RelayAddress(name: "Relay.Example")?.authority == "relay.example:22067")
        #expect(RelayAddress(name: "relay.example", port: 0) == nil && RelayAddress(name: "a b") == nil)
    }

    @Test(
        "Addresses that are none",
        arguments: [
            "", "relay.example", "relay:relay.example", "relay:/relay.example", "https://relay.example/",
            "dynamic+https://relays.syncthing.net/endpoint", "relay://", "relay:///", "relay:///?id=\(id)",
            "relay://:443/", "relay://relay.example:/", "relay://relay.example:0/", "relay://relay.example:65536/",
            "relay://relay.example:+443/", "relay://relay.example:443:443/", "relay://relay.example:4e1/",
            "relay://user@relay.example/", "relay://user:word@relay.example/", "relay://relay.example@evil.example/",
            "relay://relay.example/path", "relay://relay.example//", "relay://relay.example/../",
            "relay://relay.example/#part", "relay://relay.example/?id=\(id)#", "relay://relay.example\\evil.example/",
            "relay://2001:db8::1/", "relay://[2001:db8::1/", "relay://[192.0.2.7]/", "relay://[fe80::1%25eth0]/",
            "relay://[fe80::1%eth0]/", "relay://[::1]x:443/",
            "relay://.example/", "relay://a..example/", "relay://example./", "relay://-a.example/",
            "relay://a-.example/", "relay://a.example-/", "relay://a%2eexample/", "relay://*.example/",
            "relay://127.1/", "relay://2130706433/", "relay://0x7f000001/", "relay://0x7F.0x0.0x0.0x1/",
            "relay://1.2.3.256/", "relay://192.0.2.7.8/", "relay://example.0x/",
            "relay://\(String(repeating: "a", count: 64)).example/", "relay://\(longestName)b/",
            "relay://relay.example/?id=", "relay://relay.example/?id", "relay://relay.example/?ID",
            "relay://relay.example/?%69d=\(id)", "relay://relay.example/?id=\(id)&id=\(id)",
            "relay://relay.example/?id=\(id.dropLast())", "relay://relay.example/?id=%50\(id.dropFirst())",
            " relay://relay.example/", "relay://relay.example/ ", "relay://relay.example/\n",
            "relay://relay.exam\u{AD}ple/", "relay://relay\u{202E}.example/", "relay://bücher.example/",
            "relay://relay.example/\u{301}", "relay://relay.example/?providedBy=\u{1B}[2J",
            "relay://relay.example/?providedBy=" + String(repeating: "x", count: 2048),
        ]
    )
    func invalid(text: String) {
        #expect(RelayAddress(text) == nil)
    }

    @Test("In JSON it is its text")
    func json() throws {
        let address = try #require(RelayAddress("relay://relay.example:443/?id=\(Self.id)"))
        let data = try JSONEncoder().encode([address])
        #expect(try JSONDecoder().decode([RelayAddress].self, from: data) == [address])
        #expect(try JSONDecoder().decode([String].self, from: data) == [address.description])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([RelayAddress].self, from: Data(#"["relay://"]"#.utf8))
        }
    }
}
