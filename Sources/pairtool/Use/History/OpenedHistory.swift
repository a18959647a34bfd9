import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import Identity
import LocalState
import PairingAgent

/// The history, for commands about it: other than elsewhere, its failure is theirs.
struct OpenedHistory: Sendable {
    let store: HistoryStore
    let choices: Choices
    let output: Output

    /// Takes what families store of their hosts themselves.
    ///
    /// - Returns: Why something is missing.
    func keepStored(_ output: Output) async -> CommandError? {
        let context = output.context
        guard let limits = choices.history,
            let hosts = try? PairedHostStore(directory: context.paths.data).load().hosts
        else { return nil }
        let history = LocalHistory(limits, output)
        var missing: CommandError?
        for host in hosts {
            do {
                let recorder = HistoryRecorder(history, host: HistoryHost(host), now: context.now)
                try await host.family.behavior.keepStored(of: host, recorder, context: context)
            } catch {
                missing = CommandError(describing: error)
            }
        }
        await history.finish(at: context.now())
        return missing
    }
}

extension HistoryStore {
    /// The host that a word names: by id, id prefix or name.
    func host(_ word: String) async throws -> HistoryHost {
        try NameMatch.find(
            word,
            in: try await hosts(),
            kind: "host",
            listing: "pairtool hosts",
            ids: { [$0.id] },
            names: { [$0.name] }
        )
    }
}

extension Output {
    /// Runs a body with the history.
    ///
    /// - Throws: `HistoryError`; ``CommandError`` if the user wants no history.
    func withHistory<R>(_ body: (OpenedHistory) async throws -> R) async throws -> R {
        let choices = Choices.load(context.paths)
        choices.faults.forEach(warn)
        guard !choices.isHistoryOff else {
            throw CommandError(
                .failed,
                "history.off",
                "the history is turned off",
                next: "remove off = true from \(context.paths.config)/config.toml"
            )
        }
        let store = try HistoryStore(path: HistoryStore.path(state: context.paths.state))
        defer { store.close() }
        return try await body(OpenedHistory(store: store, choices: choices, output: self))
    }
}
