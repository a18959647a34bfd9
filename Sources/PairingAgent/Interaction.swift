package import CompanionWire
package import FoundationEssentials

/// The user of a task, who is told what happens, and can be asked.
///
/// Messages may contain text from a peer: a conformer sanitises what it shows.
package protocol Interaction: Sendable {
    /// Whether somebody can answer questions now.
    var canAsk: Bool { get }

    /// Says what happens.
    ///
    /// - Parameter once: Whether a message that was said before is left out.
    func say(_ message: String, once: Bool)
    /// Warns of an error that does not keep the task from its result.
    ///
    /// - Parameter once: Whether a warning that was given before is left out.
    func warn(_ error: any Error, once: Bool)
    /// Reports the failure of a part of the task, which goes on without it.
    func report(_ error: any Error)

    /// Asks a yes-or-no question; any answer but yes means no.
    func confirm(_ question: String) async throws -> Bool
    /// Lets the user choose.
    ///
    /// - Returns: The index of the choice, or nil if the user made none.
    func choose(_ question: String, from choices: [String]) async throws -> Int?
    /// Asks for a line. Default: as for a secret.
    ///
    /// - Parameter question: Sanitised by the caller.
    /// - Returns: nil if there is no answer.
    func ask(_ question: String) async throws -> String?
    /// Asks for a secret, which is not shown while it is typed.
    ///
    /// - Parameter question: Sanitised by the caller.
    /// - Returns: nil if there is no answer.
    func secret(_ question: String) async throws -> String?
    /// Shows what an agent asks, and lets the user answer.
    ///
    /// - Parameters:
    ///   - mayDecide: Whether this device may answer.
    ///   - mayAlways: Whether it may give answers that go for later requests too.
    /// - Returns: nil if the user gives no answer here.
    func answer(_ approval: Approval, mayDecide: Bool, mayAlways: Bool) async throws -> ApprovalAnswer?

    /// Runs a body that the user has to wait for. Default: shows nothing.
    ///
    /// - Parameters:
    ///   - what: The description of the work, such as `Pairing`.
    ///   - end: When the code that it needs expires; nil if that is not known.
    func working<R: Sendable>(
        on what: String,
        until end: Date?,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R
    /// Shows a line in place of the one before; nil takes it away. Default: shows nothing.
    ///
    /// - Parameter line: Sanitised by the caller.
    /// - Returns: Whether lines can be replaced.
    @discardableResult
    func showProgress(_ line: String?) -> Bool
    /// Runs a body that the user can interrupt. Default: nobody interrupts it.
    ///
    /// - Parameter handler: Called on any thread for each interrupt, before handlers of outer bodies. Returns whether it
    ///   has dealt with it; if not, outer handlers are called.
    func interruptible<R>(by handler: @escaping @Sendable () -> Bool, _ body: () async throws -> R) async throws -> R
}

extension Interaction {
    package func say(_ message: String) { say(message, once: false) }

    package func warn(_ error: any Error) { warn(error, once: false) }

    package func ask(_ question: String) async throws -> String? { try await secret(question) }

    /// Asks before something is done that cannot be taken back.
    ///
    /// - Parameters:
    ///   - question: The question that names the change. The caller sanitises names of peers.
    ///   - code: The code of the error if the answer is no.
    ///   - outcome: The state of things, for the error if the answer is no.
    /// - Throws: ``AppError``: the answer is no, or nobody can be asked.
    package func confirm(_ question: String, code: String, outcome: String) async throws {
        guard canAsk else {
            throw AppError(
                .usage,
                code,
                "there is no terminal to confirm this on; \(outcome)",
                next: "confirm it with --yes"
            )
        }
        guard try await confirm(question) else { throw AppError(.failed, code, "not confirmed; \(outcome)") }
    }

    package func working<R: Sendable>(
        on what: String,
        until end: Date?,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await body()
    }

    package func showProgress(_ line: String?) -> Bool { false }

    package func interruptible<R>(
        by handler: @escaping @Sendable () -> Bool,
        _ body: () async throws -> R
    ) async throws -> R {
        try await body()
    }
}

/// An interaction without questions: several tasks at the same time cannot share one user.
package struct MutedInteraction: Interaction {
    private let base: any Interaction

    package init(_ base: any Interaction) {
        self.base = base
    }

    package var canAsk: Bool { false }

    package func say(_ message: String, once: Bool) { base.say(message, once: once) }

    package func warn(_ error: any Error, once: Bool) { base.warn(error, once: once) }

    package func report(_ error: any Error) { base.report(error) }

    package func confirm(_ question: String) async throws -> Bool { false }

    package func choose(_ question: String, from choices: [String]) async throws -> Int? { nil }

    package func secret(_ question: String) async throws -> String? { nil }

    package func answer(_ approval: Approval, mayDecide: Bool, mayAlways: Bool) async throws -> ApprovalAnswer? { nil }

    package func working<R: Sendable>(
        on what: String,
        until end: Date?,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await base.working(on: what, until: end, body)
    }

    package func showProgress(_ line: String?) -> Bool { base.showProgress(line) }

    package func interruptible<R>(
        by handler: @escaping @Sendable () -> Bool,
        _ body: () async throws -> R
    ) async throws -> R {
        try await base.interruptible(by: handler, body)
    }
}
