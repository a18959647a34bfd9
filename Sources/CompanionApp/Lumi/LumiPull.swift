package import CompanionClient
import CompanionWire
import History
package import Identity
import LocalState
import PairingAgent

/// Pulls what a Lumi host offers, and moves pulled conversations to the history.
package struct LumiPull: Sendable {
    private let host: PairedHost
    private let environment: AppEnvironment
    private let store: LumiStore

    package init(host: PairedHost, environment: AppEnvironment) {
        (self.host, self.environment) = (host, environment)
        store = LumiStore(data: environment.paths.data, hostID: host.id)
    }

    /// - Returns: The outcome for each file, and why the conversations could not be moved, if they could not.
    package func run(
        _ client: LumiClient,
        withKeys: Bool
    ) async throws -> (items: [LumiSync.Item], failure: (any Error)?) {
        // Whatever is wrong with the history: everything can be pulled without it.
        let mark = try? await moveConversations()
        let items = try await LumiSync(store: store, withKeys: withKeys, pulledMark: mark).run(client)
        do {
            _ = try await moveConversations()
            await list()
            return (items, nil)
        } catch {
            return (items, error)
        }
    }

    /// - Returns: The mark of the last pull, as ``LumiConversations/pulledMark()`` returns it.
    private func moveConversations() async throws -> Int64? {
        try await environment.withHistoryStore { history in
            let conversations = LumiConversations(store, in: history, of: HistoryHost(host), now: environment.now)
            try await conversations.move()
            return try await conversations.pulledMark()
        }
    }

    /// Lists agents and conversations in the history, if the user wants one, so that they are found there by name.
    private func list() async {
        guard let history = LocalHistory.ofUser(environment) else { return }
        let recorder = HistoryRecorder(history, host: HistoryHost(host), now: environment.now)
        // What cannot be listed is listed by the next command that reads it.
        if let conversations = await LumiConversations(store, recorder: recorder) {
            try? await recorder.list(conversations)
        }
        await history.finish(at: environment.now())
    }
}
