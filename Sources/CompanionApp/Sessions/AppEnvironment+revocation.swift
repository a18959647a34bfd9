import CompanionClient
package import Identity
import LocalState
import PairingAgent

extension AppEnvironment {
    /// Ends a pairing on this side if an error says that the host has ended it.
    package func endPairing(with host: PairedHost, ifRevokedBy error: any Error) async {
        guard let error = error as? CompanionClientError, error.code == .revoked else { return }
        await endPairing(with: host)
    }

    /// Ends a pairing on this side: the host's part of the history is no longer this device's and is removed, and the
    /// record says since when.
    package func endPairing(with host: PairedHost) async {
        await LocalHistory.forget(host, in: self)
        do {
            try PairedHostStore(directory: paths.data).update { hosts in
                guard let index = hosts.hosts.firstIndex(where: { $0.id == host.id }) else { return }
                hosts.hosts[index].revokedAt = hosts.hosts[index].revokedAt ?? now()
            }
        } catch {
            interaction.warn(error)
        }
    }
}
