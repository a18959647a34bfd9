import CompanionWire
import Dispatch
import FoundationEssentials
import GRDB
import Identity
import NIOConcurrencyHelpers
import NIOCore

@testable import CompanionHost

/// An agent that does what a test says.
struct TestAgent: Agent {
    let models = [CompanionModel(id: "test", name: "Test")]
    /// The prompts that it was asked.
    let prompts = NIOLockedValueBox<[String]>([])
    var body: @Sendable (AgentTurn, @Sendable (TurnEvent) -> Void) async throws -> Void = { _, _ in }
    /// Called whenever the host asks whether it can work: also within the transaction of a prompt's command.
    var asked: @Sendable () -> Void = {}

    func isAvailable() -> Bool {
        asked()
        return true
    }

    func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws {
        prompts.withLockedValue { $0.append(turn.prompt) }
        try await body(turn, conversation.emit)
    }
}

/// A gate for threads.
final class ThreadGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func open() { semaphore.signal() }
    func wait() { semaphore.wait() }
}

/// What is below the routes of a host, with one device of v2 that has all permissions.
struct HostParts: Sendable {
    let services: HostServices
    let commands: SignedCommandService
    let project: ProjectCatalog.Project
    let directory: String
    let keys: SecureKeyStore

    static func with<Result: Sendable>(
        agent: any Agent = TestAgent(),
        clock: HostClock = .system,
        makeProject: (@Sendable (String, String?) async throws -> ProjectMaker.NewProject)? = nil,
        _ body: (HostParts) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let parts = try await HostParts(agent, clock, makeProject, directory)
            defer { parts.services.database.close() }
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await parts.services.turns.run() }
                defer { group.cancelAll() }
                return try await body(parts)
            }
        }
    }

    private init(
        _ agent: any Agent,
        _ clock: HostClock,
        _ makeProject: (@Sendable (String, String?) async throws -> ProjectMaker.NewProject)?,
        _ directory: String
    ) async throws {
        self.directory = directory
        let path = directory + "/project"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let configuration = CompanionHostConfiguration(
            name: "Test",
            projects: [path],
            databasePath: directory + "/host.sqlite",
            version: "1.2.3"
        )
        services = try HostServices(configuration: configuration, clock: clock, logger: .silent, agent: agent)
        project = services.store.catalog.projects[0]
        commands = SignedCommandService(services, makeProject: makeProject)
        keys = SecureKeyStore(directory: directory + "/keys")
        try await enroll(keys)
    }

    /// Lets a device in.
    func enroll(_ keys: SecureKeyStore) async throws {
        let identity = try keys.identity()
        let now = services.clock.now()
        let device = PairedDevice(
            id: identity.deviceID,
            name: "Test",
            publicKey: identity.publicKeyText,
            permissions: CompanionPermission.all,
            expiresAt: nil,
            protocolVersion: 2,
            pairedAt: now,
            lastSeenAt: now
        )
        try await services.gate.devices.enroll(device, also: { _ in }, committed: {})
    }

    var deviceID: String { get throws { try keys.identity().deviceID } }

    func sign(_ payload: CommandPayload, nonce: [UInt8] = SecureRandom.bytes(16)) throws -> SignedCommand {
        var command = TestCommand(
            payload: payload,
            audience: services.identity.id,
            nonce: nonce,
            now: services.clock.now()
        )
        command.keys = keys
        return try command.signed()
    }

    func execute(_ command: SignedCommand) async throws -> CommandResponse {
        try await commands.execute(command.body)
    }

    /// A new chat.
    func newChat() async throws -> String {
        let made = try await execute(sign(.chatCreate(projectID: project.id, title: nil)))
        return try made.result.decode(CompanionChat.self).id
    }

    /// Sends a prompt to a chat.
    func send(_ prompt: String, to chat: String) async throws -> String {
        let sent = try await execute(sign(.chatSend(chatID: chat, prompt: prompt, model: nil, allowedTools: nil)))
        guard let id = sent.result["turnId"]?.string else { throw TestFailure("no turn") }
        return id
    }

}

extension HostDatabase {
    /// Holds up what is written behind this, until the gate is opened.
    @discardableResult
    func holdWriter(_ gate: ThreadGate = ThreadGate()) -> ThreadGate {
        enqueueWrite { _ in
            gate.wait()
        } completion: { _ in
        }
        return gate
    }
}

extension TurnEventLog {
    /// Reads a turn to its end.
    ///
    /// - Returns: Its frames and how it ended.
    func all(_ turnID: String) async throws -> (text: String, state: TurnState) {
        guard var reader = try await reader(turnID: turnID) else { throw TestFailure("no such turn") }
        defer { reader.close() }
        var text = ""
        while true {
            switch try await reader.next() {
            case .frames(let frames): for frame in frames { text += String(buffer: frame.data) }
            case .heartbeat: break
            case .end(let state): return (text, state)
            }
        }
    }
}
