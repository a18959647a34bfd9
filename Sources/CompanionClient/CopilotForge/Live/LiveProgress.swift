import CompanionWire
import FoundationEssentials
import NIOConcurrencyHelpers

/// The progress of a watch over all of its connections: which events were reported, and since when some may be missing.
package final class LiveProgress: Sendable {
    private struct State {
        /// The time of the last event by the host's clock.
        var latest: Date?
        var messages = RecentIdentifiers(capacity: 4096)
        var isInterrupted = false
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    func interrupt() {
        state.withLockedValue { $0.isInterrupted = true }
    }

    /// The time since which events may be missing; nil if none are.
    var gap: Date? {
        state.withLockedValue { $0.isInterrupted ? $0.latest : nil }
    }

    /// Records an event that is about to be reported.
    ///
    /// - Returns: Whether it is new. After a gap, the connection may report a message again that was already read from
    ///   the history.
    func note(_ event: LiveEvent) -> Bool {
        state.withLockedValue { state in
            state.latest = max(state.latest ?? event.at, event.at)
            guard event.type == .messageCreated, let id = event.messageId else { return true }
            return state.messages.insert(id)
        }
    }

    /// Records that the gap is filled.
    func resume() {
        state.withLockedValue { $0.isInterrupted = false }
    }
}

extension CompanionAPIClient {
    /// The most messages that are read per chat after a gap.
    private static let mostMissed = 3200

    /// The changes of projects and chats since a time on the host's clock, oldest first, with the host's times.
    ///
    /// Hosts do not store their live events, but they report when each project and chat last changed and when a message
    /// was written. Connects and disconnects of devices in the meantime are lost.
    func changes(since time: Date) async throws -> [LiveEvent] {
        var events: [LiveEvent] = []
        for project in try await projects() {
            guard let changed = project.lastUpdatedAt, changed >= time else { continue }
            let before = events.count
            for chat in try await chats(projectID: project.id) {
                guard let changed = chat.lastUpdatedAt, changed >= time else { continue }
                let messages = try await messages(chatID: chat.id, since: time)
                events += messages.map { message in
                    LiveEvent(
                        .messageCreated,
                        at: message.createdAt ?? changed,
                        projectId: project.id,
                        chatId: chat.id,
                        messageId: message.id
                    )
                }
                guard changed > time else { continue }
                let event = LiveEvent(
                    .chatChanged,
                    at: changed,
                    projectId: project.id,
                    chatId: chat.id,
                    mode: chat.mode
                )
                events.append(event)
            }
            guard events.count == before, changed > time else { continue }
            events.append(LiveEvent(.projectChanged, at: changed, projectId: project.id))
        }
        // Keeps the order of equal times: a message comes before the change of its chat.
        return events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private func messages(chatID: String, since time: Date) async throws -> [CompanionMessage] {
        var count = 50
        while true {
            let last = try await lastMessages(chatID: chatID, count: count)
            let new = last.filter { ($0.createdAt ?? .distantPast) >= time }
            if new.count < count || count >= Self.mostMissed { return new }
            count *= 8
        }
    }
}
