package import CompanionWire
package import FoundationEssentials
package import History
import NIOConcurrencyHelpers

/// The history, opened when it is first needed. After the first failure it is not tried again: what commands do for a
/// host, they do without it.
package final class LocalHistory: Sendable {
    private enum State {
        case closed, failed
        /// It is open, or being opened.
        case open(Task<Result<HistoryStore, HistoryError>, Never>)
    }

    private let path: String
    private let limits: HistoryLimits
    private let report: @Sendable (HistoryError) -> Void
    private let state = NIOLockedValueBox(State.closed)

    /// - Parameters:
    ///   - limits: How much is kept, and how long.
    ///   - report: Takes the first failure.
    package init(path: String, limits: HistoryLimits, report: @escaping @Sendable (HistoryError) -> Void) {
        (self.path, self.limits, self.report) = (path, limits, report)
    }

    /// A history that is open already. The caller closes it.
    package init(_ store: HistoryStore, limits: HistoryLimits, report: @escaping @Sendable (HistoryError) -> Void) {
        (path, self.limits, self.report) = (store.path, limits, report)
        state.withLockedValue { $0 = .open(Task { .success(store) }) }
    }

    /// Runs a body with the history.
    ///
    /// - Parameter create: Whether to create a missing one.
    /// - Returns: nil if it cannot be used, or if there is none.
    package func use<R>(
        create: Bool = true,
        _ body: (HistoryStore) async throws(HistoryError) -> R
    ) async -> R? {
        do throws(HistoryError) {
            guard let store = try await opened(create: create) else { return nil }
            return try await body(store)
        } catch {
            // The user has had the host forgotten: nothing else is wrong.
            if error.code == .forgotten { return nil }
            let isFirst = state.withLockedValue { state in
                if case .failed = state { return false }
                state = .failed
                return true
            }
            if isFirst { report(error) }
            return nil
        }
    }

    private func opened(create: Bool) async throws(HistoryError) -> HistoryStore? {
        let opening: Task<Result<HistoryStore, HistoryError>, Never>? = state.withLockedValue { state in
            switch state {
            case .open(let opening): return opening
            case .failed: return nil
            case .closed:
                guard create || FileManager.default.fileExists(atPath: path) else { return nil }
                // The next caller waits for the same task.
                let opening = Task { [path] in
                    do throws(HistoryError) {
                        return Result<HistoryStore, HistoryError>.success(try await HistoryStore.open(path: path))
                    } catch {
                        return .failure(error)
                    }
                }
                state = .open(opening)
                return opening
            }
        }
        return try await opening?.value.get()
    }

    /// Keeps the limits and closes the history, if it was used.
    package func finish(at now: Date) async {
        guard case .open(let opening) = state.withLockedValue(\.self), let store = try? await opening.value.get()
        else { return }
        await use { store throws(HistoryError) in try await store.pruneIfDue(limits, now: now) }
        state.withLockedValue { $0 = .closed }
        await store.close()
    }
}

/// Writes down in the history what one host lists and says.
package struct HistoryRecorder: Sendable {
    let history: LocalHistory
    let host: HistoryHost
    let now: @Sendable () -> Date

    package init(_ history: LocalHistory, host: HistoryHost, now: @escaping @Sendable () -> Date) {
        (self.history, self.host, self.now) = (history, host, now)
    }

    package func keep(project: CompanionProject) async {
        await history.use { store throws(HistoryError) in try await store.add(project: project, of: host) }
    }

    package func keep(chat: CompanionChat) async {
        await history.use { store throws(HistoryError) in try await store.add(chat: chat, of: host) }
    }

    /// Removes all that is known of the host. Nothing that its pairing says is written down any more.
    package func forget() async {
        await history.use(create: false) { store throws(HistoryError) in
            try await store.forget(hostID: host.id, pairedAt: host.pairedAt)
        }
    }

    /// The host as the history knows it; nil if there is no history yet, or if it cannot be used.
    package func stored() async -> StoredHost? {
        await history.use(create: false) { store in StoredHost(store, hostID: host.id) }
    }

    /// Writes down the projects and chats of a host whose messages are in the history already.
    package func list(_ host: some ProjectBrowsing) async throws {
        let projects = RecordedProjects(base: host, recorder: self, isWhole: false)
        for project in try await projects.projects() { _ = try await projects.chats(projectID: project.id) }
    }
}
