import CompanionClient
package import History
package import Identity
import LocalState
import PairingAgent

extension AppEnvironment {
    /// Runs a body with the history, whether or not the user wants one.
    ///
    /// - Throws: `HistoryError`; what the body throws.
    package func withHistoryStore<R>(_ body: (HistoryStore) async throws -> R) async throws -> R {
        let store = try await HistoryStore.open(path: HistoryStore.path(state: paths.state))
        let result: Result<R, any Error>
        do {
            result = .success(try await body(store))
        } catch {
            result = .failure(error)
        }
        await store.close()
        return try result.get()
    }
}

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
