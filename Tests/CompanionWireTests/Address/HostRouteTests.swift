import CompanionWire
import Testing

@Suite struct HostRouteTests {
    @Test(
        "Names, machines of ssh and relays are routes, and are written in one way",
        arguments: [
            ("https://box.example", "https://box.example"), ("box.example:7879", "https://box.example:7879"),
            ("HTTPS://Box.Example/", "https://box.example"), ("100.64.0.7", "https://100.64.0.7"),
            ("fd7a:115c:a1e0::7", "https://[fd7a:115c:a1e0::7]"), ("[fd00::1]:9000", "https://[fd00::1]:9000"),
            ("ssh://box", "ssh://box"), ("ssh://ada@box:2222", "ssh://ada@box:2222"),
            ("ssh://box/9000", "ssh://box/9000"), ("ssh://box/7879", "ssh://box"), ("ssh://box/", "ssh://box"),
            ("ssh://[fd00::1]:22/9000", "ssh://[fd00::1]:22/9000"),
        ]
    )
    func reads(text: String, canonical: String) throws {
        let route = try #require(HostRoute(text))
        #expect("\(route)" == canonical)
        #expect(HostRoute(canonical) == route)
    }

    @Test(
        "What could be an option or a word of a shell is no route, nor is anything else",
        arguments: [
            "", "ssh://", "ssh://-oProxyCommand=id", "ssh://box -v", "ssh://-l@box", "ssh://a b@box", "ssh://box/x",
            "ssh://box/0", "ssh://box/65536", "ssh://box/1/2", "ssh://box:0", "ssh://$(id)@box", "ssh://box;id",
            "http://box.example", "ftp://box", "https://a b", "https://box/path", "https://", "relay://box",
            "box..example",
            "relay://box/?id=1&host=2", "https://\u{202e}box",
        ]
    )
    func refuses(text: String) {
        #expect(HostRoute(text) == nil)
    }

    @Test("A relay's route names the host's id")
    func relay() throws {
        let id = "PN3LRSE-DF4P7VF-ZH543TL-KPU6QVW-HABPZLA-DHNWEDD-MJV3N7D-UTJXPAE"
        let other = "VDFHUX4-OX7LIDD-ZOI7UST-EABH2W4-5MMANE5-63SQQJW-6HREANJ-CLS2NQA"
        let route = try #require(HostRoute("relay://relay.example:443/?id=\(id)&host=\(other)"))
        #expect(HostRoute("\(route)") == route)
        #expect(route.place == "relay://relay.example:443")
        #expect(route.rung == .relay)
        let plain = try #require(HostRoute("relay://relay.example/?host=\(other)"))
        #expect(HostRoute("\(plain)") == plain)
    }

    @Test(
        "The rung of a route is known as far as it shows",
        arguments: [
            ("https://box.example", HostRoute.Rung.direct), ("https://box.tail1.ts.net", .mesh), ("100.64.0.7", .mesh),
            ("ssh://box", .ssh),
        ]
    )
    func rung(text: String, rung: HostRoute.Rung) throws {
        #expect(try #require(HostRoute(text)).rung == rung)
    }
}
