package import CompanionClient
package import History
package import Identity
import LocalState
import PairingAgent

extension LocalHistory {
    /// The history of the user; nil if the user wants none.
    package static func ofUser(_ environment: AppEnvironment) -> LocalHistory? {
        environment.historyLimits().map { LocalHistory($0, in: environment) }
    }

    /// The history of the user, with these limits. A failure is reported once, as one line.
    convenience init(_ limits: HistoryLimits, in environment: AppEnvironment) {
        self.init(path: HistoryStore.path(state: environment.paths.state), limits: limits) { error in
            var warning = AppError(describing: error)
            warning.message += "; continuing without it"
            environment.interaction.warn(warning, once: true)
        }
    }

    /// Removes a host's part of the history.
    package static func forget(_ host: PairedHost, in environment: AppEnvironment) async {
        let path = HistoryStore.path(state: environment.paths.state)
        // Also if nothing is written down any more. The limits remove nothing of other hosts.
        let history = LocalHistory(path: path, limits: HistoryLimits(size: .max)) { error in
            environment.interaction.warn(error)
        }
        await HistoryRecorder(history, host: HistoryHost(host), now: environment.now).forget()
        await history.finish(at: environment.now())
    }
}

extension HistoryHost {
    package init(_ host: PairedHost) {
        self.init(id: host.id, name: host.name, family: host.family, pairedAt: host.pairedAt)
    }
}
