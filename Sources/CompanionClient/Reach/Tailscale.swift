import AsyncHTTPClient
package import CompanionWire
import FoundationEssentials
package import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Providers

/// The Tailscale network of this machine, as the daemon describes it on its local socket (tailscaled's LocalAPI).
package enum Tailscale {
    /// A machine of the network.
    package struct Machine: Sendable, Hashable {
        /// Its name in the network, without the domain.
        package var name: String
        /// In the daemon's order, IPv4 first.
        package var addresses: [IPAddress]
    }

    /// The daemon's socket, unless `TS_SOCKET` names another.
    package static let socket = "/run/tailscale/tailscaled.sock"
    /// Machines that are listed.
    private static let mostMachines = 256
    private static let limit = Duration.seconds(2)
    private static let largestAnswer = 16 << 20

    /// The other machines that are online; none where the network is down.
    ///
    /// - Throws: What the HTTP library throws, `DecodingError`.
    package static func machines(socket: String, logger: Logger) async throws -> [Machine] {
        let configuration = HTTPClient.Configuration.direct(connect: limit, idle: limit)
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            var request = HTTPClientRequest(url: "http+unix://\(percentEncoded(socket))/localapi/v0/status")
            request.headers.add(name: "Host", value: "local-tailscaled.sock")
            let response = try await http.execute(
                request,
                deadline: .now() + TimeAmount(limit),
                logger: logger.withoutBodies
            )
            guard response.status == .ok else { return [] }
            let body = try await response.body.collect(upTo: largestAnswer)
            return try JSONDecoder().decode(Status.self, from: Data(buffer: body)).machines
        }
    }

    private struct Status: Decodable {
        struct Peer: Decodable {
            var hostName: String?
            var dnsName: String?
            var addresses: [String]?
            var isOnline: Bool?

            private enum CodingKeys: String, CodingKey {
                case hostName = "HostName"
                case dnsName = "DNSName"
                case addresses = "TailscaleIPs"
                case isOnline = "Online"
            }
        }

        var state: String?
        var peers: [String: Peer]?

        private enum CodingKeys: String, CodingKey {
            case state = "BackendState"
            case peers = "Peer"
        }

        var machines: [Machine] {
            guard state == "Running" else { return [] }
            let found = (peers ?? [:]).values.compactMap { peer -> Machine? in
                // Nothing outside the ranges of such networks is contacted on the word of the daemon.
                let addresses = (peer.addresses ?? []).compactMap { IPAddress($0) }.filter(\.isLocal)
                guard peer.isOnline == true, !addresses.isEmpty else { return nil }
                let name = peer.dnsName.flatMap { $0.parts(".").first.map(String.init) } ?? peer.hostName ?? ""
                return Machine(name: name.isEmpty ? "\(addresses[0])" : name, addresses: addresses)
            }
            return Array(found.sorted { ($0.name, $0.addresses[0]) < ($1.name, $1.addresses[0]) }.prefix(mostMachines))
        }
    }
}
