import CompanionClient
import CompanionWire
import Testing

@testable import CompanionApp
@testable import pairtool

/// In which order a paired host is looked for.
@Suite struct HostSearchTests {
    private func place(_ text: String) throws -> CompanionEndpoint {
        try #require(CompanionEndpoint(text))
    }

    private func route(_ text: String) throws -> HostRoute {
        try #require(HostRoute(text))
    }

    private let silence = CompanionClientError(.unreachable, message: "nothing listens there")

    @Test("A host that is where it was is used at once, and nobody is asked for it")
    func lastGood() throws {
        let (old, code) = (try place("10.0.0.1:7879"), try place("10.0.0.2:7879"))
        var search = HostSearch(lastGood: old, code: code)
        #expect(search.begin() == [.attempt(.address(old))])
        #expect(search.take(.proved(.address(old))) == [.use(.address(old), .lastGood)])
        #expect(search.take(.advertised([code])) == [], "it is over")
        #expect(search.take(.failed(.address(old), silence)) == [])
    }

    @Test("Where it is not, adverts are looked for and the address of the QR code is tried at the same time")
    func elsewhere() throws {
        let (old, code) = (try place("10.0.0.1:7879"), try place("10.0.0.2:7879"))
        let (one, two) = (try place("10.0.0.3:7879"), try place("10.0.0.4:7879"))
        var search = HostSearch(lastGood: old, code: code)
        _ = search.begin()
        #expect(search.take(.failed(.address(old), silence)) == [.browse, .attempt(.address(code))])
        #expect(
            search.take(.advertised([one, old, two])) == [.attempt(.address(one)), .attempt(.address(two))],
            "the old one has failed"
        )
        #expect(search.take(.advertised([one, two, code])) == [], "no address is tried twice")
        #expect(search.take(.failed(.address(one), silence)) == [])
        #expect(search.take(.proved(.address(two))) == [.use(.address(two), .advert)])
        #expect(search.tried.map(\.place) == [.address(old), .address(one)])
    }

    @Test("It is given up when every address has failed and all adverts are in, whichever comes last")
    func nowhere() throws {
        let (old, code) = (try place("10.0.0.1:7879"), try place("10.0.0.2:7879"))
        for adverts in [true, false] {
            var search = HostSearch(lastGood: old, code: code)
            _ = search.begin()
            _ = search.take(.failed(.address(old), silence))
            let events: [HostSearch.Event] = [.browseEnded("none"), .failed(.address(code), silence)]
            let ordered = adverts ? events : events.reversed()
            #expect(search.take(ordered[0]) == [])
            #expect(search.take(ordered[1]) == [.giveUp])
            #expect(search.tried.map(\.origin) == [.lastGood, .code])
            #expect(search.browseOutcome == "none")
            #expect(search.take(.proved(.address(code))) == [], "it is over")
        }
    }

    @Test("A QR code that named the last address is no second try, and a record without one has none")
    func sameAddress() throws {
        let old = try place("10.0.0.1:7879")
        for code in [old, nil] {
            var search = HostSearch(lastGood: old, code: code)
            _ = search.begin()
            #expect(search.take(.failed(.address(old), silence)) == [.browse])
            #expect(search.take(.browseEnded("none")) == [.giveUp])
        }
    }

    @Test("Addresses that the user named are the only ones, and past mDNS")
    func named() throws {
        let (one, two) = (try place("10.0.0.1:7878"), try place("10.0.0.1:7879"))
        var search = HostSearch(named: [.address(one), .address(two)])
        #expect(search.begin() == [.attempt(.address(one)), .attempt(.address(two))])
        #expect(search.take(.failed(.address(one), silence)) == [])
        #expect(search.take(.advertised([])) == [])
        #expect(search.take(.failed(.address(two), silence)) == [.giveUp])
        #expect(search.tried.map(\.origin) == [.named, .named])
        var empty = HostSearch(named: [])
        #expect(empty.begin() == [.giveUp])
    }

    @Test("Advertised link-local addresses are tried when all else has failed and all adverts are in")
    func linkLocal() throws {
        let old = try place("10.0.0.1:7879")
        let (local, plain) = (try place("[fe80::1%eth0]:7879"), try place("10.0.0.3:7879"))
        var search = HostSearch(lastGood: old, code: nil)
        _ = search.begin()
        _ = search.take(.failed(.address(old), silence))
        #expect(search.take(.advertised([local, plain])) == [.attempt(.address(plain))])
        #expect(search.take(.failed(.address(plain), silence)) == [], "there may be more adverts")
        #expect(search.take(.browseEnded("advertised")) == [.attempt(.address(local))])
        #expect(search.take(.proved(.address(local))) == [.use(.address(local), .advert)])
        // A client that has begun learns of no zones any more.
        var later = HostSearch(lastGood: old, code: nil, usesLinkLocal: false)
        _ = later.begin()
        _ = later.take(.failed(.address(old), silence))
        #expect(later.take(.advertised([local])) == [])
        #expect(later.take(.browseEnded("advertised")) == [.giveUp])
    }

    @Test("An address that nobody tries can prove nothing")
    func unasked() throws {
        let (old, other) = (try place("10.0.0.1:7879"), try place("10.0.0.9:7879"))
        var search = HostSearch(lastGood: old, code: nil)
        _ = search.begin()
        #expect(search.take(.proved(.address(other))) == [])
        #expect(search.take(.proved(.address(old))) == [.use(.address(old), .lastGood)])
    }

    @Test("Other routes begin one after the other, and adverts are looked for with the first")
    func routes() throws {
        let old = try place("10.0.0.1:7879")
        let (ssh, relay) = (try route("ssh://box"), try route("https://box.example"))
        var search = HostSearch(lastGood: old, code: nil, routes: [ssh, relay])
        #expect(search.begin() == [.pause, .attempt(.address(old))])
        #expect(search.take(.pauseEnded) == [.browse, .pause, .attempt(.route(ssh))])
        #expect(search.take(.pauseEnded) == [.attempt(.route(relay))])
        #expect(search.take(.pauseEnded) == [], "there are no more")
        #expect(search.take(.proved(.route(relay))) == [.use(.route(relay), .route)])
    }

    @Test("A route does not wait for its time when nothing else is tried")
    func nextRoute() throws {
        let old = try place("10.0.0.1:7879")
        let (ssh, name) = (try route("ssh://box"), try route("https://box.example"))
        var search = HostSearch(lastGood: old, code: nil, routes: [ssh, name])
        _ = search.begin()
        #expect(search.take(.failed(.address(old), silence)) == [.browse, .attempt(.route(ssh))])
        #expect(search.take(.failed(.route(ssh), silence)) == [.attempt(.route(name))])
        #expect(search.take(.failed(.route(name), silence)) == [], "adverts may still come")
        #expect(search.take(.browseEnded("none")) == [.giveUp])
        #expect(search.tried.map(\.origin) == [.lastGood, .route, .route])
    }

    @Test("A host that was last reached by a route is looked for on this network from the start")
    func backHome() throws {
        let (old, new) = (try place("10.0.0.1:7879"), try place("10.0.0.2:7879"))
        let ssh = try route("ssh://box")
        var search = HostSearch(lastGood: old, code: nil, routes: [ssh], wasElsewhere: true)
        #expect(search.begin() == [.browse, .pause, .attempt(.address(old))])
        #expect(search.take(.advertised([new])) == [.attempt(.address(new))])
        #expect(search.take(.pauseEnded) == [.attempt(.route(ssh))])
        #expect(search.take(.proved(.address(new))) == [.use(.address(new), .advert)])
    }

    @Test("A host that was never reached directly is tried by its routes at once")
    func far() throws {
        let ssh = try route("ssh://box")
        var search = HostSearch(lastGood: nil, code: nil, routes: [ssh], wasElsewhere: true)
        #expect(search.begin() == [.browse, .attempt(.route(ssh))])
        #expect(search.take(.failed(.route(ssh), silence)) == [])
        #expect(search.take(.browseEnded("none")) == [.giveUp])
    }

    @Test("A flood of adverts is tried a few at a time, and not for ever")
    func flood() throws {
        let old = try place("10.0.0.1:7879")
        var search = HostSearch(lastGood: old, code: nil)
        _ = search.begin()
        _ = search.take(.failed(.address(old), silence))
        let flood = try (1...250).map { try place("10.1.0.\($0):7879") }
        var actions = search.take(.advertised(flood))
        #expect(actions.count == HostSearch.maximumAttempts)
        _ = search.take(.browseEnded("advertised"))
        var attempts = 0
        var hasEnded = false
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .attempt(let place):
                attempts += 1
                actions += search.take(.failed(place, silence))
            case .giveUp: hasEnded = true
            case .browse, .pause, .use: Issue.record("neither is due")
            }
        }
        #expect(hasEnded)
        #expect(attempts == HostSearch.maximumCandidates - 1, "the last address counts")
    }
}

