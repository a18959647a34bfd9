package import CompanionClient
import CompanionWire
import FoundationEssentials
package import Identity
import LocalState
import PairingAgent

/// A prompt that waits for a paired host.
package struct QueuedPrompt: Sendable {
    package let host: PairedHost
    package let store: OutboxStore
    package let prompt: WaitingPrompt

    package init(host: PairedHost, store: OutboxStore, prompt: WaitingPrompt) {
        self.host = host
        self.store = store
        self.prompt = prompt
    }

    /// The prompts that wait for all hosts, or for the one that the options name.
    package static func all(_ selector: HostSelector, in environment: AppEnvironment) throws -> [QueuedPrompt] {
        let paired = try PairedHostStore(directory: environment.paths.data).load()
        var hosts = paired.hosts
        if let word = selector.name {
            hosts = try PairedHostSelection.selectKnown(word, in: paired).map { [$0] } ?? []
            if hosts.isEmpty, let place = HostAddress(word) { throw PairedHostSelection.unknown(place) }
        }
        return try hosts.filter { $0.family.behavior.facts.queuing != .none }.flatMap { host in
            let store = host.outbox(environment)
            return try store.load().prompts.map { QueuedPrompt(host: host, store: store, prompt: $0) }
        }
    }

    /// The prompt with an id, or with the first characters of it.
    package static func find(_ id: String, of selector: HostSelector, in environment: AppEnvironment) throws
        -> QueuedPrompt
    {
        try NameMatch.find(
            id,
            in: try all(selector, in: environment),
            kind: "outbox",
            called: "waiting prompt",
            listing: "pairtool outbox",
            ids: { [$0.prompt.id] },
            names: { _ in [] },
            place: { ", for \($0.host.name)" },
            nobody: "there is no"
        )
    }

    /// Removes it.
    package func remove() throws {
        try store.update { $0.finish(prompt.id) }
    }

    /// Whether it waits still.
    package var isWaiting: Bool {
        get throws { try store.load().isWaiting(prompt.id) }
    }
}

extension HostSession {
    /// Keeps a prompt on the disk until the host has it.
    ///
    /// - Parameter state: `uncertain` if the host may get it yet, so that it is sent again only if the user says so.
    /// - Throws: ``AppError`` if prompts for the host cannot wait, or too many wait already.
    package func queue(
        _ text: String,
        in conversation: Conversation,
        as state: WaitingPrompt.State = .waiting
    ) throws -> WaitingPrompt {
        try Self.requireQueue(of: host)
        let now = environment.now()
        let kept = try outbox.update { outbox -> WaitingPrompt? in
            let added = outbox.add(
                text,
                in: conversation.projectPath ?? "",
                allowedTools: conversation.allowedTools,
                at: now
            )
            guard let added else { return nil }
            let made = outbox.chat(madeFor: conversation.newChatID)
            outbox.change(added.id) { prompt in
                prompt.chatID = conversation.chatID.isEmpty ? made : conversation.chatID
                prompt.chatTitle = conversation.title
                prompt.projectID = conversation.newProjectID
                prompt.newChatID = conversation.exists ? nil : conversation.newChatID
                prompt.model = conversation.model
                prompt.deniesQuestions = conversation.deniesQuestions
                prompt.commandID = UUID()
                prompt.state = state
            }
            return outbox.prompts.last
        }
        guard let kept else {
            throw AppError(
                .failed,
                "outbox.full",
                "too many prompts wait for \(host.name); this one was not kept",
                next: "pairtool outbox"
            )
        }
        return kept
    }

    static func requireQueue(of host: PairedHost) throws {
        guard host.family.behavior.facts.queuing == .none else { return }
        throw AppError(
            .failed,
            "host.cannot",
            "prompts for \(host.family.displayName) hosts cannot be queued on this machine",
            next: "send it without --queue"
        )
    }
}
