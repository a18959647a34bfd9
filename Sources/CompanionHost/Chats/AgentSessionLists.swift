import CompanionWire
import Logging
import NIOConcurrencyHelpers

/// The sessions that agents list, as they were last. A list is read anew in the background, because an agent may take
/// seconds, or wait for a person's answer first.
final class AgentSessionLists: Sendable {
    /// How long a list is not read again, and how long an agent that could not list.
    private static let rest = (usual: Duration.seconds(2), afterFailure: Duration.seconds(30))

    private struct List {
        /// nil until it was read once; empty for an agent that lists none.
        var sessions: [ListedSession]?
        /// When it is to be read again; nil for at once.
        var dueAt: ContinuousClock.Instant?
        /// Whether the agent has said that it lists none.
        var isNone = false
    }

    private let logger: Logger
    private let lists: NIOLockedValueBox<[List]>
    private let sources: [any AgentSessionSource]
    private let reading = SharedWork<Void>()

    init(of sources: [any AgentSessionSource], logger: Logger) {
        self.sources = sources
        self.logger = logger
        lists = NIOLockedValueBox(Array(repeating: List(), count: sources.count))
    }

    /// The sessions of an agent; nil if they are not known within the limit.
    ///
    /// - Parameters:
    ///   - number: Which of the agents.
    ///   - project: Where the agent is started if it has to be.
    ///   - limits: How long a first list may take, for all who wait for it, and how long a newer one.
    func sessions(
        of number: Int,
        startingIn project: String,
        within limits: (first: Duration, newer: Duration)
    ) async -> [ListedSession]? {
        let list = lists.withLockedValue { $0[number] }
        guard !list.isNone, list.dueAt.map({ $0 <= .now }) ?? true else { return list.sessions }
        _ = await reading.value("\(number)") { lasted in
            list.sessions == nil ? max(limits.first - lasted, limits.newer) : limits.newer
        } _: {
            await self.read(number, startingIn: project)
        }
        return lists.withLockedValue { $0[number].sessions }
    }

    /// Ends what is being read.
    func stop() { reading.stop() }

    private func read(_ number: Int, startingIn project: String) async {
        let source = sources[number]
        var found: [ListedSession]??
        do {
            found = .some(try await source.sessions(startingIn: project))
        } catch {
            logger.info("sessions not listed", metadata: .failure(error, ["agent": "\(source.modelID)"]))
        }
        lists.withLockedValue { lists in
            if let found {
                lists[number].sessions = found ?? []
                lists[number].isNone = found == nil
            } else {
                // Who asks often does not start an agent each time, and does not wait for it.
                lists[number].sessions = lists[number].sessions ?? []
            }
            lists[number].dueAt = .now + (found == nil ? Self.rest.afterFailure : Self.rest.usual)
        }
    }
}