/// `--host ADDRESS`.
@Suite struct HostPlaceTests {
    @Test(
        "An address with or without a port is a place",
        arguments: [
            ("10.0.0.7", "10.0.0.7:7879"), ("10.0.0.7:9000", "10.0.0.7:9000"), ("https://10.0.0.7", "10.0.0.7:7879"),
            ("http://10.0.0.7:9000/", "10.0.0.7:9000"), ("fe80::1%eth0", "[fe80::1%eth0]:7879"),
            ("[fd00::1]:80", "[fd00::1]:80"),
        ]
    )
    func place(text: String, expected: String) throws {
        #expect(try #require(HostAddress(text)).endpoint(7879).description == expected)
    }

    @Test("A name, an id or nonsense is none", arguments: ["Studio", "0123456789abcdef", "", "1.1.1.1:0", "1.1.1.1:x"])
    func none(text: String) {
        #expect(HostAddress(text) == nil)
    }

    @Test("A port may be that of plain HTTP; without one, the usual port comes first")
    func ports() throws {
        let place = try #require(HostAddress("10.0.0.7:65535"))
        #expect(place.secureEndpoints([]).map(\.port) == [65535])
        #expect(try #require(HostAddress("10.0.0.7:7878")).secureEndpoints([]).map(\.port) == [7878, 7879])
        #expect(try #require(HostAddress("10.0.0.7")).secureEndpoints([]).map(\.port) == [7879])
    }
}
