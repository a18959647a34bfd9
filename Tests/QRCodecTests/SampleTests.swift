import QRCodec
import Testing

@Suite("The samples that the guide uses")
struct SampleTests {
    @Test(
        "A sample holds the payload that its name says",
        arguments: [
            ("good.png", Samples.good),
            ("expired.png", Samples.expired),
            ("inverted.png", Samples.good),
            ("photographed.jpg", Samples.good),
            ("foreign-url.png", "https://example.org/"),
            ("foreign-wifi.png", "WIFI:T:WPA;S:Sample Network;P:sample-password;;"),
        ]
    )
    func reads(name: String, payload: String) throws {
        let found = try QRScanner.scan(Samples.bytes(name))
        #expect(found.map(\.text) == [payload])
        #expect(found.first?.corners.count == 4)
    }

    @Test("The damaged sample is a sound picture without a readable QR code")
    func damaged() throws {
        #expect(try QRScanner.scan(Samples.bytes("damaged.png")).isEmpty)
    }

    @Test(
        "The payload files say what the pictures say",
        arguments: [("payload-good.json", Samples.good), ("payload-expired.json", Samples.expired)]
    )
    func payloads(name: String, payload: String) throws {
        #expect(try String(decoding: Samples.bytes(name), as: UTF8.self) == payload + "\n")
    }

    @Test("The Mac's payload makes a symbol of version 11 at the highest correction")
    func version() throws {
        let symbol = try QRSymbol(bytes: Array(Samples.good.utf8), errorCorrection: .high)
        #expect(symbol.version == 11)
        #expect(symbol.size == 61)
    }
}
