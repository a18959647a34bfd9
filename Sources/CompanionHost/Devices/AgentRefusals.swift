import CompanionWire
import FoundationEssentials
import Glibc
import Logging
import NIOConcurrencyHelpers

/// Notes in the audit that an agent, or a process of this machine that may be one, asked for something that only the
/// owner may do.
struct AgentRefusals: Sendable {
    /// The answer to an agent that asks for something that only the owner may do.
    static let refusal = HostError(
        .requestForbidden,
        "An agent of this host asked for this, or a process that has ended. "
            + "Only you may: use a terminal that the agent did not start."
    )
    /// Audit rows that one command may get at once, and the seconds after which it may get one more.
    static let burst = 20
    static let interval: TimeInterval = 10

    let database: HostDatabase
    let clock: HostClock
    let events: HostEventSink
    let logger: Logger
    private let limiter = NIOLockedValueBox(RateLimiter(burst: burst, interval: interval))

    init(database: HostDatabase, clock: HostClock, events: HostEventSink, logger: Logger) {
        self.database = database
        self.clock = clock
        self.events = events
        self.logger = logger
    }

    /// - Parameters:
    ///   - command: A command of the admin socket, a signed command, or a request.
    ///   - process: nil where it is not known.
    ///   - address: The address that the request came from; nil for the admin socket.
    func record(_ command: String, process: pid_t?, address: String?) async {
        logger.notice(
            "agent",
            metadata: .event(
                "auth",
                outcome: "refused",
                code: CompanionErrorCode.requestForbidden.rawValue,
                ["command": "\(command)", "process": "\(process.map(String.init) ?? "unknown")"]
            )
        )
        let now = clock.now()
        guard limiter.withLockedValue({ $0.take(command, now: now) }) else { return }
        let who = process == nil ? "A process of this machine that may be the agent's" : "The agent"
        events.send(
            .agent(message: "\(who) tried to do what only you may do, and was refused: \(command)", lines: [], log: nil)
        )
        var detail: [String: JSONValue] = ["command": .string(command)]
        detail["process"] = process.map { .integer(Int64($0)) }
        detail["address"] = address.map { .string($0) }
        let row = JSONValue.object(detail)
        do {
            try await database.write(durably: true) { database in
                try AuditLog.append(.agentRefused, device: nil, detail: row, at: now, in: database)
            }
        } catch {
            logger.error("refusal of an agent not stored", metadata: .failure(error))
        }
    }
}
