import CompanionClient
import CompanionTestSupport
import CompanionWire
import FoundationEssentials
import History

/// A Lumi host's store and conversations.
struct LumiChats: Sendable {
    let store: LumiStore
    let history: HistoryStore
    static let host = HistoryHost(id: "00ff00ff00ff00ff", name: "Studio", family: .lumi)

    /// Of another process each time.
    var conversations: LumiConversations { LumiConversations(store, in: history, of: Self.host) }
}

/// Runs a body with the conversations of a store and a history of their own.
func withLumiChats<R>(
    _ store: LumiStore,
    _ directory: String,
    _ body: (LumiChats) async throws -> R
) async throws -> R {
    let history = try await HistoryStore.open(path: HistoryStore.path(state: directory + "/state"))
    let result: Result<R, any Error>
    do {
        result = .success(try await body(LumiChats(store: store, history: history)))
    } catch {
        result = .failure(error)
    }
    await history.close()
    return try result.get()
}
