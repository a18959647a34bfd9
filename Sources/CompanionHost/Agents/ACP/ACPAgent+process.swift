import CompanionWire
import Dispatch
import Logging
import NIOConcurrencyHelpers
import Subprocess
import SystemPackage

extension ACPAgent {
    /// How long the process may take to end after SIGTERM, before SIGKILL.
    static let grace = Duration.seconds(2)
    /// How long it may take after its input was closed, before SIGTERM: some store their sessions then.
    static let patience = Duration.seconds(1)

    /// Runs the agent's processes until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await start in starts { group.addTask { await run(start) } }
            group.cancelAll()
        }
        starter.finish()
        for await start in starts { start.connection.end(ACPEnd.shutdown) }
    }

    private func run(_ start: Start) async {
        let processes = AgentProcesses()
        // The process gets some time to end; the guard stays until that is over.
        let guardian = Task { [logger] in await AgentGuard.run(over: processes, logger: logger) }
        defer { guardian.cancel() }
        let lines = NIOLockedValueBox<[String]>([])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await begin(start.connection) }
            let reason: any Error
            do {
                let running = Task { try await spawn(start, processes: processes, lines: lines) }
                let status = try await withTaskCancellationHandler {
                    try await running.value
                } onCancel: {
                    start.connection.end(ACPEnd.shutdown)
                    // For an agent that does not even read its input.
                    let limit =
                        DispatchTime.now() + .milliseconds(Int((Self.patience + Self.patience) / .milliseconds(1)))
                    DispatchQueue.global().asyncAfter(deadline: limit) {
                        running.cancel()
                        processes.end(within: Self.grace)
                    }
                }
                reason = ACPEnd.exited(Self.text(of: status))
            } catch {
                logger.error("agent failed", metadata: .failure(error, code: .hostAgentUnavailable))
                reason = ACPEnd.notStarted
            }
            start.connection.end(Task.isCancelled ? ACPEnd.shutdown : reason)
        }
        await processes.ended(within: Self.grace, logger: logger)
        tell(of: start.connection, lines: lines.withLockedValue { $0 })
    }

    /// Reports an unexpected end of the process to the owner.
    private func tell(of connection: ACPConnection, lines: [String]) {
        switch connection.reason {
        case ACPEnd.asked?, ACPEnd.shutdown?, nil: return
        // The turn that needed the agent reports it.
        case let refusal as ACPRefusal where refusal.code == ACPRefusal.signInRequired: return
        case let reason?:
            // Unless another process is at work already.
            if processes.withLockedValue({ $0.isLast(connection) }) {
                let trouble = AgentTrouble(message: "\(describe(reason))", needsSignIn: false)
                lastTrouble.withLockedValue { $0 = trouble }
            }
            report(AgentReport(message: "\(describe(reason))", lines: lines, log: logPath))
            logger.warning("agent", metadata: .event("host", outcome: "ended", ["reason": "\(reason)"]))
        }
    }

    private static func text(of status: TerminationStatus) -> String {
        switch status {
        case .exited(0): ""
        case .exited(let code): " with status \(code)"
        case .signaled(let signal): " by signal \(signal)"
        }
    }

    private func spawn(
        _ start: Start,
        processes: AgentProcesses,
        lines: NIOLockedValueBox<[String]>
    ) async throws -> TerminationStatus {
        var options = PlatformOptions()
        // A session, and with it a process group, of its own: it can be ended as a whole and has no terminal.
        options.createSession = true
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.grace)]
        var variables = launch.environment.variables()
        variables["PATH"] = AgentProgram.searchPath
        variables[AgentProcesses.variable] = processes.mark
        var command = [path] + launch.command.dropFirst()
        if let sandbox = launch.sandbox {
            command = sandbox.command(
                command,
                project: start.directory,
                directory: start.directory,
                own: launch.ownFiles
            )
        }
        let outcome = try await Subprocess.run(
            .path(FilePath(command[0])),
            arguments: Arguments(Array(command.dropFirst())),
            environment: .custom(
                Dictionary(uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) })
            ),
            workingDirectory: FilePath(start.directory),
            platformOptions: options,
            input: .inputWriter,
            output: .sequence,
            error: .sequence
        ) { execution in
            processes.lead(execution.processIdentifier.value)
            await converse(execution, over: start.connection, processes: processes, lastLines: lines)
        }
        return outcome.terminationStatus
    }

    private func converse(
        _ execution: Execution<CustomWriteInput, SequenceOutput, SequenceOutput>,
        over connection: ACPConnection,
        processes: AgentProcesses,
        lastLines: NIOLockedValueBox<[String]>
    ) async {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        // What the agent has started may hold its output open: that must not hide its death.
        let death = processes.endsWithLeader(execution.processIdentifier.processDescriptor, grace: Self.grace)
        defer { death?.cancel() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await Self.write(connection, to: execution.standardInputWriter)
                try? await execution.standardInputWriter.finish()
                // The end of its input is the end for most agents.
                await Self.wait(for: ended, atMost: Self.patience)
                try? execution.send(signal: .terminate, toProcessGroup: true)
                processes.end(within: Self.grace)
            }
            group.addTask {
                var lines = ACPLines(limit: ACPClient.maximumLine)
                await execution.standardOutput.drain("agent's output", logger: logger) {
                    connection.receive($0, into: &lines)
                }
                connection.outputEnded()
                end.finish()
            }
            group.addTask {
                var log = AgentLogFile(path: logPath)
                await execution.standardError.drain("agent's standard error", logger: logger) { log.write($0) }
                log.close()
                lastLines.withLockedValue { $0 = log.lastLines }
            }
        }
    }

    /// Writes the agent's input, until the conversation is over. The rest then has ``patience`` to get there: a
    /// cancellation may be among it, and the agent may not read at all.
    private static func write(_ connection: ACPConnection, to writer: StandardInputWriter) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await bytes in connection.output {
                    // Fewer are written to a process that has ended, or when this task is cancelled.
                    guard let count = try? await writer.write(bytes), count == bytes.count else { break }
                    connection.wrote(count)
                }
            }
            group.addTask {
                for await _ in connection.over {}
                try? await Task.sleep(for: patience)
            }
            _ = await group.next()
            group.cancelAll()
        }
    }

    private static func wait(for end: AsyncStream<Void>, atMost limit: Duration) async {
        _ = try? await withTimeLimit(limit) { for await _ in end {} }
    }

    /// Sends `initialize`, signs in if the launch names a method, and reports the agent as ready, or ends the
    /// conversation.
    private func begin(_ connection: ACPConnection) async {
        do {
            let answer = try await connection.call(.initialize(version: clientVersion), within: connection.limits.start)
            if let method = launch.signInMethod {
                _ = try await connection.call(.authenticate(method: method), within: connection.limits.start)
            }
            connection.isReady(answer)
        } catch is CancellationError {
            connection.end(ACPEnd.shutdown)
        } catch {
            connection.end(error)
        }
    }
}
