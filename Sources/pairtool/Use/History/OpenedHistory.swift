import CompanionApp
import CompanionClient
import CompanionWire
import FoundationEssentials
import History
import Identity
import LocalState
import PairingAgent
import Terminal

/// The history, for commands about it: other than elsewhere, its failure is theirs.
struct OpenedHistory: Sendable {
    let store: HistoryStore
    let choices: Choices
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
            names: { [$0.name] },
            nobody: "the history has no"
        )
    }
}

extension Output {
    /// Runs a body with the history.
    ///
    /// - Throws: `HistoryError`; ``AppError`` if the user wants no history.
    func withHistory<R>(_ body: (OpenedHistory) async throws -> R) async throws -> R {
        let choices = Choices.load(context.paths)
        choices.faults.forEach { warn($0) }
        guard !choices.isHistoryOff else {
            throw AppError(
                .failed,
                "history.off",
                "the history is turned off",
                next: "remove off = true from \(context.paths.config)/config.toml"
            )
        }
        return try await environment().withHistoryStore { try await body(OpenedHistory(store: $0, choices: choices)) }
    }
}
