import CompanionClient
import CompanionWire
import FoundationEssentials
import Identity
import LocalState

/// A prompt that waits for a paired host.
struct QueuedPrompt: Sendable {
    let host: PairedHost
    let store: OutboxStore
    let prompt: WaitingPrompt

    /// The prompts that wait for all hosts, or for the one that the options name.
    static func all(_ options: HostOptions, _ context: CommandContext) throws -> [QueuedPrompt] {
        let paired = try PairedHostStore(directory: context.paths.data).load()
        var hosts = paired.hosts
        if let word = options.host {
            let isName = paired.hosts.contains { $0.name.isSame(as: word) }
            if let place = HostPlace(word), !isName {
                hosts = hosts.filter { $0.endpoint == place.endpoint($0.endpoint.port) }
                guard !hosts.isEmpty else { throw PairedHostSelection.unknown(place) }
            } else {
                hosts = [try PairedHostSelection.select(word, in: paired)]
            }
        }
        return try hosts.filter { $0.family.behavior.queuing != .none }.flatMap { host in
            let store = host.family.behavior.outbox(of: host, context: context)
            return try store.load().prompts.map { QueuedPrompt(host: host, store: store, prompt: $0) }
        }
    }

    /// The prompt with an id, or with the first characters of it.
    static func find(_ id: String, _ options: HostOptions, _ context: CommandContext) throws -> QueuedPrompt {
        let all = try all(options, context)
        let found = all.filter { $0.prompt.id.isSame(as: id) || (id.utf8.count >= 4 && $0.prompt.id.begins(with: id)) }
        guard let prompt = found.first, found.count == 1 else {
            throw CommandError(
                .nothingFound,
                "outbox.unknown",
                "no waiting prompt has the id “\(id)”",
                next: "pairtool outbox"
            )
        }
        return prompt
    }

    /// The beginning of the prompt, for one line.
    var excerpt: String { prompt.excerpt }

    /// Whether it waits still.
    var isWaiting: Bool {
        get throws { try store.load().prompts.contains { $0.id.isSame(as: prompt.id) && $0.state == .waiting } }
    }
}

extension WaitingPrompt {
    /// Whether it is another prompt for the same chat.
    func isSameChat(as other: WaitingPrompt) -> Bool {
        guard let chat, let others = other.chat else { return false }
        return !id.isSame(as: other.id) && chat.isSame(as: others)
    }

    var excerpt: String {
        let line = TerminalText.line(prompt.trimmingWhitespace())
        let start = line.scalars(atMost: 60)
        return start.isSame(as: line) ? start : start + "…"
    }
}

/// A waiting prompt in JSON.
struct WaitingRow: Encodable {
    var id: String
    var state: WaitingPrompt.State
    var hostId: String
    var hostName: String
    var writtenAt: Date
    var workingDirectory: String
    var chatId: String?
    var chatTitle: String?
    var prompt: String
    /// Why the host refused it.
    var reason: String?

    init(_ queued: QueuedPrompt) {
        let waiting = queued.prompt
        (hostId, hostName) = (queued.host.id, queued.host.name)
        id = waiting.id
        state = waiting.state
        writtenAt = waiting.writtenAt
        workingDirectory = waiting.workingDirectory
        chatId = waiting.chat
        chatTitle = waiting.chatTitle
        prompt = waiting.prompt
        reason = waiting.reason
    }
}

extension HostSession {
    /// Keeps a prompt on the disk until the host has it.
    ///
    /// - Throws: ``CommandError`` if prompts for the host cannot wait, or too many wait already.
    func queue(_ text: String, in conversation: Conversation) throws -> WaitingPrompt {
        try Self.requireQueue(of: host)
        let now = context.now()
        let kept = try host.family.behavior.outbox(of: host, context: context).update { outbox -> WaitingPrompt? in
            let added = outbox.add(
                text,
                in: conversation.projectPath ?? "",
                allowedTools: conversation.allowedTools,
                at: now
            )
            guard let added else { return nil }
            outbox.change(added.id) { prompt in
                prompt.chatID = conversation.chatID.isEmpty ? nil : conversation.chatID
                prompt.chatTitle = conversation.title
                prompt.projectID = conversation.newProjectID
                prompt.model = conversation.model
                prompt.commandID = UUID()
            }
            return outbox.prompts.last
        }
        guard let kept else {
            throw CommandError(
                .failed,
                "outbox.full",
                "too many prompts wait for \(host.name); this one was not kept",
                next: "pairtool outbox"
            )
        }
        return kept
    }

    static func requireQueue(of host: PairedHost) throws {
        guard host.family.behavior.queuing == .none else { return }
        throw CommandError(
            .failed,
            "host.cannot",
            "prompts for \(host.family.displayName) hosts do not wait on this machine",
            next: "send it without --queue"
        )
    }
}
