import CompanionClient
import History
import Identity
import LocalState
import PairingAgent

extension LocalHistory {
    /// The history of the user; nil if the user wants none. A failure is reported once, as one line.
    static func ofUser(_ output: Output) -> LocalHistory? {
        let choices = Choices.load(output.context.paths)
        guard let limits = choices.history else { return nil }
        return LocalHistory(path: HistoryStore.path(state: output.context.paths.state), limits: limits) { error in
            var warning = CommandError(describing: error)
            warning.message += "; going on without it"
            output.warn(warning)
        }
    }

    /// Removes a host's part of the history.
    static func forget(_ host: PairedHost, _ output: Output) async {
        let path = HistoryStore.path(state: output.context.paths.state)
        // Also if nothing is written down any more.
        let history = LocalHistory(path: path, limits: HistoryLimits()) { error in
            output.warn(CommandError(describing: error))
        }
        await HistoryRecorder(history, host: HistoryHost(host), now: output.context.now).forget()
        await history.finish(at: output.context.now())
    }
}

extension HistoryHost {
    init(_ host: PairedHost) {
        self.init(id: host.id, name: host.name, family: host.family)
    }
}
