import Discovery
import Testing

@Suite("Advertisements")
struct AdvertisementTests {
    private func expectRefusal(_ advertisement: Advertisement) async {
        let error = await #expect(throws: DiscoveryError.self) {
            try await loopbackClient().withAdvertisement(advertisement) { _ in Issue.record("it was published") }
        }
        #expect(error?.code == .invalidAdvertisement)
    }

    @Test("A name that is empty or holds NUL is refused", arguments: ["", "a\u{0}b"])
    func names(name: String) async {
        await expectRefusal(Advertisement(name: name, services: [(type: .lumi, port: 1, txt: [])]))
    }

    @Test("A port outside 1…65535 is refused", arguments: [-1, 0, 65536])
    func ports(port: Int) async {
        await expectRefusal(Advertisement(name: "A", services: [(type: .lumi, port: port, txt: [])]))
    }

    @Test(
        "A TXT key that is empty, not printable ASCII or holds an equals sign is refused",
        arguments: ["", "ä", "a=", "\n"]
    )
    func keys(key: String) async {
        await expectRefusal(Advertisement(name: "A", services: [(type: .lumi, port: 1, txt: [(key, "1")])]))
    }

    @Test("A TXT item over 255 bytes is refused")
    func longItem() async {
        let value = String(repeating: "v", count: 254)
        await expectRefusal(Advertisement(name: "A", services: [(type: .lumi, port: 1, txt: [("k", value)])]))
    }

    @Test("No service, or one type twice, is refused")
    func services() async {
        await expectRefusal(Advertisement(name: "A", services: []))
        await expectRefusal(
            Advertisement(name: "A", services: [(type: .lumi, port: 1, txt: []), (type: .lumi, port: 2, txt: [])])
        )
    }
}
