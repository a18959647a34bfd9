import CompanionClient
import CompanionTestSupport
import CompanionWire
import Foundation
import Glibc
import Logging
import PairingAgent
import Testing

@Suite("The way to a host that has several addresses", .timeLimit(.minutes(15))) struct PairingRouteTests {
    /// A code of a host, with addresses.
    private static func payload(of host: TLSTestHost, _ addresses: [String], spki: String? = nil) -> PairingPayload {
        PairingPayload(
            code: "482913",
            token: "token",
            expiresAt: nil,
            version: 2,
            host: "0123456789abcdef",
            spki: spki ?? host.certificate.spki,
            port: host.port
        )
        .naming(addresses)
    }

    private let tunnels = Self.tunnels(in: "/nonexistent")

    private static func tunnels(in directory: String) -> Tunnel.Settings {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        return Tunnel.Settings(directory: directory, keys: directory, logger: logger)
    }

    private func endpoint(_ payload: PairingPayload) async throws -> CompanionEndpoint {
        let target = try #require(PairingTarget(payload: payload))
        let router = PairingRouter(target: target, payload: payload, tunnels: tunnels)
        guard case .verified(.address(let endpoint), _, _) = try await router.route() else { throw CancellationError() }
        return endpoint
    }

    @Test("A code whose first address leads nowhere, or to another machine, leads to its host by another one")
    func otherAddress() async throws {
        try await withTLSTestHost(answer: { _, _ in [] }) { host in
            // Nothing listens at 127.0.0.2.
            let nowhere = Self.payload(of: host, ["127.0.0.2", "127.0.0.1"])
            let found = try await endpoint(nowhere)
            #expect(found.address == IPAddress("127.0.0.1"))
            // What is no local address is not contacted, and does not hide the others.
            let odd = Self.payload(of: host, ["203.0.113.7", "studio.local", "127.0.0.1"])
            let other = try await endpoint(odd)
            #expect(other.address == IPAddress("127.0.0.1"))
        }
    }

    @Test("Addresses that accept and say nothing do not hold up the right one")
    func silentAddresses() async throws {
        try await withTLSTestHost(answer: { _, _ in [] }) { host in
            let silent = (2...41).map { "127.0.0.\($0)" }
            try await withSilence(at: silent, port: host.port) {
                let payload = Self.payload(of: host, ["127.0.0.1"])
                var target = try #require(PairingTarget(payload: payload))
                target.secureEndpoints =
                    try silent.map { try #require(CompanionEndpoint("\($0):\(host.port)")) } + target.secureEndpoints
                // One after the other, they would take two minutes.
                let route = try await PairingRouter(target: target, payload: payload, tunnels: tunnels).route()
                guard case .verified(.address(let endpoint), _, _) = route else { throw CancellationError() }
                #expect(endpoint.address == IPAddress("127.0.0.1"))
            }
        }
    }

    @Test("If no address leads to the key, another key is the error, wherever it was met")
    func otherKey() async throws {
        try await withTLSTestHost(answer: { _, _ in [] }) { host in
            let payload = Self.payload(
                of: host,
                ["127.0.0.2", "127.0.0.1", "127.0.0.3"],
                spki: Base64URL.encode([UInt8](repeating: 7, count: 32))
            )
            let error = await #expect(throws: PairingError.self) { try await endpoint(payload) }
            #expect(error?.code == .otherKey)
        }
    }

    @Test("If neither an address nor a relay leads to the host, both are named, each with its reason")
    func addressAndRelay() async throws {
        try await withTLSTestHost(answer: { _, _ in [] }) { host in
            let directory = FileManager.default.temporaryDirectory.path + "/pairtool-route-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: directory) }
            // Nothing listens at 127.0.0.2.
            let relay = try #require(RelayAddress(name: "127.0.0.2", port: host.port))
            let id = try #require(RelayID(bytes: [UInt8](repeating: 7, count: 32)))
            let payload = Self.payload(of: host, ["127.0.0.3"]).naming(relays: [relay], host: id)
            let target = try #require(PairingTarget(payload: payload))
            let router = PairingRouter(target: target, payload: payload, tunnels: Self.tunnels(in: directory))
            let error = await #expect(throws: PairingError.self) { try await router.route() }
            let words = try #require(error?.message)
            #expect(words.contains("127.0.0.3:\(host.port)") && words.contains("127.0.0.2:\(host.port)"), "\(words)")
        }
    }

    /// Listens at addresses, and answers nobody: the system accepts the connections.
    private func withSilence<R>(at addresses: [String], port: Int, _ body: () async throws -> R) async throws -> R {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for text in addresses {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = inet_addr(text)
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            try #require(isBound && listen(descriptor, 4) == 0, "\(text): \(String(cString: strerror(errno)))")
        }
        return try await body()
    }
}
