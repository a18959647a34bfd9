package import CompanionWire
import Dispatch
package import Logging
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage

/// Any command as an agent: the prompt on its standard input, the answer on its standard output, in the project's
/// directory. It learns `PAIRTOOL_CHAT_ID`, `PAIRTOOL_PROJECT` and, when not all tools are allowed,
/// `PAIRTOOL_ALLOWED_TOOLS` (comma-separated, possibly empty) from its environment.
///
/// All processes that it started end with it, even those that left its session (see ``AgentProcesses``). They also end
/// with the host, even if the host is killed (see ``AgentGuard``). Otherwise the host cannot keep a command from doing
/// anything: it is the owner's choice.
package struct CommandAgent: Agent {
    /// How long a command may take to end after SIGTERM, before SIGKILL.
    static let grace = Duration.seconds(2)

    private let path: String
    private let arguments: [String]
    private let box: AgentSandbox?
    private let logger: Logger
    /// One model, named after the command's file.
    package let models: [CompanionModel]

    /// - Parameter sandbox: The box that it runs in. Default: nil, none.
    /// - Throws: ``CompanionHostError/Code/agentNotFound``.
    package init(_ command: [String], sandbox: AgentSandbox? = nil, logger: Logger) throws(CompanionHostError) {
        path = try AgentProgram.found(command.first)
        (box, self.logger) = (sandbox, logger)
        arguments = Array(command.dropFirst())
        let label = path.parts("/").last.map(String.init) ?? path
        models = [CompanionModel(id: "command", name: label, capabilities: .blind)]
    }

    package func isAvailable() -> Bool {
        AgentProgram.isExecutable(path)
    }

    package var sandbox: AdminSandbox? { box?.facts }

    /// Runs the command for a prompt.
    ///
    /// - Throws: ``AgentError`` if the command cannot be started or fails.
    package func answer(_ turn: AgentTurn, conversation: AgentConversation) async throws {
        var options = PlatformOptions()
        // A session, and with it a process group, of its own: it can be ended as a whole and has no terminal.
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.grace)]
        let processes = AgentProcesses()
        try await withTaskCancellationHandler {
            try await run(turn, options: options, processes: processes, emit: conversation.emit)
        } onCancel: {
            processes.end(within: Self.grace)
        }
    }

    private func run(
        _ turn: AgentTurn,
        options: PlatformOptions,
        processes: AgentProcesses,
        emit: @escaping @Sendable (TurnEvent) -> Void
    ) async throws {
        // A cancelled turn leaves the command some time to end; the guard stays until that is over.
        let guardian = Task { [logger] in await AgentGuard.run(over: processes, logger: logger) }
        defer { guardian.cancel() }
        // What the command printed to standard error last.
        let errors = NIOLockedValueBox<[String]>([])
        var command = [path] + arguments
        if let box {
            command = box.command(command, project: turn.project ?? turn.directory, directory: turn.directory)
            if let mode = AgentMode(box.facts.text) { emit(.mode(mode)) }
        }
        do {
            let outcome = try await Subprocess.run(
                .path(FilePath(command[0])),
                arguments: Arguments(Array(command.dropFirst())),
                environment: environment(of: turn, mark: processes.mark),
                workingDirectory: FilePath(turn.directory),
                platformOptions: options,
                input: .inputWriter,
                output: .sequence,
                error: .sequence
            ) { execution in
                processes.lead(execution.processIdentifier.value)
                await Self.converse(
                    execution,
                    processes: processes,
                    prompt: turn.prompt,
                    emit: emit,
                    errors: errors,
                    logger: logger
                )
            }
            await processes.ended(within: Self.grace, logger: logger)
            try Self.check(outcome.terminationStatus, errors: errors.withLockedValue(\.self))
        } catch let error as AgentError {
            throw error
        } catch {
            await processes.ended(within: Self.grace, logger: logger)
            logger.error("agent failed", metadata: .failure(error, code: .hostAgentUnavailable))
            throw AgentError(message: "The agent's command could not be run")
        }
    }

    private static func check(_ status: TerminationStatus, errors: [String]) throws(AgentError) {
        let reason = errors.isEmpty ? "" : ": \(errors.joined(separator: " / "))"
        switch status {
        case .exited(0): return
        case .exited(let code): throw AgentError(message: "The agent's command ended with status \(code)\(reason)")
        case .signaled(let signal):
            throw AgentError(message: "The agent's command was ended by signal \(signal)\(reason)")
        }
    }

    private func environment(of turn: AgentTurn, mark: String) -> Environment {
        .inherit.updating([
            .init(stringLiteral: AgentProcesses.variable): mark,
            "PATH": AgentProgram.searchPath,
            "PAIRTOOL_CHAT_ID": turn.chatID,
            "PAIRTOOL_PROJECT": turn.directory,
            "PAIRTOOL_ALLOWED_TOOLS": turn.allowedTools?.sorted().joined(separator: ","),
        ])
    }

    /// Writes the prompt and reads the answer at the same time: either pipe may fill up.
    private static func converse(
        _ execution: Execution<CustomWriteInput, SequenceOutput, SequenceOutput>,
        processes: AgentProcesses,
        prompt: String,
        emit: @escaping @Sendable (TurnEvent) -> Void,
        errors: NIOLockedValueBox<[String]>,
        logger: Logger
    ) async {
        // What the command has started may hold its output open: that must not hide its end.
        let end = processes.endsWithLeader(execution.processIdentifier.processDescriptor, grace: grace)
        defer { end?.cancel() }
        await withTaskGroup { group in
            group.addTask {
                // A command that does not read its input is no error.
                _ = try? await execution.standardInputWriter.write(prompt)
                try? await execution.standardInputWriter.finish()
            }
            group.addTask {
                var decoder = UTF8StreamDecoder()
                await execution.standardOutput.drain("agent's output", logger: logger) { bytes in
                    let text = decoder.decode(bytes)
                    if !text.isEmpty { emit(.text(text)) }
                }
                let rest = decoder.finish()
                if !rest.isEmpty { emit(.text(rest)) }
            }
            group.addTask {
                var log = AgentErrorLog(logger: logger)
                await execution.standardError.drain("agent's standard error", logger: logger) { log.write($0) }
                log.finish()
                errors.withLockedValue { $0 = log.lastLines }
            }
        }
    }
}
