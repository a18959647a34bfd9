import CompanionWire
import FoundationEssentials
import QRCodec
import Testing

@testable import pairtool

/// What a host draws where the window has no room for all of a payload.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SmallCodeTests {
    @Test("A device pairs from each of the sizes of a payload, and both sides prove that they know the code")
    func pairing() async throws {
        for number in 0..<3 {
            try await withProject { host, user in
                try await withRunningHost(host, ["--project", host.directory + "/garden"]) { events in
                    let sizes = try await events.payload.sizes
                    try #require(sizes.count == 3)
                    try await user.pair(sizes[number].text)
                    let row = try #require(try await user.run("hosts", "--json").json.first)
                    #expect(row["trust"]?.string == "verified" && row["id"]?.string == sizes[0].host)
                }
            }
        }
    }

    @Test("Each size is smaller than the one before; key, code and address are in all of them")
    func sizes() throws {
        let payload = PairingPayload(
            code: "482913",
            token: "AbCdEfGhIjKlMnOpQrStUv",
            expiresAt: Date(timeIntervalSince1970: 1_795_253_400),
            version: 2,
            host: "0123456789abcdef",
            spki: Base64URL.encode([UInt8](repeating: 0x5A, count: 32)),
            port: PairingPayload.defaultPort,
            addr: "192.168.100.20"
        )
        let versions = try payload.sizes.map { try QRSymbol(smallest: Array($0.text.utf8), atLeast: .low).version }
        #expect(versions == [10, 9, 6])
        for size in payload.sizes {
            #expect(size.code == payload.code && size.spki == payload.spki && size.addr == payload.addr)
            guard case .pairing(let read) = QRContent(Array(size.text.utf8)) else { throw CancellationError() }
            #expect(read == size)
        }
        // What names no key has nothing that could be left out.
        #expect(PairingPayload(code: "482913", token: "t", expiresAt: Date()).sizes.count == 1)
    }
}
