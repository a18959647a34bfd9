package import FoundationEssentials

/// A record of how far a waiting prompt was sent, so that it is sent only once, even if this process ends at any moment.
package struct PromptJournal: Sendable {
    /// The prompt's id in the outbox.
    package let id: String
    /// The id of the signed command that sends the prompt: that of an earlier attempt, or a new one.
    package let commandID: UUID
    /// The signed command of an earlier attempt, if there was one.
    package let sent: SentCommand?
    private let store: OutboxStore

    package init(_ prompt: WaitingPrompt, in store: OutboxStore) {
        id = prompt.id
        commandID = prompt.commandID ?? UUID()
        sent = prompt.command
        self.store = store
    }

    /// Marks the prompt before its first byte is sent to a host that would run it twice (protocol v1).
    ///
    /// - Throws: ``CompanionClientError/Code/busy`` if another process has sent it meanwhile.
    package func begin() throws {
        try doubt()
        // A host that executed the signed command would run the prompt twice if it came unsigned too.
        guard sent == nil else {
            throw CompanionClientError(
                .streamInterrupted,
                message: "The prompt may have reached the host before, by another protocol.",
                delivery: .unknown
            )
        }
    }

    /// Notes that the host may have the prompt.
    func doubt() throws {
        guard try store.update({ $0.begin(id) }) else { throw CompanionClientError.sentByAnother }
    }

    /// Keeps a signed command before its first byte is sent (protocol v2).
    ///
    /// - Throws: ``CompanionClientError/Code/busy`` if the prompt does not wait any more.
    func keep(_ command: SentCommand) throws {
        let isWaiting = try store.update { outbox in
            guard outbox.isWaiting(id) else { return false }
            outbox.change(id) { prompt in
                prompt.commandID = commandID
                prompt.command = command
            }
            return true
        }
        guard isWaiting else { throw CompanionClientError.sentByAnother }
    }

    /// Makes sure that the prompt waits, before the command of an earlier attempt is sent again.
    ///
    /// - Throws: ``CompanionClientError/Code/busy`` if it was sent by another process, or removed.
    func requireWaiting() throws {
        guard try store.load().isWaiting(id) else { throw CompanionClientError.sentByAnother }
    }

    /// The host has the prompt.
    package func finish() throws {
        try store.update { $0.finish(id) }
    }
}

extension CompanionClientError {
    /// Another process took a prompt that waited, or the user removed it. Whether the host has it is that one's matter,
    /// so this one does not put it back.
    static var sentByAnother: CompanionClientError {
        CompanionClientError(
            .busy,
            message: "Another pairtool has sent or removed the prompt meanwhile.",
            delivery: .unknown
        )
    }
}
