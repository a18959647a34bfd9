import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState
import Logging
import PairingAgent
import Relay

extension PairedHost {
    /// Learns from the host how it is reached from other networks, and tells it what this device shows to relays, unless
    /// that was done lately. It is no reason to fail if the host does not tell.
    ///
    /// - Parameter interval: Seconds since the last time, at least.
    func learnRoutes(
        over client: CompanionAPIClient,
        atMostEvery interval: TimeInterval,
        in environment: AppEnvironment
    ) async {
        let now = environment.now()
        guard trust == .verified, routesAskedAt.map({ now.timeIntervalSince($0) >= interval }) ?? true else { return }
        do {
            let told = try await ask(client, in: environment)
            try PairedHostStore(directory: environment.paths.data).update { hosts in
                guard let index = hosts.hosts.firstIndex(where: { $0.id == id && $0.spki == spki }) else { return }
                hosts.hosts[index].routesAskedAt = now
                hosts.hosts[index].take(told: told)
            }
        } catch {
            environment.logger("reach").debug("routes not learned", metadata: ["reason": "\(error)"])
        }
    }

    /// The routes over the host's relays.
    private func ask(_ client: CompanionAPIClient, in environment: AppEnvironment) async throws -> [HostRoute] {
        let known = relayID
        let own = try known.flatMap { try environment.tunnels.identityFile(forHost: $0).existing()?.id }
        guard var answer = try await client.reach(relayID: own) else { return [] }
        // The first time: now it is known for which host this device needs an identity.
        if let id = answer.relayId, id != known || own == nil {
            let new = try environment.tunnels.identityFile(forHost: id).identity().id
            answer = try await client.reach(relayID: new) ?? answer
        }
        return answer.routes
    }

    /// The id by which relays know the host; nil if that is not known here.
    var relayID: RelayID? {
        let routes = (routes ?? []) + [via].compactMap(\.self)
        return routes.lazy.compactMap { route in
            if case .relay(let relay) = route { relay.host } else { nil }
        }.first
    }
}
