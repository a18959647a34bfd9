import CompanionApp
import CompanionClient
import History
import Identity
import LocalState
import PairingAgent

extension LocalHistory {
    /// The history of the user; nil if the user wants none.
    static func ofUser(_ output: Output) -> LocalHistory? {
        let choices = Choices.load(output.context.paths)
        for fault in choices.faults where output.context.said.insert(fault.message) { output.warn(fault) }
        return choices.history.map { LocalHistory($0, output) }
    }

    /// The history of the user, with these limits. A failure is reported once, as one line.
    convenience init(_ limits: HistoryLimits, _ output: Output) {
        self.init(path: HistoryStore.path(state: output.context.paths.state), limits: limits) { error in
            var warning = AppError(describing: error)
            warning.message += "; continuing without it"
            if output.context.said.insert(warning.message) { output.warn(warning) }
        }
    }

    /// Removes a host's part of the history.
    static func forget(_ host: PairedHost, _ output: Output) async {
        let path = HistoryStore.path(state: output.context.paths.state)
        // Also if nothing is written down any more. The limits remove nothing of other hosts.
        let history = LocalHistory(path: path, limits: HistoryLimits(size: .max)) { error in
            output.warn(AppError(describing: error))
        }
        await HistoryRecorder(history, host: HistoryHost(host), now: output.context.now).forget()
        await history.finish(at: output.context.now())
    }

    /// Removes a host's part if an error says that the host has ended the pairing: what it has shown is no longer this
    /// device's.
    static func forget(_ host: PairedHost, ifRevokedBy error: any Error, _ output: Output) async {
        guard let error = error as? CompanionClientError, error.code == .revoked else { return }
        await forget(host, output)
    }
}

extension HistoryHost {
    init(_ host: PairedHost) {
        self.init(id: host.id, name: host.name, family: host.family, pairedAt: host.pairedAt)
    }
}
