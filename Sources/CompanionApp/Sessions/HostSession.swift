package import CompanionClient
import CompanionWire
import History
package import Identity
package import PairingAgent

/// A paired host, what it offers, and the surroundings of the task.
package struct HostSession: Sendable {
    package let host: PairedHost
    /// The operations that hosts of every family can have.
    package let offer: HostClient
    package let environment: AppEnvironment
    /// Writes down what is done at the host; nil if the user wants no history.
    package var recorder: HistoryRecorder?
    /// The host as the history knows it, if the host itself is not asked.
    package var stored: StoredHost?

    package init(
        host: PairedHost,
        offer: HostClient,
        environment: AppEnvironment,
        recorder: HistoryRecorder? = nil,
        stored: StoredHost? = nil
    ) {
        self.host = host
        self.offer = offer
        self.environment = environment
        self.recorder = recorder
        self.stored = stored
    }

    package var interaction: any Interaction { environment.interaction }
    /// Whether commands are signed and turns can be followed (protocol v2).
    package var isVerified: Bool { host.trust == .verified }
    /// The prompts that wait for the host.
    package var outbox: OutboxStore { host.outbox(environment) }

    /// Runs a body with a session. Connection errors get the host's name in their messages.
    package static func with<R>(
        _ host: PairedHost,
        environment: AppEnvironment,
        configuration: CompanionClientConfiguration = .default,
        _ body: (HostSession) async throws -> R
    ) async throws -> R {
        try await HistoryRecorder.with(host, in: environment) { recorder in
            do {
                return try await host.family.behavior.open(host, environment: environment, configuration: configuration)
                {
                    offer in
                    let offer = recorder.map { offer.recorded(by: $0, deviceID: host.deviceID) } ?? offer
                    return try await body(
                        HostSession(host: host, offer: offer, environment: environment, recorder: recorder)
                    )
                }
            } catch let error as CompanionClientError {
                await environment.endPairing(with: host, ifRevokedBy: error)
                throw error.naming(host)
            }
        }
    }
}

// MARK: Prompts that wait

extension HostSession {
    /// The prompts that wait for the host; a damaged outbox is reported.
    package var waitingPrompts: [WaitingPrompt] {
        guard host.family.behavior.facts.queuing != .none, offer.turns != nil else { return [] }
        do {
            return try outbox.load().prompts.filter { $0.state == .waiting }
        } catch {
            environment.interaction.warn(error)
            return []
        }
    }

    /// Says what waits for the host, and which command sends it.
    package func sayWaiting() {
        let waiting = waitingPrompts
        guard let first = waiting.first, !Task.isCancelled else { return }
        let prompts =
            waiting.count == 1
            ? "1 prompt waits for \(host.name) (\(first.excerpt))" : "\(waiting.count) prompts wait for \(host.name)"
        let notice = TerminalText.line("\(prompts): pairtool outbox send")
        environment.interaction.say(notice, once: true)
    }
}

extension HistoryRecorder {
    /// Runs a body with what writes down a host's part of the history; nil if the user wants no history.
    package static func with<R>(
        _ host: PairedHost,
        in environment: AppEnvironment,
        _ body: (HistoryRecorder?) async throws -> R
    ) async throws -> R {
        let history = LocalHistory.ofUser(environment)
        let recorder = history.map { HistoryRecorder($0, host: HistoryHost(host), now: environment.now) }
        let result: Result<R, any Error>
        do {
            result = .success(try await body(recorder))
        } catch {
            result = .failure(error)
        }
        await history?.finish(at: environment.now())
        return try result.get()
    }
}

// MARK: Operations

extension HostSession {
    package var devices: any DeviceManaging {
        get throws { try offered(offer.devices, what: "a list of devices") }
    }

    package var models: any ModelListing {
        get throws { try offered(offer.models, what: "a choice of models") }
    }

    package var projects: any ProjectBrowsing {
        get throws { try offered(offer.projects, what: "projects") }
    }

    package var chats: any ChatBrowsing {
        get throws { try offered(offer.chats, what: "chats") }
    }

    package var turns: any TurnRunning {
        get throws { try offered(offer.turns, what: "answers to prompts") }
    }

    /// The client for the changes that agents have made, and for the places where they work.
    ///
    /// - Throws: ``AppError`` if the host does not offer them.
    package var changes: any ChangeReporting {
        get throws {
            guard host.family.behavior.facts.canBeVerified else { throw refusal("do not report changes") }
            return try verified(offer.changes, what: "report changes")
        }
    }

    package var events: any EventReporting {
        get throws { try offered(offer.events, what: "events") }
    }

    package var approvals: any ApprovalDeciding {
        get throws { try offered(offer.approvals, what: "approvals") }
    }

    package var cancellation: any TurnCancelling {
        get throws { try verified(offer.cancellation, what: "cancel turns") }
    }

    /// - Parameter what: The items to create, such as `projects`, for the error.
    /// - Throws: ``AppError`` if the host does not offer it.
    package func creation(of what: String) throws -> any ProjectCreating {
        try verified(offer.creation, what: "create \(what)")
    }

    /// Returns a capability that only verified hosts of some families have.
    ///
    /// - Parameter what: The capability in words, such as `cancel turns`, for the error.
    /// - Throws: ``AppError`` with exit code 12 for a legacy host whose family has protocol 2, else with the code
    ///   `host.cannot`.
    private func verified<Capability>(_ capability: Capability?, what: String) throws -> Capability {
        if let capability { return capability }
        guard host.family.behavior.facts.canBeVerified else { throw refusal("cannot \(what)") }
        throw AppError(
            .versionMismatch,
            "host.legacy",
            "\(host.name) was paired with protocol 1, which cannot \(what)",
            next: "if the host supports protocol 2, pair again: pairtool pair"
        )
    }

    private func offered<Capability>(_ capability: Capability?, what: String) throws -> Capability {
        if let capability { return capability }
        throw refusal("do not offer \(what)")
    }

    private func refusal(_ what: String) -> AppError {
        AppError(
            .failed,
            "host.cannot",
            "\(host.family.displayName) hosts such as \(host.name) \(what)",
            next: "see what it can do: pairtool status --host \(host.id.shortID)"
        )
    }
}

extension PairedHost {
    /// The host's name, with its address in brackets.
    package var title: String {
        name.has(place) ? name : "\(name) (\(place))"
    }

    /// A text about the host, with its title in place of its address.
    package func naming(_ text: String) -> String {
        guard !name.has(place), let range = text.utf8.firstRange(of: place.utf8) else { return text }
        return "\(text[..<range.lowerBound])\(title)\(text[range.upperBound...])"
    }

    /// Runs a body whose errors call the host by its name.
    package func naming<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> R
    ) async throws -> R {
        do {
            return try await body()
        } catch let error as CompanionClientError {
            throw error.naming(self)
        }
    }
}

extension CompanionClientError {
    /// The same error with the host's name, and its address in brackets.
    package func naming(_ host: PairedHost) -> CompanionClientError {
        var error = self
        error.message = host.naming(message)
        error.beginsWithName = beginsWithName || message.begins(with: host.place)
        return error
    }
}
